import { describe, expect, it } from 'vitest'
import type { NodeStatus } from '../../api/generated/types.ts'
import type { Isolation } from '../runtime/runtime.ts'
import { type NodeShape, nodeStatus } from './node-object.ts'

const shape = { labels: {}, taints: [], capacity: {}, allocatable: {}, addresses: [], podCidr: undefined, nodeInfo: {}, port: 0 } as unknown as NodeShape
const nowMs = Date.UTC(2026, 0, 1)
const statusWith = (isolation: Isolation | undefined, old?: NodeStatus): NodeStatus =>
  nodeStatus(shape, old, { problem: undefined, pressures: [], isolation }, [], nowMs)
const isolated = ({ conditions }: NodeStatus) =>
  conditions!.filter(({ type }) => type === 'PodsIsolated').map(({ status, reason }) => `${status} ${reason}`)

describe('nodeStatus() has the condition PodsIsolated', () => {
  const before = statusWith({ kind: 'none', why: 'mount: not permitted' })

  it('False with the cause if pods are not isolated', () => {
    expect(isolated(before)).toEqual(['False SharedUser'])
    expect(before.conditions!.find(({ type }) => type === 'PodsIsolated')!.message).toContain('(mount: not permitted)')
  })

  it.each<[string, Isolation | undefined, string[]]>([
    ['users', { kind: 'user' }, ['True SeparateUsers']],
    ['namespaces', { kind: 'namespace' }, ['True SeparateNamespaces']],
    ['containers', { kind: 'container' }, ['True Containers']],
    ['what is not known yet', undefined, []],
  ])('True if pods are isolated by %s now and were not before, and not otherwise', (_, isolation, after) => {
    expect(isolated(statusWith(isolation, before))).toEqual(after)
    expect(isolated(statusWith(isolation))).toEqual([])
  })
})
