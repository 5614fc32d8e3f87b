import { describe, expect, it } from 'vitest'
import type { Observed } from './observe.ts'
import { burst } from '../kit/workload/index.ts'
import { plan } from './plan.ts'
import { observed, pod } from './sample.ts'

const manyPods = (count: number) => Array.from({ length: count }, (_, i) => pod(`p${i}`))

/** `CreatePod ×2`, `DeletePod a`. */
const said = (seen: Observed): string[] => {
  const { actions } = plan(seen)
  const creates = actions.filter((a) => a.kind === 'CreatePod').length
  return [...actions.flatMap((a) => (a.kind === 'CreatePod' ? [] : [`${a.kind} ${a.pod.metadata.name}`])), ...(creates ? [`CreatePod ×${creates}`] : [])]
}

describe('plan()', () => {
  it.each<[string, Parameters<typeof observed>[0], string[]]>([
    ['makes what is missing', { kept: [pod('a')] }, ['CreatePod ×2']],
    ['does nothing when there are enough', { kept: [pod('a'), pod('b'), pod('c')] }, []],
    ['adopts, and makes what is missing besides', { kept: [pod('a')], adopt: [pod('b')] }, ['AdoptPod b', 'CreatePod ×1']],
    ['adopts more than are wanted, and deletes by rank', { wanted: 1, kept: [pod('a', { ready: 9 })], adopt: [pod('b'), pod('c')] }, ['AdoptPod b', 'AdoptPod c', 'DeletePod b', 'DeletePod c']],
    ['replaces what it lets go', { wanted: 1, release: [pod('a')] }, ['ReleasePod a', 'CreatePod ×1']],
    ['deletes the first by rank', { wanted: 1, kept: [pod('a', { ready: 100 }), pod('b', { node: '' }), pod('c')] }, ['DeletePod b', 'DeletePod c']],
    ['deletes where more of the family are', { wanted: 1, kept: [pod('a', { ready: 9 }), pod('b', { node: 'n2', ready: 9 })], onNodes: new Map([['n2', 2], ['n1', 1]]) }, ['DeletePod b']],
    ['deletes all when none is wanted', { wanted: 0, kept: [pod('a'), pod('b')] }, ['DeletePod a', 'DeletePod b']],
    ['makes no more at a time than a burst', { wanted: burst + 1 }, [`CreatePod ×${burst}`]],
    ['makes no more at a time of the largest number', { wanted: 2 ** 31 - 1 }, [`CreatePod ×${burst}`]],
  ])('%s', (_, seen, expected) => {
    expect(said(observed(seen))).toEqual(expected)
  })

  it('deletes no more at a time than a burst', () => {
    expect(plan(observed({ wanted: 1, kept: manyPods(burst + 100) })).actions).toHaveLength(burst)
    expect(plan(observed({ wanted: 0, kept: manyPods(burst + 100) })).actions).toHaveLength(burst)
  })

  it.each<[string, Parameters<typeof observed>[0], number | undefined]>([
    ['when the next pod has been ready for long enough', { minReadySeconds: 10, kept: [pod('a', { ready: 3 }), pod('b', { ready: 8 }), pod('c', { ready: 10 })] }, 2000],
    ['never, if all have', { minReadySeconds: 10, kept: [pod('a', { ready: 10 })] }, undefined],
    ['never, if nothing is asked of them', { kept: [pod('a', { ready: 0 })] }, undefined],
  ])('looks again %s', (_, seen, expected) => {
    expect(plan(observed(seen)).requeueAfterMs).toBe(expected)
  })
})
