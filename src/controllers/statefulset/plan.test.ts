import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { plan } from './plan.ts'
import {
  type PodState, type SeenOver, type SetOver, inWords, samplePod, sampleRevision, sampleSeen, sampleSet,
} from './sample.ts'

const actionsOf = (over: SeenOver): string[] => plan(sampleSeen(over)).actions.map(inWords)

/** Pods web-0, web-1, … in these states, all of one revision. */
const podsOf = (revision: string, ...states: (PodState | undefined)[]): Pod[] => states.flatMap((state, i) => (state ? [samplePod(i, revision, state)] : []))
const five = (revision: string): Pod[] => podsOf(revision, 'ready', 'ready', 'ready', 'ready', 'ready')

describe('filling ordinals', () => {
  it.each<[string, SetOver, Pod[], string[]]>([
    ['in order: the first', {}, [], ['create web-0@a']],
    ['in order: the next when the one before is available', {}, podsOf('a', 'ready'), ['create web-1@a']],
    ['in order: not before', {}, podsOf('a', 'pending'), []],
    ['in order: not before minReadySeconds', { spec: { minReadySeconds: 10 } }, podsOf('a', 'young'), []],
    ['in order: a gap first', {}, podsOf('a', 'ready', undefined, 'ready'), ['create web-1@a']],
    ['in order: waits for one that goes', {}, podsOf('a', 'ready', 'going', 'ready'), []],
    ['in parallel: all', { policy: 'Parallel', replicas: 3 }, [], ['create web-0@a', 'create web-1@a', 'create web-2@a']],
    ['in order: the first of the largest number', { replicas: 2 ** 31 - 1 }, [], ['create web-0@a']],
    ['in parallel: whatever the others do', { policy: 'Parallel', replicas: 3 }, podsOf('a', 'pending', 'going'), ['create web-2@a']],
    ['a failed pod goes first', {}, podsOf('a', 'failed', 'ready'), ['delete web-0']],
    ['a failed pod in parallel', { policy: 'Parallel', replicas: 2 }, podsOf('a', 'failed'), ['delete web-0', 'create web-1@a']],
    ['from where ordinals start', { replicas: 1, spec: { ordinals: { start: 5 } } }, [], ['create web-5@a']],
    ['none for no replicas', { replicas: 0 }, [], []],
    ['below the partition as it was', { image: 'b', partition: 2, replicas: 2 }, podsOf('a', undefined, 'ready'), ['create web-0@a']],
    ['from the partition on as it is to be', { image: 'b', partition: 1, replicas: 2 }, podsOf('a', 'ready'), ['create web-1@b']],
  ])('%s', (_, over, pods, expected) => {
    expect(actionsOf({ set: sampleSet(over), pods })).toEqual(expected)
  })

  it('in parallel: 500 at a time of the largest number', () => {
    const set = sampleSet({ policy: 'Parallel', replicas: 2 ** 31 - 1 })
    expect(actionsOf({ set }).filter((action) => action.startsWith('create'))).toHaveLength(500)
  })

  it('says what it waits for', () => {
    const { wait } = plan(sampleSeen({ pods: podsOf('a', 'ready', 'unready') }))
    expect(wait).toBe('pod web-1 is not available yet')
  })

  it('looks again when a pod has been ready for long enough', () => {
    const set = sampleSet({ spec: { minReadySeconds: 12 } })
    expect(plan(sampleSeen({ set, pods: podsOf('a', 'young') })).requeueAfterMs).toBe(7000)
  })
})

describe('scaling down', () => {
  it.each<[string, SetOver, Pod[], string[]]>([
    ['in order: the highest', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'ready', 'ready'), ['delete web-3']],
    ['in order: waits for it to be gone', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'ready', 'going'), []],
    ['in order: waits for a replica', { replicas: 2 }, podsOf('a', 'ready', 'unready', 'ready'), []],
    ['in order: the only one that is not available goes itself', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'ready', 'unready'), ['delete web-3']],
    ['in order: one that is not available waits for a lower one', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'unready', 'unready'), []],
    ['in order: none waits for a lower one that has ended', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'failed', 'unready'), ['delete web-3']],
    ['in order: nor does one that has ended wait', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'failed', 'failed'), ['delete web-3']],
    ['in order: an available one goes before a lower one that is not', { replicas: 2 }, podsOf('a', 'ready', 'ready', 'unready', 'ready'), ['delete web-3']],
    ['in parallel: all', { replicas: 1, policy: 'Parallel' }, podsOf('a', 'ready', 'unready', 'ready', 'going'), ['delete web-2', 'delete web-1']],
    ['before updating', { replicas: 2, image: 'b' }, podsOf('a', 'ready', 'ready', 'ready'), ['delete web-2']],
  ])('%s', (_, over, pods, expected) => {
    expect(actionsOf({ set: sampleSet(over), pods })).toEqual(expected)
  })
})

describe.each(['OrderedReady', 'Parallel'] as const)('%s: updating five pods', (policy) => {
  it.each<[string, SetOver, string[]]>([
    ['maxUnavailable unset', {}, ['4']],
    ['maxUnavailable 1', { maxUnavailable: 1 }, ['4']],
    ['maxUnavailable 2', { maxUnavailable: 2 }, ['4', '3']],
    ['maxUnavailable 40%', { maxUnavailable: '40%' }, ['4', '3']],
    ['maxUnavailable 10% is at least 1', { maxUnavailable: '10%' }, ['4']],
    ['maxUnavailable 100%', { maxUnavailable: '100%' }, ['4', '3', '2', '1', '0']],
    ['maxUnavailable greater than replicas', { maxUnavailable: 9 }, ['4', '3', '2', '1', '0']],
    ['maxUnavailable 3 with partition, staged fewer', { maxUnavailable: 3, partition: 3 }, ['4', '3']],
    ['maxUnavailable 3 with partition, staged as many', { maxUnavailable: 3, partition: 2 }, ['4', '3', '2']],
    ['maxUnavailable 3 with partition, staged more', { maxUnavailable: 3, partition: 1 }, ['4', '3', '2']],
    ['maxUnavailable greater than replicas with partition', { maxUnavailable: 9, partition: 2 }, ['4', '3', '2']],
    ['partition beyond the replicas', { partition: 7, maxUnavailable: 2 }, []],
    ['OnDelete', { spec: { updateStrategy: { type: 'OnDelete' } } }, []],
  ])('%s', (_, over, ordinals) => {
    expect(actionsOf({ set: sampleSet({ policy, image: 'b', ...over }), pods: five('a') })).toEqual(ordinals.map((o) => `delete web-${o}`))
  })

  it('one at a time while the gate is off', () => {
    expect(actionsOf({ set: sampleSet({ policy, image: 'b', maxUnavailable: 3 }), pods: five('a'), honoursMaxUnavailable: false })).toEqual(['delete web-4'])
  })

  it('with the gate off in mid-rollout waits for those that go', () => {
    const pods = [...podsOf('a', 'ready', 'ready', 'ready'), samplePod(3, 'a', 'going'), samplePod(4, 'a', 'going')]
    expect(actionsOf({ set: sampleSet({ policy, image: 'b', maxUnavailable: 3 }), pods, honoursMaxUnavailable: false })).toEqual([])
  })

  it('a pod that is ready but not for minReadySeconds counts as unavailable', () => {
    const pods = [...podsOf('a', 'ready', 'ready', 'ready', 'ready'), samplePod(4, 'b', 'young')]
    expect(actionsOf({ set: sampleSet({ policy, image: 'b', spec: { minReadySeconds: 10 } }), pods })).toEqual([])
  })

  it('goes on when the first of them is available', () => {
    const pods = [...podsOf('a', 'ready', 'ready', 'ready', 'ready'), samplePod(4, 'b')]
    expect(actionsOf({ set: sampleSet({ policy, image: 'b' }), pods })).toEqual(['delete web-3'])
  })

  it('scaled down in mid-rollout, the surplus goes first', () => {
    const pods = [...podsOf('a', 'ready', 'ready', 'ready', 'ready'), samplePod(4, 'b')]
    const actions = actionsOf({ set: sampleSet({ policy, image: 'b', replicas: 3 }), pods })
    expect(actions).toEqual(policy === 'OrderedReady' ? ['delete web-4'] : ['delete web-4', 'delete web-3', 'delete web-2'])
  })

  it('is done when all are updated', () => {
    expect(actionsOf({ set: sampleSet({ policy, image: 'b' }), pods: five('b') })).toEqual([])
  })
})

describe('updating with maxUnavailable 2 while some are not available', () => {
  const update = (policy: 'OrderedReady' | 'Parallel', pods: Pod[]) => actionsOf({ set: sampleSet({ policy, image: 'b', maxUnavailable: 2 }), pods })
  it.each<[string, Pod[], string[], string[]]>([
    ['the higher of two is available: only in parallel goes the next', [...podsOf('a', 'ready', 'ready', 'ready'), samplePod(3, 'b', 'unready'), samplePod(4, 'b')], [], ['delete web-2']],
    ['the lower of two is available', [...podsOf('a', 'ready', 'ready', 'ready'), samplePod(3, 'b'), samplePod(4, 'b', 'unready')], [], ['delete web-2']],
    ['an outdated one that is broken goes first in parallel, and leaves the rest of the budget', podsOf('a', 'ready', 'unready', 'ready', 'ready', 'ready'), [], ['delete web-1 if unchanged', 'delete web-4']],
    ['two that are broken go, and leave nothing', podsOf('a', 'unready', 'unready', 'ready', 'ready', 'ready'), [], ['delete web-1 if unchanged', 'delete web-0 if unchanged']],
    ['all outdated ones are broken', podsOf('a', 'unready', 'unready', 'unready', 'unready', 'unready'), [], [4, 3, 2, 1, 0].map((o) => `delete web-${o} if unchanged`)],
    ['new ones that are broken do take from it', [...podsOf('a', 'ready', 'ready', 'ready'), samplePod(3, 'b', 'unready'), samplePod(4, 'b', 'unready')], [], []],
    ['an outdated one that has ended goes once', podsOf('a', 'ready', 'ready', 'ready', 'ready', 'failed'), ['delete web-4'], ['delete web-4', 'delete web-3']],
    ['those that go take from it', [...podsOf('a', 'ready', 'ready', 'ready', 'going', 'going')], [], []],
  ])('%s', (_, pods, ordered, parallel) => {
    expect(update('OrderedReady', pods)).toEqual(ordered)
    expect(update('Parallel', pods)).toEqual(parallel)
  })

  it('a value beyond what is to be updated acts as all of that: one below the partition that is broken takes from it', () => {
    const set = sampleSet({ policy: 'Parallel', image: 'b', maxUnavailable: 9, partition: 2 })
    expect(actionsOf({ set, pods: podsOf('a', 'unready', 'ready', 'ready', 'ready', 'ready') })).toEqual(['delete web-4', 'delete web-3'])
  })

  it('a broken one below the partition is left alone, and takes from the budget', () => {
    const set = sampleSet({ policy: 'Parallel', image: 'b', maxUnavailable: 2, partition: 2 })
    expect(actionsOf({ set, pods: podsOf('a', 'unready', 'ready', 'ready', 'ready', 'ready') })).toEqual(['delete web-4'])
  })
})

describe('a rollout that is broken', () => {
  const annotated = { metadata: { annotations: { 'coxswain.dev/recover-broken-rollout': 'true' } } }
  const waiting = (reason: string) => ({ status: { containerStatuses: [{ name: 'c', state: { waiting: { reason } } }] } })
  const lost = { conditions: [{ type: 'Initialized', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }, { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:30:00Z' }] }
  const withLast = (pod: Pod) => [...podsOf('b', 'ready', 'ready', 'ready', 'ready'), pod]
  const set = (over: SetOver = {}) => sampleSet({ image: 'b', ...annotated, ...over })
  it.each<[string, SetOver, Pod, string[]]>([
    ['is mended at once', {}, samplePod(4, 'a', 'unready', { status: { ...lost, ...waiting('CrashLoopBackOff').status } }), ['delete web-4 if unchanged']],
    ['with an image that does not exist', {}, samplePod(4, 'a', 'pending', waiting('ImagePullBackOff')), ['delete web-4 if unchanged']],
    ['with a pod that was never ready', {}, samplePod(4, 'a', 'unready', { status: { startTime: '2026-01-01T00:00:00Z' } }), ['delete web-4 if unchanged']],
    ['not for a pod that was ready once and merely is not now', {}, samplePod(4, 'a', 'unready', { status: lost }), []],
    ['not for the new revision', {}, samplePod(4, 'b', 'unready', waiting('CrashLoopBackOff')), []],
    ['not unless asked for', { metadata: {} }, samplePod(4, 'a', 'unready', waiting('CrashLoopBackOff')), []],
    ['not below the partition', { partition: 5 }, samplePod(4, 'a', 'unready', waiting('CrashLoopBackOff')), []],
    ['not with OnDelete', { spec: { updateStrategy: { type: 'OnDelete' } } }, samplePod(4, 'a', 'unready', waiting('CrashLoopBackOff')), []],
    ['not twice', {}, samplePod(4, 'a', 'going', waiting('CrashLoopBackOff')), []],
    ['in parallel as always, and once', { policy: 'Parallel' }, samplePod(4, 'a', 'unready', waiting('CrashLoopBackOff')), ['delete web-4 if unchanged']],
  ])('%s', (_, over, pod, expected) => {
    expect(actionsOf({ set: set(over), pods: withLast(pod) })).toEqual(expected)
  })
})

describe('revisions', () => {
  it('the first is made before the first pod', () => {
    expect(actionsOf({ history: [] })).toEqual(['CreateRevision 1', expect.stringMatching(/^create web-0@web-/)])
  })
  it('an earlier one becomes the newest again', () => {
    const history = [sampleRevision('a', 1, sampleSet({ image: 'a' })), sampleRevision('b', 2, sampleSet({ image: 'b' }))]
    expect(actionsOf({ set: sampleSet({ replicas: 0 }), history })).toEqual(['RenumberRevision a'])
  })
  it('beyond the limit the oldest that are not in use go', () => {
    const history = ['x', 'y', 'z', 'a'].map((name, i) => sampleRevision(name, i + 1, sampleSet({ image: name })))
    const set = sampleSet({ replicas: 1, spec: { revisionHistoryLimit: 1 } })
    expect(actionsOf({ set, history, pods: podsOf('x', 'ready') })).toEqual(['delete web-0', 'DeleteRevision y'])
    expect(actionsOf({ set: sampleSet({ replicas: 1, spec: { revisionHistoryLimit: -1 } }), history, pods: podsOf('a', 'ready') })).toEqual([])
  })
})

describe('claims', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }]
  const claim = (name: string, ownerReferences: object[] = []) => [name, { metadata: { name, ownerReferences } } as unknown as PersistentVolumeClaim] as const
  const owner = (kind: 'StatefulSet' | 'Pod', name: string, uid: string) => ({ apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1', kind, name, uid, controller: true })
  const bySet = owner('StatefulSet', 'web', 'set')
  const policy = (whenDeleted: string, whenScaled: string) => ({ volumeClaimTemplates, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } })

  it('are made with the pod, but for those that are there', () => {
    expect(actionsOf({ set: sampleSet({ spec: { volumeClaimTemplates } }) })).toEqual(['create web-0@a +data-web-0'])
    expect(actionsOf({ set: sampleSet({ spec: { volumeClaimTemplates } }), claims: new Map([claim('data-web-0')]) })).toEqual(['create web-0@a'])
  })
  it('are made again for a pod that waits for them', () => {
    expect(actionsOf({ set: sampleSet({ spec: { volumeClaimTemplates } }), pods: podsOf('a', 'pending') })).toEqual(['claims data-web-0'])
  })
  it.each<[string, object, object[], string[]]>([
    ['kept', policy('Retain', 'Retain'), [], []],
    ['kept though they went with the set before', policy('Retain', 'Retain'), [bySet], ['own data-web-0 by nobody']],
    ['going with the set', policy('Delete', 'Retain'), [], ['own data-web-0 by StatefulSet']],
    ['going with the set already', policy('Delete', 'Retain'), [bySet], []],
    ['going when scaled down, while the pod is wanted', policy('Retain', 'Delete'), [], []],
    ['going either way, while the pod is wanted', policy('Delete', 'Delete'), [], ['own data-web-0 by StatefulSet']],
    ['managed by somebody else', policy('Delete', 'Delete'), [{ ...bySet, name: 'other', uid: 'o' }], []],
    ['managed by somebody else and by us', policy('Delete', 'Delete'), [{ ...bySet, name: 'other', uid: 'o' }, { ...bySet, controller: undefined }], ['own data-web-0 by StatefulSet']],
    ['going with the set, which does not manage it', policy('Delete', 'Retain'), [{ ...bySet, controller: undefined }], ['own data-web-0 by StatefulSet']],
    ['going with an earlier set of the name: left to the garbage collector', policy('Retain', 'Retain'), [{ ...bySet, uid: 'earlier' }], []],
    ['going with an earlier pod of the name: left to the garbage collector', policy('Delete', 'Delete'), [owner('Pod', 'web-0', 'earlier')], []],
    ['going with the pod, which was too many and is wanted again', policy('Retain', 'Delete'), [owner('Pod', 'web-0', 'uid-0')], ['own data-web-0 by nobody']],
    ['with another owner, which stays', policy('Delete', 'Retain'), [{ ...bySet, kind: 'ConfigMap', apiVersion: 'v1', controller: undefined }], ['own data-web-0 by ConfigMap,StatefulSet']],
  ])('of a replica: %s', (_, spec, owners, expected) => {
    expect(actionsOf({ set: sampleSet({ replicas: 1, spec }), pods: podsOf('a', 'ready'), claims: new Map([claim('data-web-0', owners)]) })).toEqual(expected)
  })
  it.each<[string, object, object[], string[]]>([
    ['kept', policy('Delete', 'Retain'), [bySet], ['delete web-0']],
    ['going', policy('Retain', 'Delete'), [], ['own data-web-0 by Pod', 'delete web-0']],
    ['going instead of with the set', policy('Delete', 'Delete'), [bySet], ['own data-web-0 by Pod', 'delete web-0']],
  ])('of a pod that is too many: %s', (_, spec, owners, expected) => {
    expect(actionsOf({ set: sampleSet({ replicas: 0, spec }), pods: podsOf('a', 'ready'), claims: new Map([claim('data-web-0', owners)]) })).toEqual(expected)
  })
  it.each<[string, PodState]>([
    ['a pod that goes', 'going'],
    ['a pod that has failed, before it is deleted', 'failed'],
    ['an outdated pod, before it is deleted', 'ready'],
  ])('are taken from %s and is wanted again', (_, state) => {
    const claims = new Map([claim('data-web-0', [owner('Pod', 'web-0', 'uid-0')])])
    const actions = actionsOf({ set: sampleSet({ replicas: 1, image: 'b', spec: policy('Retain', 'Delete') }), pods: podsOf('a', state), claims })
    expect(actions).toEqual(state === 'going' ? ['own data-web-0 by nobody'] : ['own data-web-0 by nobody', 'delete web-0'])
  })
  it.each<[string, object]>([
    ['that go with an earlier pod', { ownerReferences: [owner('Pod', 'web-0', 'earlier')] }],
    ['that go with an earlier set', { ownerReferences: [owner('StatefulSet', 'web', 'earlier')] }],
    ['that are being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ])('%s are waited for', (_, metadata) => {
    const claims = new Map([['data-web-0', { metadata: { name: 'data-web-0', ...metadata } } as PersistentVolumeClaim]])
    const seen = sampleSeen({ set: sampleSet({ spec: policy('Retain', 'Delete') }), claims })
    expect(plan(seen)).toMatchObject({ actions: [], wait: 'claim data-web-0 is to go before pod web-0 is made' })
    expect(actionsOf({ set: sampleSet({ policy: 'Parallel', replicas: 2, spec: policy('Retain', 'Delete') }), claims })).toEqual(['create web-1@a +data-web-1'])
  })
})

it('ownership: adopts, releases, and labels', () => {
  const nameless = samplePod(0, 'a', 'ready', { metadata: { labels: { app: 'web', 'controller-revision-hash': 'a' } } })
  const actions = actionsOf({ set: sampleSet({ replicas: 2 }), pods: [nameless], adopt: [samplePod(1, 'a')], release: [samplePod(2, 'a')] })
  expect(actions).toEqual(['AdoptPod web-1', 'ReleasePod web-2', 'LabelPod web-0'])
})
