import { describe, expect, it } from 'vitest'
import type { Node, Pod, Taint } from '../../api/generated/types.ts'
import type { Draft } from '../../client/index.ts'
import type { Pressure } from '../eviction/signals.ts'
import { samplePod } from '../sample-pod.ts'
import { refusalOf } from './admit.ts'
import { Room } from './room.ts'

const requests = (cpu: string, more: Record<string, string> = {}) => ({ containers: [{ name: 'app', image: 'app', resources: { requests: { cpu, ...more } } }] })
const port = (hostPort: number, hostIP?: string) => ({ containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80, hostPort, ...(hostIP ? { hostIP } : {}) }] }] })
const required = (key: string) => ({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] } } })

const node = (labels: Record<string, string> = {}, taints: Taint[] = []): Node =>
  ({ metadata: { name: 'n1', labels }, spec: { taints }, status: { nodeInfo: { operatingSystem: 'linux' } } }) as unknown as Node

/** A node with four cores, three of which a pod with port 8080 has. */
function room(): Room {
  const room = new Room({ cpu: '4', memory: '1Gi', pods: '2', 'example.com/gpu': '1' })
  room.take(samplePod({ ...requests('3'), ...port(8080) }, { uid: 'first' }))
  room.take(samplePod({ containers: [{ name: 'app', image: 'app', resources: { requests: { cpu: '3' } }, ports: [{ containerPort: 80, hostPort: 8080 }] }] }, { uid: 'second' }))
  room.leave('first')
  return room
}

const refusal = (spec: Partial<Draft<Pod['spec']>>, { labels = {}, taints = [], pressures = [], status = {} }: { labels?: Record<string, string>; taints?: Taint[]; pressures?: Pressure[]; status?: Pod['status'] } = {}) => {
  const refused = refusalOf({ ...samplePod(spec), status }, { node: node(labels, taints), room: room(), pressures })
  return refused && `${refused.reason}: ${refused.message}`
}

describe('refusalOf()', () => {
  it.each<[string, Partial<Draft<Pod['spec']>>, string | undefined]>([
    ['that asks for nothing', {}, undefined],
    ['that asks for what is left', requests('1', { memory: '1Gi' }), undefined],
    ['that asks for more cores', requests('1100m'), "OutOfcpu: Node didn't have enough resource: cpu, requested: 1100, used: 3000, capacity: 4000"],
    ['that asks for more memory', requests('1', { memory: '2Gi' }), "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824"],
    ['that asks for a device too many', requests('1', { 'example.com/gpu': '2' }), "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 2, used: 0, capacity: 1"],
    ['that asks for something that nodes do not count', requests('1', { 'example.com/licence': '2' }), undefined],
    ['that wants a port that is taken', port(8080), "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"],
    ['that wants another port', port(8081), undefined],
    ['that wants to be elsewhere', { nodeSelector: { disk: 'ssd' } }, "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"],
    ['that has to be elsewhere', { affinity: required('gpu') }, "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"],
    ['of another system', { os: { name: 'windows' } }, "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS"],
  ])('judges a pod %s', (_what, spec, expected) => {
    expect(refusal(spec)).toBe(expected)
  })

  it('counts pods', () => {
    const full = new Room({ cpu: '4', pods: '1' })
    full.take(samplePod({}, { uid: 'first' }))
    full.take(samplePod({}, { uid: 'first' }))
    expect(refusalOf(samplePod(), { node: node(), room: full, pressures: [] })?.message).toBe("Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1")
    full.leave('first')
    expect(refusalOf(samplePod(), { node: node(), room: full, pressures: [] })).toBeUndefined()
  })

  const noExecute: Taint = { key: 'broken', effect: 'NoExecute' }
  it.each<[string, Partial<Draft<Pod['spec']>>, Taint, boolean]>([
    ['a taint', {}, noExecute, false],
    ['a taint that it puts up with', { tolerations: [{ operator: 'Exists' }] }, noExecute, true],
    ['a taint that only keeps the scheduler away', {}, { key: 'broken', effect: 'NoSchedule' }, true],
  ])('judges a pod by %s', (_what, spec, taint, isTaken) => {
    expect(refusal(spec, { taints: [taint] })).toBe(isTaken ? undefined : "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate")
  })

  it('asks no pod for labels that was here before', () => {
    expect(refusal({ nodeSelector: { disk: 'ssd' } }, { taints: [noExecute], status: { startTime: '2026-01-01T00:00:00Z' } })).toBeUndefined()
  })

  const tolerant = { tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }] }
  it.each<[string, Partial<Draft<Pod['spec']>>, Pressure[], string | undefined]>([
    ['one that asks for nothing, under memory pressure', {}, ['MemoryPressure'], 'Evicted: The node had condition: [MemoryPressure]. '],
    ['one that puts up with it', tolerant, ['MemoryPressure'], undefined],
    ['one that asks for memory', requests('1', { memory: '1Mi' }), ['MemoryPressure'], undefined],
    ['one that asks for memory, where there is no disk either', requests('1', { memory: '1Mi' }), ['DiskPressure', 'MemoryPressure'], 'Evicted: The node had condition: [DiskPressure MemoryPressure]. '],
    ['one that is needed', { priority: 2_000_000_000 }, ['DiskPressure'], undefined],
  ])('judges by what the node is under: %s', (_what, spec, pressures, expected) => {
    expect(refusal(spec, { pressures })).toBe(expected)
  })
})
