import { describe, expect, it } from 'vitest'
import type { Taint } from '../../api/generated/types.ts'
import { type Fit, fitOf } from './fit.ts'
import { type NodeOver, sampleNode, sampleSet } from './sample.ts'

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
