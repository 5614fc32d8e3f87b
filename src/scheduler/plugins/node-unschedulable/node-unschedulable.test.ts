import { describe, expect, it } from 'vitest'
import { PodInfo } from '../../cluster/pod-info.ts'
import { rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'

const cordoned = sampleNode('cordoned', { spec: { unschedulable: true } })
const open = sampleNode('open')
const tolerant = { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }

describe('NodeUnschedulable', () => {
  it.each([
    ['keeps pods away from cordoned nodes', {}, { cordoned: 'node(s) were unschedulable (final)' }],
    ['lets pods there that tolerate it', tolerant, {}],
  ])('%s', (_, spec, expected) => {
    expect(rejections(nodeUnschedulable, samplePod('web', { spec }), sampleWorld({ nodes: [cordoned, open] }))).toEqual(expected)
  })

  it.each([
    ['a node that is uncordoned', { kind: 'NodeUpdate', before: cordoned, node: { ...open, metadata: cordoned.metadata } }, true],
    ['a node that is cordoned', { kind: 'NodeUpdate', before: open, node: cordoned }, false],
    ['a node that was open before', { kind: 'NodeUpdate', before: open, node: open }, false],
    ['a new node', { kind: 'NodeAdd', node: open }, true],
    ['a new node that is cordoned', { kind: 'NodeAdd', node: cordoned }, false],
  ] as const)('thinks that %s helps: %o → %s', (_, event, expected) => {
    expect(nodeUnschedulable.helps(event, new PodInfo(samplePod('web')), sampleWorld())).toBe(expected)
  })
})
