import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { nodeOf, podFor, withDaemonTolerations } from './daemon-pod.ts'
import { samplePod, sampleSet } from './sample.ts'

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
