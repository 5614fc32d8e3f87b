import { describe, expect, it } from 'vitest'
import type { Node, Pod } from '../../api/generated/types.ts'
import { surplus, whyStuck } from './plan.ts'

interface PodRow {
  isGoing?: boolean
  grace?: number
  node?: string
  phase?: string
  finalizers?: string[]
}

const pod = ({ isGoing = true, grace = 30, node, phase = 'Running', finalizers }: PodRow): Pod =>
  ({
    metadata: { name: 'p', ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: grace } : {}), ...(finalizers ? { finalizers } : {}) },
    spec: node ? { nodeName: node } : {},
    status: { phase },
  }) as unknown as Pod

const node = (ready: string, taint?: string): Node =>
  ({ metadata: { name: 'n' }, spec: { taints: taint ? [{ key: taint, effect: 'NoExecute' }] : [] }, status: { conditions: [{ type: 'Ready', status: ready }] } }) as unknown as Node

const outOfService = 'node.kubernetes.io/out-of-service'

describe('whyStuck() of a pod that', () => {
  it.each([
    { name: 'stays', given: pod({ isGoing: false }), on: undefined, wanted: undefined },
    { name: 'has no node', given: pod({ grace: 0 }), on: undefined, wanted: 'terminating-unscheduled' },
    { name: 'has no node, but a finalizer', given: pod({ grace: 0, finalizers: ['x'] }), on: undefined, wanted: 'terminating-unscheduled' },
    { name: 'has no node, has failed, and waits for its finalizer', given: pod({ grace: 0, phase: 'Failed', finalizers: ['x'] }), on: undefined, wanted: undefined },
    { name: 'ends on its node', given: pod({ node: 'n' }), on: node('True'), wanted: undefined },
    { name: 'is on a node that is down', given: pod({ node: 'n' }), on: node('Unknown'), wanted: undefined },
    { name: 'is on a node that is down and out of service', given: pod({ node: 'n' }), on: node('Unknown', outOfService), wanted: 'terminating-on-out-of-service-node' },
    { name: 'is on a node that is out of service and runs', given: pod({ node: 'n' }), on: node('True', outOfService), wanted: undefined },
    { name: 'is on a node that is down with another taint', given: pod({ node: 'n' }), on: node('False', 'node.kubernetes.io/unreachable'), wanted: undefined },
    { name: 'was marked to go at once and is still there', given: pod({ node: 'n', grace: 0 }), on: node('True'), wanted: 'half-removed' },
    { name: 'was to go at once and waits for its finalizer', given: pod({ node: 'n', grace: 0, finalizers: ['x'] }), on: node('True'), wanted: undefined },
  ])('$name', ({ given, on, wanted }) => {
    expect(whyStuck(given, on)).toBe(wanted)
  })
})

describe('surplus()', () => {
  const done = (name: string, day: number, reason?: string): Pod =>
    ({ metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` }, status: { phase: 'Failed', reason } }) as unknown as Pod
  const all = [done('new', 3), done('same-b', 2), done('same-a', 2), done('evicted', 4, 'Evicted'), done('old', 1)]

  it.each([
    [5, []],
    [4, ['evicted']],
    [3, ['evicted', 'old']],
    [1, ['evicted', 'old', 'same-a', 'same-b']],
    [0, ['evicted', 'old', 'same-a', 'same-b', 'new']],
  ])('of five where %i may stay', (threshold, wanted) => {
    expect(surplus(all, threshold).map((p) => p.metadata.name)).toEqual(wanted)
  })
})
