import { describe, expect, it } from 'vitest'
import { boundsOf } from './bounds.ts'
import { deployment } from './sample-deployments.ts'

type Size = number | string

describe('boundsOf() rounds', () => {
  it.each<[number, Size, Size, number, number]>([
    // replicas, surge, unavailable → surge, unavailable
    [10, 3, 2, 3, 2],
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [2, '25%', '25%', 1, 0],
    [3, '25%', '25%', 1, 0],
    [4, '25%', '25%', 1, 1],
    [5, '10%', '10%', 1, 0],
    [10, '1%', '0%', 1, 0],
    [10, '0%', '9%', 0, 1],
    [10, 0, '19%', 0, 1],
    [10, '0%', '100%', 0, 10],
    [1, '0%', '50%', 0, 1],
    [10, '100%', 0, 10, 0],
    [10, '150%', 0, 15, 0],
    [10, 20, 0, 20, 0],
    [5, 0, 7, 0, 5],
    [0, '25%', '25%', 0, 0],
    [0, 2, 2, 2, 0],
    [0, 0, '10%', 0, 0],
  ])('%s replicas, surge %s, unavailable %s: %s and %s', (replicas, maxSurge, maxUnavailable, surge, unavailable) => {
    const d = deployment({ replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } })
    expect(boundsOf(d)).toEqual({ replicas, maxSurge: surge, maxUnavailable: unavailable })
  })

  it('leaves a Recreate no room', () => {
    expect(boundsOf(deployment({ replicas: 10, strategy: { type: 'Recreate' } }))).toEqual({ replicas: 10, maxSurge: 0, maxUnavailable: 0 })
  })
})
