import { describe, expect, it } from 'vitest'
import { plan } from './plan.ts'
import {
  type SeenOver, type SetOver, inFewWords, sampleClaim, samplePod, samplePods, sampleRevision, sampleSeen, sampleSet,
} from './sample.ts'

const said = (seen: SeenOver): string[] => inFewWords(plan(sampleSeen(seen)).actions)

/** Pods as they are called in a cluster: `web-a1`. */
const called = (id: string) => ({ ...samplePod(id), metadata: { ...samplePod(id).metadata, name: `web-${id}` } })
const going = (id: string) => ({ ...called(id), metadata: { ...called(id).metadata, deletionTimestamp: '2026-01-01T00:59:59Z' } })
const ended = (id: string) => ({ ...called(id), status: { phase: 'Failed' } }) as ReturnType<typeof samplePod>

describe('plan() scales', () => {
  it.each<[string, SetOver, string, string[]]>([
    ['makes what is missing', {}, 'a1 a2', ['create a ×3']],
    ['makes no more at a time than a burst', { replicas: 2 ** 31 - 1 }, 'a1', ['create a ×500']],
    ['the same if fewer may be unavailable than are missing', { replicas: 2 ** 31 - 1, scale: { maxUnavailable: '50%' } }, 'a1', ['create a ×500']],
    ['does nothing when there are enough', {}, 'a1 a2 a3 a4 a5', []],
    ['deletes what is too many', { replicas: 4 }, 'a1 a2! a3 a4 a5', ['delete a2']],
    ['deletes more than may be unavailable, as long as enough are left', { replicas: 1 }, 'a1 a2 a3 a4 a5', ['delete a1', 'delete a2', 'delete a3', 'delete a4']],
    ['deletes all', { replicas: 0 }, 'a1 a2', ['delete a1', 'delete a2']],
    ['deletes those first that serve nobody', { replicas: 3 }, 'a1 a2? a3 a4! a5', ['delete a2', 'delete a4']],
    ['keeps ready pods for those that are not', { replicas: 4, update: { maxUnavailable: 0 } }, 'a1 a2 a3 a4 b5', ['delete b5']],
    ['makes no more at a time than may be unavailable', { replicas: 10, scale: { maxUnavailable: 3 } }, 'a1 a2', ['create a ×3']],
    ['counts those that are not available yet', { replicas: 10, scale: { maxUnavailable: '30%' } }, 'a1 a2! a3!', ['create a']],
    ['waits for those that are not available yet', { replicas: 10, scale: { maxUnavailable: 2 } }, 'a1 a2! a3!', []],
  ])('%s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet(over), pods: samplePods(pods) })).toEqual(expected)
  })

  it('says why it makes no more', () => {
    expect(plan(sampleSeen({ set: sampleSet({ replicas: 10, scale: { maxUnavailable: 2 } }), pods: samplePods('a1 a2! a3!') })).wait).toBe('more pods are made when fewer than 2 are unavailable')
    expect(plan(sampleSeen({ set: sampleSet({ replicas: 2000, scale: { maxUnavailable: 100 } }) })).wait).toBe('more pods are made when fewer than 100 are unavailable')
    expect(plan(sampleSeen({ set: sampleSet({ replicas: 2000, scale: { maxUnavailable: 1000 } }) })).wait).toBe(undefined)
  })

  it('gives up what costs least', () => {
    const pods = samplePods('a1 a2 a3', { a1: { cost: 10 }, a2: { cost: -5 }, a3: { cost: 1 } })
    expect(said({ set: sampleSet({ replicas: 1 }), pods })).toEqual(['delete a2', 'delete a3'])
  })

  it('gives up one of those that share a node', () => {
    const pods = samplePods('a1 a2 a3', { a1: { node: 'x' } })
    expect(said({ set: sampleSet({ replicas: 2 }), pods })[0]).toMatch(/delete a[23]/)
  })

  it('makes pods in the place of those that go and of those that have ended', () => {
    expect(said({ set: sampleSet({ replicas: 3 }), pods: samplePods('a1'), inactive: [going('a2'), ended('a3')] })).toEqual(['create a ×2'])
  })

  it('adopts, releases and makes the rest', () => {
    expect(said({ set: sampleSet({ replicas: 2 }), adopt: samplePods('a1'), release: samplePods('a2') })).toEqual(['AdoptPod a1', 'ReleasePod a2', 'create a'])
  })
})

describe('plan() deletes what it is asked to', () => {
  const asked = (...podsToDelete: string[]) => ({ podsToDelete })
  it.each<[string, SetOver, string, string[]]>([
    ['and makes others', { scale: asked('a2') }, 'a1 a2 a3 a4 a5', ['delete a2', 'create a']],
    ['and no others if fewer are wanted', { replicas: 4, scale: asked('a2') }, 'a1 a2 a3 a4 a5', ['delete a2']],
    ['and one more if that is not enough', { replicas: 3, scale: asked('a2') }, 'a1! a2 a3 a4 a5', ['delete a2', 'delete a1']],
    ['as far as pods may be unavailable', { scale: asked('a2', 'a3') }, 'a1 a2 a3 a4 a5', ['delete a2', 'create a']],
    ['whatever may be unavailable, if they are so already', { scale: asked('a2', 'a3'), update: { maxUnavailable: 0 } }, 'a1 a2! a3! a4 a5', ['delete a2', 'delete a3', 'create a ×2']],
    ['but no other one for it', { scale: asked('a2', 'a3') }, 'a1 a2! a3 a4 a5', ['delete a2', 'create a']],
    ['not before others are available, if there may be more', { scale: asked('a2', 'a3'), update: { maxUnavailable: 0, maxSurge: 1 } }, 'a1 a2 a3 a4 a5', ['create a']],
    ['the same while updates are paused', { scale: asked('a2'), update: { maxUnavailable: 0, maxSurge: 1, paused: true } }, 'a1 a2 a3 a4 a5', ['create a']],
    ['then, one by one', { scale: asked('a2', 'a3'), update: { maxUnavailable: 0, maxSurge: 1 } }, 'a1 a2 a3 a4 a5 a6', ['delete a2', 'create a']],
    ['at the revision that it is of, as far as the partition goes', { image: 'b', scale: asked('a2'), update: { partition: 3 } }, 'a1 a2 a3 b4 b5', ['delete a2', 'create a']],
  ])('%s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet(over), pods: samplePods(pods) })).toEqual(expected)
  })

  it('also by a label', () => {
    expect(said({ pods: samplePods('a1 a2 a3 a4 a5', { a3: { labels: { 'apps.kruise.io/specified-delete': 'true' } } }) })).toEqual(['delete a3', 'create a'])
  })

  it('forgets names that no pod has, when nothing else is to be done', () => {
    const set = sampleSet({ scale: asked('gone', 'a9') })
    expect(said({ set, pods: samplePods('a1 a2 a3 a4') })).toEqual(['create a'])
    expect(said({ set, pods: samplePods('a1 a2 a3 a4 a5') })).toEqual(['podsToDelete none'])
  })
})

describe('plan() replaces outdated pods', () => {
  const b = (over: SetOver = {}): SetOver => ({ image: 'b', ...over, update: { maxUnavailable: 2, ...over.update } })
  it.each<[string, SetOver, string, string[]]>([
    ['within what may be unavailable', b(), 'a1 a2 a3 a4 a5', ['delete a1', 'delete a2', 'create b ×2']],
    ['while others are not available yet', b(), 'a1 a2 a3 a4 b5!', ['delete a1', 'create b']],
    ['not while too many are not available', b(), 'a1 a2 a3 b4! b5!', []],
    ['those first that serve nobody', b(), 'a1 a2! a3 a4 a5', ['delete a2', 'delete a1', 'create b ×2']],
    ['that serve nobody, whatever others do', b(), 'a1! a2! a3! a4 a5', ['delete a1', 'delete a2', 'create b ×2']],
    ['not if they are kept by the partition', b({ update: { partition: 5 } }), 'a1 a2 a3 a4 a5', []],
    ['down to the partition', b({ update: { partition: 3 } }), 'a1 a2 a3 a4 b5', ['delete a1', 'create b']],
    ['no further', b({ update: { partition: 3 } }), 'a1 a2 a3 b4 b5', []],
    ['down to a share of them', b({ update: { partition: '80%' } }), 'a1 a2 a3 a4 a5', ['delete a1', 'create b']],
    ['not while it is paused', b({ update: { paused: true } }), 'a1 a2 a3 a4 a5', []],
    ['while some are missing, as far as more may be', b({ update: { maxUnavailable: 3 } }), 'a1 a2 a3 b4', ['delete a1', 'delete a2', 'create b ×3']],
    ['not while those are missing that may be', b({ update: { maxUnavailable: 1 } }), 'a1 a2 a3 b4', ['create b']],
    ['and does not go back if the partition rises', b({ update: { partition: 4 } }), 'a1 a2 b3 b4 b5', []],
    ['of any earlier revision', b(), 'c1 c2 a3 a4 a5', ['delete a3', 'delete a4', 'create b ×2']],
  ])('%s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet(over), pods: samplePods(pods) })).toEqual(expected)
  })

  const young = { state: 'young' as const, labels: { first: 'yes' } }
  it.each<[string, number, string, string[]]>([
    ['no more than may be unavailable', 2, 'a1 a2 a3 a4 a5', ['delete a1', 'delete a2', 'create b ×2']],
    ['not while as many as may be are not ready', 2, 'a1 a2 a3 b4! a5!', []],
    ['as many as still may be', 2, 'a1 a2 a3 a4 a5!', ['delete a1', 'create b']],
    ['none, though they come first, while others are missing', 1, 'a1 a2 a3 a4', ['create b']],
  ])('that are ready and not available yet: %s', (_, maxUnavailable, names, expected) => {
    const priorityStrategy = { weightPriority: [{ weight: 1, matchSelector: { matchLabels: { first: 'yes' } } }] }
    const set = sampleSet({ image: 'b', update: { maxUnavailable, priorityStrategy }, spec: { minReadySeconds: 10 } })
    const ready = names.split(' ').filter((name) => !name.endsWith('!'))
    const pods = samplePods(names, Object.fromEntries(ready.map((name) => [name, young])))
    expect(said({ set, pods })).toEqual(expected)
  })

  it.each<[string, SetOver, string, string[]]>([
    ['makes others first', { update: { maxUnavailable: 0, maxSurge: 2 } }, 'a1 a2 a3 a4 a5', ['create b ×2']],
    ['waits until these are available', { update: { maxUnavailable: 0, maxSurge: 2 } }, 'a1 a2 a3 a4 a5 b6! b7!', []],
    ['deletes as many as are available', { update: { maxUnavailable: 0, maxSurge: 2 } }, 'a1 a2 a3 a4 a5 b6 b7!', ['delete a1', 'create b']],
    ['makes none that would be too many in the end', { update: { maxUnavailable: 0, maxSurge: 4 } }, 'a1 a2 b3 b4 b5', ['create b ×2']],
    ['deletes the last ones without others', { update: { maxUnavailable: 0, maxSurge: 2 } }, 'a1 a2 b3 b4 b5 b6 b7', ['delete a1', 'delete a2']],
    ['keeps what the partition keeps', { update: { maxUnavailable: 0, maxSurge: 2, partition: 4 } }, 'a1 a2 a3 a4 a5', ['create b']],
    ['makes none while it is paused', { update: { maxUnavailable: 0, maxSurge: 2, paused: true } }, 'a1 a2 a3 a4 a5', []],
    ['takes away what is too many while it is paused', { update: { maxUnavailable: 0, maxSurge: 2, paused: true } }, 'a1 a2 a3 a4 a5 b6', ['delete a1']],
  ])('with a surge: %s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet({ image: 'b', ...over }), pods: samplePods(pods) })).toEqual(expected)
  })

  it('says what it waits for', () => {
    expect(plan(sampleSeen({ set: sampleSet(b()), pods: samplePods('a1 a2 a3 b4! b5!') })).wait).toBe('2 pods are unavailable, of 2 that may be')
  })

  it.each<[string, SetOver, string, string[]]>([
    ['what the partition keeps comes back as it was', { update: { partition: 3 } }, 'a1 a2 b3 b4', ['create a']],
    ['what it does not keep comes back new', { update: { partition: 2 } }, 'a1 a2 b3 b4', ['create b']],
    ['more of both', { replicas: 10, update: { partition: '50%' } }, 'a1 a2 a3 b4 b5', ['create a ×2', 'create b ×3']],
    ['fewer: outdated ones beyond the partition go first', { replicas: 4, update: { partition: 2 } }, 'a1 a2 a3 b4 b5', ['delete a1']],
    ['fewer: then updated ones', { replicas: 3, update: { partition: 3 } }, 'a1 a2 a3 b4 b5', ['delete b4', 'delete b5']],
    ['fewer than the partition: all are outdated ones', { replicas: 2, update: { partition: 4 } }, 'a1 a2 a3 a4 b5', ['delete a1', 'delete a2', 'delete b5']],
    ['more while it is paused: new ones', { replicas: 6, update: { paused: true } }, 'a1 a2 a3 a4 a5', ['create b']],
  ])('in the middle of a rollout: %s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet({ image: 'b', ...over }), pods: samplePods(pods) })).toEqual(expected)
  })
})

describe('plan() updates in place', () => {
  const inPlace = (over: SetOver = {}): SetOver => ({ image: 'b', ...over, update: { type: 'InPlaceIfPossible', maxUnavailable: 2, ...over.update } })
  it.each<[string, SetOver, string, string[]]>([
    ['within what may be unavailable', inPlace(), 'a1 a2 a3 a4 a5', ['update a1', 'update a2']],
    ['down to the partition', inPlace({ update: { partition: 4 } }), 'a1 a2 a3 a4 a5', ['update a1']],
    ['not while it is paused', inPlace({ update: { paused: true } }), 'a1 a2 a3 a4 a5', []],
    ['beside others that are made', inPlace({ update: { maxUnavailable: 0, maxSurge: 2 } }), 'a1 a2 a3 a4 a5 b6 b7', ['update a1', 'update a2']],
    ['or makes others, never both for one', inPlace({ replicas: 1, update: { maxUnavailable: 1, maxSurge: 1 } }), 'a1', ['update a1']],
    ['while others cannot be made', inPlace({ update: { maxUnavailable: 3 } }), 'a1 a2 a3 a4', ['update a1', 'update a2', 'create b']],
    ['or replaces those of a revision that nobody knows', inPlace(), 'c1! a2 a3 a4 a5', ['update a2', 'delete c1', 'create b']],
  ])('%s', (_, over, pods, expected) => {
    expect(said({ set: sampleSet(over), pods: samplePods(pods) })).toEqual(expected)
  })

  it('or replaces them where more has changed than images', () => {
    const set = sampleSet({ spec: { template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'b', tty: true }] } } }, update: { type: 'InPlaceIfPossible' } })
    const history = [sampleRevision('a', 1, sampleSet()), sampleRevision('b', 2, set)]
    expect(said({ set, history, pods: samplePods('a1 a2 a3 a4 a5') })).toEqual(['delete a1', 'create b'])
    const only = sampleSet({ ...set, spec: { ...set.spec, updateStrategy: { type: 'InPlaceOnly', maxUnavailable: 1 } } })
    expect(said({ set: only, history, pods: samplePods('a1 a2 a3 a4 a5') })).toEqual([expect.stringMatching(/^refuse a1: \/spec\/containers\/0/)])
  })
})

describe('plan() minds hooks', () => {
  const preDelete = { finalizersHandler: ['example.com/hook'] }
  const hooked = (over: SetOver = {}): SetOver => ({ ...over, spec: { lifecycle: { preDelete }, ...over.spec } })
  const held = { finalizers: ['example.com/hook'] }
  const all = (over: object = {}) => Object.fromEntries(['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => [name, { ...held, ...over }]))

  it.each<[string, SetOver, string, Parameters<typeof samplePods>[1], string[]]>([
    ['asks before a pod goes', hooked({ replicas: 4 }), 'a1! a2 a3 a4 a5', all(), ['a1 is PreparingDelete']],
    ['waits for the answer', hooked({ replicas: 4 }), 'a1! a2 a3 a4 a5', { ...all(), a1: { ...held, lifecycle: 'PreparingDelete' } }, []],
    ['deletes what was let go', hooked({ replicas: 4 }), 'a1! a2 a3 a4 a5', { ...all(), a1: { lifecycle: 'PreparingDelete' } }, ['delete a1']],
    ['keeps what is wanted again', hooked(), 'a1 a2 a3 a4 a5', { ...all(), a1: { ...held, lifecycle: 'PreparingDelete' } }, ['a1 is PreparingNormal']],
    ['asks before a pod is replaced', hooked({ image: 'b' }), 'a1! a2 a3 a4 a5', all(), ['a1 is PreparingDelete to be replaced']],
    [
      'makes no other before it is gone', hooked({ image: 'b' }), 'a1 a2 a3 a4 a5',
      { ...all(), a1: { ...held, lifecycle: 'PreparingDelete', labels: { 'apps.kruise.io/specified-delete': 'true' } } }, [],
    ],
    [
      'unless those that wait are not to count', hooked({ image: 'b', scale: { excludePreparingDelete: true } }), 'a1 a2 a3 a4 a5',
      { ...all(), a1: { ...held, lifecycle: 'PreparingDelete', labels: { 'apps.kruise.io/specified-delete': 'true' } } }, ['create b'],
    ],
  ])('%s', (_, over, pods, podsOver, expected) => {
    expect(said({ set: sampleSet(over), pods: samplePods(pods, podsOver) })).toEqual(expected)
  })
})

describe('plan() looks after claims', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }]
  const withClaims = (over: SetOver = {}) => sampleSet({ replicas: 3, ...over, spec: { volumeClaimTemplates } })
  const claims = ['a1', 'a2', 'a3'].map(sampleClaim)

  it.each<[string, SeenOver, string[]]>([
    ['they go with the pod that the set deletes', { set: withClaims({ replicas: 2 }), pods: samplePods('a1! a2 a3') }, ['delete a1 -data-web-a1']],
    ['and with one that is replaced', { set: withClaims({ image: 'b' }), pods: samplePods('a1! a2 a3') }, ['delete a1 -data-web-a1', 'create b']],
    ['the next pod gets those of one that is gone', { set: withClaims(), pods: samplePods('a2 a3') }, ['create a as a1']],
    ['and waits for them while it goes', { set: withClaims(), pods: samplePods('a2 a3'), inactive: [going('a1')] }, []],
    ['but not for those of one that has ended', { set: withClaims(), pods: samplePods('a2 a3'), inactive: [ended('a1')] }, ['create a']],
    ['nor for those of one that somebody else has', { set: withClaims(), pods: samplePods('a2 a3'), inactive: [called('a1')] }, ['create a']],
    ['one that is there is not waited for', { set: withClaims({ replicas: 2 }), pods: samplePods('a3'), inactive: [going('a1')] }, ['create a as a2']],
    ['a pod that has lost them before it has come to a node goes, too', { set: withClaims(), pods: samplePods('a1? a2 a3', { a1: { claim: 'data-web-a1' } }), claims: [] }, ['delete a1', 'create a']],
    ['they are not used again where that is not wanted', { set: withClaims({ scale: { disablePVCReuse: true } }), pods: samplePods('a2 a3') }, ['delete data-web-a1', 'create a']],
    [
      'and go with their pod while that goes',
      { set: withClaims({ scale: { disablePVCReuse: true } }), pods: samplePods('a2 a3'), inactive: [going('a1')] }, ['leave data-web-a1 to web-a1', 'create a'],
    ],
  ])('%s', (_, seen, expected) => {
    expect(said({ claims, ...seen })).toEqual(expected)
  })
})

describe('plan() keeps revisions', () => {
  const states = ['x', 'y', 'a'].map((hash, i) => sampleRevision(hash, i + 1, sampleSet({ image: hash })))
  it.each<[string, SeenOver, string[]]>([
    ['makes one for a new template', { set: sampleSet({ image: 'z', replicas: 0 }), history: states }, ['CreateRevision 4']],
    ['uses an earlier one again', { set: sampleSet({ image: 'x', replicas: 0 }), history: states }, ['RenumberRevision web-x']],
    ['forgets the oldest beyond the limit', { set: sampleSet({ replicas: 0, spec: { revisionHistoryLimit: 1 } }), history: states }, ['DeleteRevision web-x']],
    ['keeps those that pods are of', { set: sampleSet({ replicas: 1, spec: { revisionHistoryLimit: 0 } }), history: states, pods: samplePods('x1!') }, ['delete x1', 'create a', 'DeleteRevision web-y']],
  ])('%s', (_, seen, expected) => {
    expect(said(seen)).toEqual(expected)
  })
})

describe('plan() looks again', () => {
  const told = { updateRevision: 'web-a', desiredReplicas: 1, expectedUpdatedReplicas: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1 }
  const moving = (lastUpdateTime: string) => ({ ...told, conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', lastUpdateTime }] })
  it.each<[string, SetOver, string, number | undefined]>([
    ['when the next pod has been ready for long enough', { spec: { minReadySeconds: 15 }, status: moving('2026-01-01T01:00:00Z') }, 'young', 10_000],
    ['never, if no pod is on its way', { status: moving('2026-01-01T00:59:00Z') }, 'unready', undefined],
  ])('%s', (_, over, state, expected) => {
    const pods = [samplePod('a1', { state: state as 'young' })]
    expect(plan(sampleSeen({ set: sampleSet({ replicas: 1, ...over }), pods })).requeueAfterMs).toBe(expected)
  })
})
