import { describe, expect, it } from 'vitest'
import type { Taint, Toleration } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import { rejections, sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { avoidedTaints, taintToleration } from './taint-toleration.ts'

const taint = (effect: string, key = 'dedicated', value = 'db'): Taint => ({ key, value, effect })
const tainted = (name: string, ...taints: Taint[]) => sampleNode(name, { spec: { taints } })
const refused = { node: 'node(s) had untolerated taint(s) (final)' }

describe('TaintToleration', () => {
  it.each<[string, Taint[], Toleration[], object]>([
    ['a node without taints', [], [], {}],
    ['a taint that keeps pods away', [taint('NoSchedule')], [], refused],
    ['a taint that drives pods out', [taint('NoExecute')], [], refused],
    ['a taint that is only to be avoided', [taint('PreferNoSchedule')], [], {}],
    ['a taint that is tolerated', [taint('NoSchedule')], [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }], {}],
    ['another value than is tolerated', [taint('NoSchedule')], [{ key: 'dedicated', operator: 'Equal', value: 'web' }], refused],
    ['any value', [taint('NoSchedule')], [{ key: 'dedicated', operator: 'Exists' }], {}],
    ['everything', [taint('NoSchedule'), taint('NoExecute', 'x')], [{ operator: 'Exists' }], {}],
    ['one of two taints', [taint('NoSchedule'), taint('NoSchedule', 'gpu')], [{ key: 'dedicated', operator: 'Exists' }], refused],
  ])('judges %s', (_, taints, tolerations, expected) => {
    expect(rejections(taintToleration, samplePod('web', { spec: { tolerations } }), sampleWorld({ nodes: [tainted('node', ...taints)] }))).toEqual(expected)
  })

  it('hears of taints that are gone, and not of others', () => {
    const pod = new PodInfo(samplePod('web'))
    const [before, node] = [tainted('node', taint('NoSchedule')), tainted('node')]
    expect(taintToleration.helps({ kind: 'NodeUpdate', before, node }, pod, sampleWorld())).toBe(true)
    expect(taintToleration.helps({ kind: 'NodeUpdate', before: node, node: before }, pod, sampleWorld())).toBe(false)
    expect(taintToleration.helps({ kind: 'NodeAdd', node: before }, pod, sampleWorld())).toBe(false)
  })

  it('prefers nodes with fewer taints that are to be avoided', () => {
    const nodes = [tainted('none'), tainted('one', taint('PreferNoSchedule')), tainted('two', taint('PreferNoSchedule'), taint('PreferNoSchedule', 'old'))]
    expect(scores(avoidedTaints, samplePod('web'), sampleWorld({ nodes }))).toEqual({ none: 100, one: 50, two: 0 })
    const tolerations = [{ key: 'dedicated', operator: 'Exists' }]
    expect(scores(avoidedTaints, samplePod('web', { spec: { tolerations } }), sampleWorld({ nodes }))).toEqual({ none: 100, one: 100, two: 0 })
  })

  it('has no opinion where there is nothing to avoid', () => {
    expect(scores(avoidedTaints, samplePod('web'), sampleWorld({ nodes: [tainted('node', taint('NoSchedule'))] }))).toBeUndefined()
  })
})
