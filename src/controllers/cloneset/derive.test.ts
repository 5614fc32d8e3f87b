import { describe, expect, it } from 'vitest'
import { boundsOf } from './derive.ts'
import { sampleSet } from './sample.ts'

describe('boundsOf() the partition', () => {
  it.each<[string, number | string | undefined, number, number]>([
    ['is none where nobody asks for one', undefined, 10, 0],
    ['is a number of pods', 3, 10, 3],
    ['is never more than there are', 30, 10, 10],
    ['is a share, rounded up', '25%', 10, 3],
    ['of more than nothing keeps a pod', '1%', 10, 1],
    ['of less than all updates a pod', '99%', 10, 9],
    ['of all keeps all', '100%', 10, 10],
    ['of nothing keeps none', '0%', 10, 0],
    ['keeps the only pod there is', '50%', 1, 1],
    ['of two is one', '50%', 2, 1],
    ['of none is none', '50%', 0, 0],
  ])('%s', (_, partition, replicas, expected) => {
    expect(boundsOf(sampleSet({ replicas, update: { partition } })).partition).toBe(expected)
  })
})

describe('boundsOf() what may be unavailable and too many', () => {
  it.each<[string, object, number, number]>([
    ['a fifth, rounded up', { maxUnavailable: undefined }, 3, 0],
    ['a share is rounded up', { maxUnavailable: '15%' }, 2, 0],
    ['but down where others come first', { maxUnavailable: '15%', maxSurge: 1 }, 1, 1],
    ['a surge is rounded up', { maxUnavailable: 0, maxSurge: '15%' }, 0, 2],
    ['the same while it is paused', { maxUnavailable: '15%', maxSurge: 1, paused: true }, 1, 1],
  ])('%s', (_, update, maxUnavailable, maxSurge) => {
    expect(boundsOf(sampleSet({ replicas: 11, update }))).toMatchObject({ maxUnavailable, maxSurge })
  })

  it.each<[string, object, number]>([
    ['any number is made where nobody says how many', {}, Number.POSITIVE_INFINITY],
    ['a number', { maxUnavailable: 3 }, 3],
    ['a share, rounded up', { maxUnavailable: '15%' }, 2],
  ])('of those that are made: %s', (_, scale, expected) => {
    expect(boundsOf(sampleSet({ replicas: 11, scale })).maxUnavailableOfScale).toBe(expected)
  })
})
