import { describe, expect, it } from 'vitest'
import type { Pod, Taint } from '../../api/generated/types.ts'
import { type Fit, fitOf, nodeOf, podFor, withDaemonTolerations } from './daemon-pod.ts'
import { type NodeOver, sampleNode, samplePod, sampleSet } from './sample.ts'

describe('podFor()', () => {
  it('is for one node, by its name, and says what it is of', () => {
    const metadata = { annotations: { 'deprecated.daemonset.template.generation': '3' } }
    const pod = podFor(sampleSet({ metadata, podSpec: { nodeSelector: { disk: 'ssd' } } }), 'n1', 'abc')
    expect(pod.metadata).toEqual({ generateName: 'd-', labels: { app: 'd', 'pod-template-generation': '3', 'controller-revision-hash': 'abc' } })
    expect(pod.spec).toMatchObject({
      nodeSelector: { disk: 'ssd' },
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] } } },
    })
    expect(pod.spec).not.toHaveProperty('nodeName')
  })

  it('replaces the nodes that the template requires, and keeps what else its affinity says', () => {
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference: {} }]
    const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }] }
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution, requiredDuringSchedulingIgnoredDuringExecution }
    const podAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] }
    const { affinity } = podFor(sampleSet({ podSpec: { affinity: { nodeAffinity, podAffinity } } }), 'n1', 'abc').spec as Pod['spec']
    expect(affinity).toMatchObject({ podAffinity, nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } })
    expect(affinity!.nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms).toHaveLength(1)
    expect(affinity!.nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms[0]).not.toHaveProperty('matchExpressions')
  })
})

describe('withDaemonTolerations()', () => {
  const names = (...args: Parameters<typeof withDaemonTolerations>) => withDaemonTolerations(...args).map(({ key, effect }) => `${key?.replace('node.kubernetes.io/', '')}:${effect}`)
  const usual = ['not-ready:NoExecute', 'unreachable:NoExecute', 'disk-pressure:NoSchedule', 'memory-pressure:NoSchedule', 'pid-pressure:NoSchedule', 'unschedulable:NoSchedule']
  it('adds those of every daemon behind its own', () => {
    expect(names({ tolerations: [{ key: 'k', effect: 'NoSchedule' }] })).toEqual(['k:NoSchedule', ...usual])
    expect(names({ hostNetwork: true })).toEqual([...usual, 'network-unavailable:NoSchedule'])
  })
  it('one that is there for a time is there for good', () => {
    const [first, ...rest] = withDaemonTolerations({ tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }] })
    expect(first).toEqual({ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' })
    expect(rest).toHaveLength(usual.length - 1)
  })
})

describe('nodeOf()', () => {
  const waiting = (nodeSelectorTerms: object[]) =>
    ({ metadata: {}, spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } } }) as unknown as Pod
  it.each<[string, Pod, string | undefined]>([
    ['the node it is on', samplePod('n1', 'a'), 'n1'],
    ['the node it was made for', samplePod('n1', 'a', 'waiting'), 'n1'],
    ['none that it names', { spec: {} } as Pod, undefined],
    ['several names', waiting([{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1', 'n2'] }] }]), undefined],
    ['not a certain name', waiting([{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }]), undefined],
  ])('%s', (_, pod, expected) => {
    expect(nodeOf(pod)).toBe(expected)
  })
})

const taint = (key: string, effect: string): Taint => ({ key: key.includes('/') || key === 'k' ? key : `node.kubernetes.io/${key}`, effect })
const affinity = (...values: string[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values }] }] } },
})

describe('fitOf()', () => {
  it.each<[string, object, NodeOver, Fit]>([
    ['a plain node', {}, {}, 'run'],
    ['the node that the template names', { nodeName: 'n1' }, {}, 'run'],
    ['another than the template names', { nodeName: 'n2' }, {}, 'leave'],
    ['a label that is asked for', { nodeSelector: { disk: 'ssd' } }, { labels: { disk: 'ssd' } }, 'run'],
    ['a label that is missing', { nodeSelector: { disk: 'ssd' } }, {}, 'leave'],
    ['an affinity to its name', { affinity: affinity('n1') }, {}, 'run'],
    ['an affinity to another name', { affinity: affinity('n2') }, {}, 'leave'],
    ['a taint that keeps pods out', {}, { taints: [taint('k', 'NoSchedule')] }, 'stay'],
    ['a taint that drives pods out', {}, { taints: [taint('k', 'NoExecute')] }, 'leave'],
    ['both', {}, { taints: [taint('k', 'NoSchedule'), taint('k', 'NoExecute')] }, 'leave'],
    ['a taint that only warns', {}, { taints: [taint('k', 'PreferNoSchedule')] }, 'run'],
    ['a taint that is tolerated', { tolerations: [{ key: 'k', operator: 'Exists' }] }, { taints: [taint('k', 'NoExecute')] }, 'run'],
    ['a taint and a missing label', { nodeSelector: { disk: 'ssd' } }, { taints: [taint('k', 'NoSchedule')] }, 'leave'],
    ['not ready', {}, { taints: [taint('not-ready', 'NoExecute')] }, 'run'],
    ['not ready, which keeps new pods out', {}, { taints: [taint('not-ready', 'NoSchedule')] }, 'stay'],
    ['unreachable', {}, { taints: [taint('unreachable', 'NoExecute')] }, 'run'],
    ['closed by an administrator', {}, { taints: [taint('unschedulable', 'NoSchedule')] }, 'run'],
    ['short of disk, memory and pids', {}, { taints: ['disk', 'memory', 'pid'].map((what) => taint(`${what}-pressure`, 'NoSchedule')) }, 'run'],
    ['without a network', {}, { taints: [taint('network-unavailable', 'NoSchedule')] }, 'stay'],
    ['without a network, which pods in that of the node do not need', { hostNetwork: true }, { taints: [taint('network-unavailable', 'NoSchedule')] }, 'run'],
  ])('%s', (_, podSpec, node, expected) => {
    expect(fitOf(sampleSet({ podSpec }))(sampleNode('n1', node))).toBe(expected)
  })
})
