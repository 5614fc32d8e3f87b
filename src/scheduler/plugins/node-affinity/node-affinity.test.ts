import { describe, expect, it } from 'vitest'
import type { NodeSelectorTerm, Pod } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import { isRejection } from '../plugin.ts'
import { rejections, sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { nodeAffinity, preferredNodes } from './node-affinity.ts'

const ssd = sampleNode('ssd', { labels: { disk: 'ssd', cores: '16' } })
const hdd = sampleNode('hdd', { labels: { disk: 'hdd', cores: '4' } })
const world = () => sampleWorld({ nodes: [ssd, hdd] })
const refused = "node(s) didn't match Pod's node affinity/selector (final)"

const requiring = (...nodeSelectorTerms: NodeSelectorTerm[]): Partial<Pod['spec']> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})
const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({ matchExpressions: [{ key, operator, values }] })
const named = (...values: string[]): NodeSelectorTerm => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] })

describe('NodeAffinity', () => {
  it.each<[string, Partial<Pod['spec']>, object | string]>([
    ['nothing', {}, {}],
    ['a selector', { nodeSelector: { disk: 'ssd' } }, { hdd: refused }],
    ['one of two terms', requiring(label('disk', 'In', 'ssd'), label('cores', 'Lt', '8')), {}],
    ['a number', requiring(label('cores', 'Gt', '8')), { hdd: refused }],
    ['a selector and affinity', { nodeSelector: { disk: 'hdd' }, ...requiring(label('cores', 'Gt', '8')) }, { ssd: refused, hdd: refused }],
    ['a name', requiring(named('hdd')), { ssd: refused }],
    ['names that exclude each other', requiring({ matchFields: [...named('hdd').matchFields!, ...named('ssd').matchFields!] }), 'pod affinity terms conflict (final)'],
  ])('keeps pods to nodes with what they require: %s', (_, spec, expected) => {
    expect(rejections(nodeAffinity, samplePod('web', { spec }), world())).toEqual(expected)
  })

  it('says that only the named nodes need be looked at', () => {
    const filter = nodeAffinity.filter(new PodInfo(samplePod('web', { spec: requiring(named('hdd'), named('gone')) })), world())
    expect(!isRejection(filter) && filter?.onlyNodes).toEqual(new Set(['hdd', 'gone']))
  })

  it('hears of labels that make a node fit', () => {
    const pod = new PodInfo(samplePod('web', { spec: { nodeSelector: { disk: 'ssd' } } }))
    expect(nodeAffinity.helps({ kind: 'NodeUpdate', before: hdd, node: ssd }, pod, world())).toBe(true)
    expect(nodeAffinity.helps({ kind: 'NodeUpdate', before: ssd, node: ssd }, pod, world())).toBe(false)
    expect(nodeAffinity.helps({ kind: 'NodeAdd', node: hdd }, pod, world())).toBe(false)
  })

  it('prefers nodes by the weights of what the pod would like', () => {
    const preferred = [{ weight: 20, preference: label('disk', 'In', 'ssd') }, { weight: 5, preference: label('cores', 'Exists') }]
    const spec = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }
    expect(scores(preferredNodes, samplePod('web', { spec }), world())).toEqual({ ssd: 100, hdd: 20 })
    expect(scores(preferredNodes, samplePod('web'), world())).toBeUndefined()
  })
})
