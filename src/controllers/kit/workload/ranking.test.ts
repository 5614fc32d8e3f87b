import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import { byDeletionRank, podsByNode, rankChangesAtMs, rankOf } from './ranking.ts'

const nowMs = Date.parse('2026-01-02T00:00:00Z')
const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000', '')

interface Traits {
  uid?: string
  node?: string
  phase?: string
  /** For how many seconds; null if it does not say. */
  ready?: number | null
  cost?: string
  restarts?: number
  sidecarRestarts?: number
  /** Seconds; null if it does not say. */
  age?: number | null
  isDeleted?: boolean
}

function pod(name: string, { uid = name, node = 'n1', phase = 'Running', ready, cost, restarts = 0, sidecarRestarts = 0, age = 1000, isDeleted }: Traits): Pod {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ready === null ? null : ago(ready) }]
  return {
    metadata: {
      name,
      uid,
      ...(age === null ? {} : { creationTimestamp: ago(age) }),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      ...(isDeleted ? { deletionTimestamp: ago(0) } : {}),
    },
    spec: { nodeName: node || undefined, containers: [], initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'setup' }] },
    status: {
      phase,
      conditions,
      containerStatuses: [{ name: 'c', restartCount: restarts }],
      initContainerStatuses: [{ name: 'side', restartCount: sidecarRestarts }, { name: 'setup', restartCount: 99 }],
    },
  } as unknown as Pod
}

describe('byDeletionRank()', () => {
  it.each<[string, first: Traits, second: Traits, Record<string, number>?]>([
    ['one without a node before one that has one', { node: '', phase: 'Running', ready: 100 }, { phase: 'Pending' }],
    ['pending before unknown', { phase: 'Pending' }, { phase: 'Unknown' }],
    ['unknown before running', { phase: 'Unknown', ready: 1000 }, { phase: 'Running' }],
    ['not ready before ready', { age: 9000, cost: '5' }, { ready: 1, age: 10 }],
    ['what costs less', { ready: 9000, cost: '-7' }, { ready: 10 }],
    ['what costs nothing before what costs something', { ready: 9000 }, { ready: 10, cost: '1' }],
    ['a cost that is no number is none', { ready: 9000, cost: '+9' }, { ready: 10, cost: '1' }],
    ['where more of the family are', { node: 'full', ready: 9000 }, { node: 'empty', ready: 10 }, { full: 3, empty: 1 }],
    ['cost before company', { node: 'empty', ready: 100, cost: '1' }, { node: 'full', ready: 10, cost: '2' }, { full: 3, empty: 1 }],
    ['ready for less long', { ready: 10, age: 9000 }, { ready: 900, age: 1000 }],
    ['ready since nobody knows when', { ready: null }, { ready: 10 }],
    ['ready about equally long: by uid', { ready: 1050, uid: 'a' }, { ready: 1000, uid: 'b' }],
    ['restarted more often', { restarts: 3, age: 9000 }, { restarts: 1, age: 10 }],
    ['ready equally long, restarted more often', { ready: 50, restarts: 3 }, { ready: 50, restarts: 1 }],
    ['its sidecar restarted more often; other init containers do not count', { sidecarRestarts: 2, age: 9000 }, { sidecarRestarts: 1, age: 10 }],
    ['containers count before sidecars', { restarts: 1 }, { sidecarRestarts: 2 }],
    ['younger', { age: 10 }, { age: 900 }],
    ['of unknown age', { age: null }, { age: 10 }],
    ['about equally old: by uid', { age: 1050, uid: 'a' }, { age: 1000, uid: 'b' }],
    ['from the future, by a clock that is ahead', { age: -5 }, { age: 10 }],
    ['equal in all: by uid', { uid: 'a' }, { uid: 'b' }],
  ])('%s', (_, first, second, onNodes = {}) => {
    const pods = [pod('second', second), pod('first', first)]
    const counts = new Map(Object.entries(onNodes))
    expect(byDeletionRank(pods, counts, nowMs).map((p) => p.metadata.name)).toEqual(['first', 'second'])
    expect(byDeletionRank(pods.toReversed(), counts, nowMs).map((p) => p.metadata.name)).toEqual(['first', 'second'])
  })
})

it('podsByNode() counts pods that are to stay', () => {
  const pods = [pod('a', {}), pod('b', {}), pod('c', { node: 'n2' }), pod('d', { node: '' }), pod('e', { phase: 'Failed' }), pod('f', { isDeleted: true })]
  expect([...podsByNode(pods)]).toEqual([['n1', 2], ['n2', 1], ['', 1]])
})

it.each<[string, Traits]>([
  ['young', { ready: 1, age: 2 }],
  ['from the future', { ready: -3, age: -3 }],
  ['old', { ready: 86_400, age: 4_000_000 }],
  ['not ready', { age: 100 }],
  ['of unknown age', { ready: 7, age: null }],
])('rankChangesAtMs() tells how long the rank of a pod holds that is %s', (_, traits) => {
  const ranked = pod('p', traits)
  let atMs = nowMs
  for (let i = 0; i < 20; i++) {
    const nextMs = rankChangesAtMs(rankOf(ranked, 0, atMs))!
    expect(nextMs).toBeGreaterThan(atMs)
    expect(rankOf(ranked, 0, nextMs - 1)).toEqual(rankOf(ranked, 0, atMs))
    expect(rankOf(ranked, 0, nextMs)).not.toEqual(rankOf(ranked, 0, atMs))
    atMs = nextMs
  }
})

it('rankChangesAtMs() is undefined for a pod without any time', () => {
  expect(rankChangesAtMs(rankOf(pod('p', { age: null }), 0, nowMs))).toBeUndefined()
})
