import { describe, expect, it } from 'vitest'
import type { Pod, Taint } from '../../api/generated/types.ts'
import { burst, plan } from './plan.ts'
import {
  type PodState, type SeenOver, inWords, sampleNode, sampleNodes, samplePod, sampleRevision, sampleSeen, sampleSet,
} from './sample.ts'

const actionsOf = (over: SeenOver) => plan(sampleSeen(over)).actions.map(inWords)
/** One pod a node, from n1 on. */
const podsOf = (hash: string, ...states: PodState[]): Pod[] => states.map((state, i) => samplePod(`n${i + 1}`, hash, state))
const taint = (effect: string): Taint => ({ key: 'k', effect })

describe('every node has its pod', () => {
  it.each<[string, SeenOver, string[]]>([
    ['none is there', {}, ['create n1@a', 'create n2@a', 'create n3@a']],
    ['one is missing', { pods: podsOf('a', 'ready', 'ready') }, ['create n3@a']],
    ['all are there', { pods: podsOf('a', 'ready', 'pending', 'waiting') }, []],
    ['one is going: its successor waits until it is gone', { pods: podsOf('a', 'ready', 'going', 'ready') }, []],
    ['one that has ended is going: nobody waits for its finalizers', { pods: [...podsOf('a', 'ready', 'ready'), samplePod('n3', 'a', 'failed', { metadata: { deletionTimestamp: 'x' } })] }, ['create n3@a']],
    ['one has failed', { pods: podsOf('a', 'ready', 'failed', 'ready') }, ['delete n2-a failed']],
    ['one has ended well', { pods: podsOf('a', 'ready', 'succeeded', 'ready') }, ['delete n2-a succeeded']],
    ['no node is there', { nodes: [] }, []],
  ])('%s', (_, over, expected) => {
    expect(actionsOf(over)).toEqual(expected)
  })

  it('of several on a node the oldest stays', () => {
    const young = samplePod('n1', 'a', 'ready', { metadata: { name: 'young', creationTimestamp: '2026-01-01T00:30:00Z' } })
    expect(actionsOf({ nodes: sampleNodes(1), pods: [young, samplePod('n1', 'a')] })).toEqual(['delete young'])
  })

  it('one that is on the node stays rather than an older one that waits for it', () => {
    const late = samplePod('n1', 'a', 'ready', { metadata: { name: 'late', creationTimestamp: '2026-01-01T00:30:00Z' } })
    expect(actionsOf({ nodes: sampleNodes(1), pods: [samplePod('n1', 'a', 'waiting'), late] })).toEqual(['delete n1-a'])
  })

  it('of two of the same age the one with the lesser name', () => {
    const twin = samplePod('n1', 'a', 'ready', { metadata: { name: 'b-twin' } })
    expect(actionsOf({ nodes: sampleNodes(1), pods: [samplePod('n1', 'a'), twin] })).toEqual(['delete n1-a'])
  })

  it('makes no more at a time than the burst, and deletes no more', () => {
    const nodes = sampleNodes(600)
    expect(actionsOf({ nodes })).toHaveLength(burst)
    expect(actionsOf({ nodes, pods: nodes.map((n) => samplePod(n.metadata.name!, 'a', 'failed')) })).toHaveLength(burst)
  })

  it('a set that is being updated does not touch old pods while a node lacks its own', () => {
    expect(actionsOf({ set: sampleSet({ image: 'b', maxUnavailable: 3 }), pods: podsOf('a', 'ready', 'ready') })).toEqual(['create n3@b'])
  })
})

describe('nodes that are not wanted', () => {
  const nodes = [sampleNode('n1'), sampleNode('n2', { taints: [taint('NoExecute')] }), sampleNode('n3', { taints: [taint('NoSchedule')] })]
  it.each<[string, SeenOver, string[]]>([
    ['get no pod', { nodes }, ['create n1@a']],
    ['lose it with NoExecute, and may keep it with NoSchedule', { nodes, pods: podsOf('a', 'ready', 'ready', 'ready') }, ['delete n2-a']],
    ['lose it once', { nodes, pods: podsOf('a', 'ready', 'going', 'ready') }, []],
    ['lose one that has failed, and get no other', { nodes, pods: podsOf('a', 'ready', 'going', 'failed') }, ['delete n3-a failed']],
    ['lose it with a label', { set: sampleSet({ podSpec: { nodeSelector: { disk: 'ssd' } } }), nodes: [sampleNode('n1', { labels: { disk: 'ssd' } }), sampleNode('n2')], pods: podsOf('a', 'ready', 'ready') }, ['delete n2-a']],
    ['that are gone: what waits for them goes, what was on them is left to others', { nodes: [sampleNode('n1')], pods: podsOf('a', 'ready', 'waiting', 'ready') }, ['delete n2-a']],
  ])('%s', (_, over, expected) => {
    expect(actionsOf(over)).toEqual(expected)
  })
})

describe('failed pods', () => {
  const pods = podsOf('a', 'ready', 'failed', 'failed')
  const failed = (agoMs: number, delayMs: number) => ({ generation: 1, nodes: new Map([['n2', { sinceMs: sampleSeen().nowMs - agoMs, delayMs }]]) })
  it('on a node where others failed before wait, and others do not', () => {
    const step = plan(sampleSeen({ pods, failures: failed(1000, 4000), hasConditions: false }))
    expect(step.actions.map(inWords)).toEqual(['delete n3-a failed'])
    expect(step.requeueAfterMs).toBe(3000)
  })
  it('go when the wait is over', () => {
    expect(actionsOf({ pods, failures: failed(4000, 4000) })).toEqual(['delete n2-a failed', 'delete n3-a failed'])
  })
  it('of an old revision are replaced without a wait', () => {
    const set = sampleSet({ image: 'b' })
    expect(actionsOf({ set, pods: podsOf('a', 'ready', 'failed', 'ready'), failures: failed(1000, 4000) })).toEqual(['delete n2-a'])
  })
})

describe('updating with maxUnavailable', () => {
  const update = (maxUnavailable: number | string, ...pods: Pod[]) => {
    const { actions, wait } = plan(sampleSeen({ set: sampleSet({ image: 'b', maxUnavailable }), nodes: sampleNodes(4), pods }))
    return [...actions.map(inWords), ...(wait ? [`wait: ${wait}`] : [])]
  }
  const all = podsOf('a', 'ready', 'ready', 'ready', 'ready')
  const [, second, third, fourth] = all as [Pod, Pod, Pod, Pod]
  it.each<[string, string[], string[]]>([
    ['1', update(1, ...all), ['delete n1-a']],
    ['2', update(2, ...all), ['delete n1-a', 'delete n2-a']],
    ['50%', update('50%', ...all), ['delete n1-a', 'delete n2-a']],
    ['10%, rounded up', update('10%', ...all), ['delete n1-a']],
    ['30%, rounded up', update('30%', ...all), ['delete n1-a', 'delete n2-a']],
    ['100%', update('100%', ...all), ['delete n1-a', 'delete n2-a', 'delete n3-a', 'delete n4-a']],
    ['0, which is taken for 1 where nothing may surge', update(0, ...all), ['delete n1-a']],
    ['an old pod that is not ready goes first', update(1, all[0]!, second, samplePod('n3', 'a', 'unready'), fourth), ['delete n3-a']],
    ['old pods that are not ready go beyond it, and use it up', update(1, samplePod('n1', 'a', 'unready'), second, samplePod('n3', 'a', 'pending'), fourth), ['delete n1-a', 'delete n3-a']],
    ['one is going', update(1, samplePod('n1', 'a', 'going'), second, third, fourth), ['wait: 1 of 1 pods that may be unavailable are']],
    ['one is going, two may', update(2, samplePod('n1', 'a', 'going'), second, third, fourth), ['delete n2-a']],
    ['a new one is not ready', update(1, samplePod('n1', 'b', 'unready'), second, third, fourth), ['wait: 1 of 1 pods that may be unavailable are']],
    ['a new one is ready', update(1, samplePod('n1', 'b'), second, third, fourth), ['delete n2-a']],
    ['all are new', update(1, ...podsOf('b', 'ready', 'ready', 'ready', 'ready')), []],
  ])('%s', (_, actions, expected) => {
    expect(actions).toEqual(expected)
  })

  it('counts nodes without a pod that may stay where they are', () => {
    const nodes = [...sampleNodes(2), sampleNode('n3', { taints: [taint('NoSchedule')] })]
    expect(actionsOf({ set: sampleSet({ image: 'b' }), nodes, pods: podsOf('a', 'ready', 'ready', 'unready') })).toEqual(['delete n3-a'])
  })

  it('minReadySeconds: a young pod does not count, and is looked at again when it does', () => {
    const set = sampleSet({ image: 'b', spec: { minReadySeconds: 20 } })
    const step = plan(sampleSeen({ set, nodes: sampleNodes(2), pods: [samplePod('n1', 'b', 'young'), samplePod('n2', 'a')], hasConditions: false }))
    expect(step).toMatchObject({ actions: [], requeueAfterMs: 15_000 })
    const done = sampleSet({ image: 'b', spec: { minReadySeconds: 5 } })
    expect(actionsOf({ set: done, nodes: sampleNodes(2), pods: [samplePod('n1', 'b', 'young'), samplePod('n2', 'a')] })).toEqual(['delete n2-a'])
  })

  it('OnDelete leaves old pods alone, and makes new ones where there is none', () => {
    const set = sampleSet({ image: 'b', spec: { updateStrategy: { type: 'OnDelete' } } })
    expect(actionsOf({ set, pods: podsOf('a', 'ready', 'unready', 'ready') })).toEqual([])
    expect(actionsOf({ set, pods: podsOf('a', 'ready', 'unready') })).toEqual(['create n3@b'])
  })
})

describe('updating with maxSurge', () => {
  const surging = (maxSurge: number | string, over: object = {}) => sampleSet({ image: 'b', maxUnavailable: 0, maxSurge, ...over })
  const update = (maxSurge: number | string, ...pods: Pod[]) => {
    const { actions, wait } = plan(sampleSeen({ set: surging(maxSurge), nodes: sampleNodes(4), pods }))
    return [...actions.map(inWords), ...(wait ? [`wait: ${wait}`] : [])]
  }
  const all = podsOf('a', 'ready', 'ready', 'ready', 'ready')
  it.each<[string, string[], string[]]>([
    ['1', update(1, ...all), ['create n1@b']],
    ['2', update(2, ...all), ['create n1@b', 'create n2@b']],
    ['30%, rounded up', update('30%', ...all), ['create n1@b', 'create n2@b']],
    ['an old pod that is not available gets its successor at once, beyond it', update(1, ...podsOf('a', 'ready', 'unready', 'unready', 'ready')), ['create n2@b', 'create n3@b', 'create n1@b']],
    ['a new one is not available yet', update(1, ...all, samplePod('n1', 'b', 'pending')), ['wait: 1 of 1 new pods that may be made beside old ones are not available']],
    ['a new one is not available yet, two may surge', update(2, ...all, samplePod('n1', 'b', 'pending')), ['create n2@b']],
    ['a new one is available: the old one goes', update(1, ...all, samplePod('n1', 'b')), ['delete n1-a']],
    ['an old one is going: the next may come', update(1, samplePod('n1', 'a', 'going'), ...all.slice(1), samplePod('n1', 'b')), ['create n2@b']],
    ['an old one beside a new one is not ready any more', update(1, samplePod('n1', 'a', 'unready'), ...all.slice(1), samplePod('n1', 'b', 'pending')), ['delete n1-a']],
    ['somebody deletes an old one: its successor does not wait', update(1, samplePod('n1', 'a', 'going'), ...all.slice(1)), ['create n1@b']],
    ['the only one has failed', update(1, samplePod('n1', 'a', 'failed'), ...all.slice(1)), ['delete n1-a failed', 'create n1@b']],
    ['all are new', update(1, ...podsOf('b', 'ready', 'ready', 'ready', 'ready')), []],
  ])('%s', (_, actions, expected) => {
    expect(actions).toEqual(expected)
  })

  it('of several old and several new ones on a node, one each stays', () => {
    const [old, new1, new2] = [samplePod('n1', 'a'), samplePod('n1', 'b', 'pending'), samplePod('n1', 'b', 'pending', { metadata: { name: 'z' } })]
    expect(actionsOf({ set: surging(1), nodes: sampleNodes(1), pods: [old, samplePod('n1', 'a', 'ready', { metadata: { name: 'y' } }), new1, new2] })).toEqual(['delete z', 'delete y'])
  })

  it('an old pod on a node that is not wanted goes when it is not available, or when there are enough without it', () => {
    const nodes = [...sampleNodes(1), sampleNode('n2', { taints: [taint('NoSchedule')] })]
    const set = surging(1)
    expect(actionsOf({ set, nodes, pods: [samplePod('n1', 'b'), samplePod('n2', 'a', 'unready')] })).toEqual(['delete n2-a'])
    expect(actionsOf({ set, nodes, pods: [samplePod('n1', 'b'), samplePod('n2', 'a')] })).toEqual(['delete n2-a'])
    expect(actionsOf({ set, nodes, pods: [samplePod('n1', 'b', 'pending'), samplePod('n2', 'a')] })).toEqual([])
  })

  it('minReadySeconds: the old one stays until the new one is old enough', () => {
    const pods = [samplePod('n1', 'a'), samplePod('n1', 'b', 'young')]
    expect(actionsOf({ set: surging(1, { spec: { ...surging(1).spec, minReadySeconds: 20 } }), nodes: sampleNodes(1), pods })).toEqual([])
    expect(actionsOf({ set: surging(1, { spec: { ...surging(1).spec, minReadySeconds: 5 } }), nodes: sampleNodes(1), pods })).toEqual(['delete n1-a'])
  })

  it('both bounds: surging goes before taking away', () => {
    const set = sampleSet({ image: 'b', maxUnavailable: 2, maxSurge: 1 })
    expect(actionsOf({ set, nodes: sampleNodes(4), pods: all })).toEqual(['create n1@b'])
  })
})

describe('revisions', () => {
  const of = (image: string, number: number) => sampleRevision(image, number, sampleSet({ image }))
  it('the first is made before the first pod', () => {
    expect(actionsOf({ nodes: sampleNodes(1), history: [] })).toEqual(['CreateRevision 1', expect.stringMatching(/^create n1@\w+$/)])
  })
  it('an earlier one becomes the newest again', () => {
    expect(actionsOf({ nodes: [], history: [of('a', 1), of('b', 2)] })).toEqual(['RenumberRevision d-a'])
  })
  it('of two that hold the same, pods of either are up to date', () => {
    const twin = { ...of('a', 1), metadata: { ...of('a', 1).metadata, name: 'd-twin', labels: { 'controller-revision-hash': 'twin' } } }
    expect(actionsOf({ nodes: sampleNodes(2), history: [twin, of('a', 2)], pods: [samplePod('n1', 'a'), samplePod('n2', 'twin')] })).toEqual([])
  })
  it('beyond the limit the oldest that are not in use go; those in use count', () => {
    const history = ['x', 'y', 'z', 'a'].map((image, i) => of(image, i + 1))
    const set = (revisionHistoryLimit: number) => sampleSet({ spec: { revisionHistoryLimit, updateStrategy: { type: 'OnDelete' } } })
    const seen = { nodes: sampleNodes(1), pods: podsOf('x', 'ready'), history }
    expect(actionsOf({ ...seen, set: set(3) })).toEqual([])
    expect(actionsOf({ ...seen, set: set(2) })).toEqual(['DeleteRevision d-y'])
    expect(actionsOf({ ...seen, set: set(0) })).toEqual(['DeleteRevision d-y', 'DeleteRevision d-z'])
  })
})

it('ownership: adopts and releases before anything else, and counts on what it adopts', () => {
  const over = { adopt: podsOf('a', 'ready'), release: [samplePod('n2', 'x')], orphanRevisions: [sampleRevision('a', 1, sampleSet())], nodes: sampleNodes(2) }
  expect(actionsOf(over)).toEqual(['AdoptPod n1-a', 'ReleasePod n2-x', 'AdoptRevision d-a', 'create n2@a'])
})
