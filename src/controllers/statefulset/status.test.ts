import { describe, expect, it } from 'vitest'
import { forbiddenError, invalidObject } from '../../api/errors.ts'
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { RevisionTakenError, type StoredCondition, findCondition } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { plan } from './plan.ts'
import { type SeenOver, type SetOver, samplePod, sampleSeen, sampleSet } from './sample.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

const untouched: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
const statusOf = (over: SeenOver, outcome: Partial<Outcome<Action>> = {}) => status(sampleSeen(over), { ...untouched, ...outcome })
const says = (conditions: readonly StoredCondition[] | undefined, type: string): string => {
  const found = findCondition(conditions, type)
  return found ? `${found.status} ${found.reason}` : 'nothing'
}
const ready = (revision: string, ...ordinals: number[]): Pod[] => ordinals.map((o) => samplePod(o, revision))
const now = '2026-01-01T01:00:00Z'

describe('counts', () => {
  it.each<[string, SetOver, Pod[], object]>([
    ['nothing yet', {}, [], { replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }],
    ['pods that wait', {}, [samplePod(0, 'a', 'pending'), samplePod(1, 'a', 'unready')], { replicas: 2, readyReplicas: 0, availableReplicas: 0, currentReplicas: 2 }],
    ['ready, but not for minReadySeconds', { spec: { minReadySeconds: 10 } }, [samplePod(0, 'a'), samplePod(1, 'a', 'young')], { replicas: 2, readyReplicas: 2, availableReplicas: 1 }],
    ['one that goes is of no revision', {}, [samplePod(0, 'a', 'going'), samplePod(1, 'a')], { replicas: 2, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 1 }],
    ['one that has failed', {}, [samplePod(0, 'a', 'failed')], { replicas: 1, readyReplicas: 0, availableReplicas: 0 }],
    ['two revisions', { image: 'b' }, [...ready('a', 0, 1, 2), ...ready('b', 3, 4)], { currentReplicas: 3, updatedReplicas: 2, currentRevision: 'a', updateRevision: 'b' }],
    ['pods beyond the replicas', { replicas: 1 }, ready('a', 0, 1), { replicas: 2, readyReplicas: 2 }],
  ])('%s', (_, over, pods, expected) => {
    expect(statusOf({ set: sampleSet(over), pods })).toMatchObject(expected)
  })

  it('a name that was taken is counted, and is no failure', () => {
    const failed = [{ action: { kind: 'CreateRevision' } as Action, error: new RevisionTakenError('taken') }]
    const { collisionCount, conditions } = statusOf({ set: sampleSet({ status: { collisionCount: 2 } }) }, { failed })
    expect([collisionCount, says(conditions, 'ReplicaFailure')]).toEqual([3, 'nothing'])
  })
})

describe('the new revision becomes the current one', () => {
  const five = ready('b', 0, 1, 2, 3, 4)
  it.each<[string, SetOver, Pod[], string]>([
    ['when all are of it and ready', {}, five, 'b'],
    ['though they are not ready for long enough', { spec: { minReadySeconds: 7200 } }, five, 'b'],
    ['not while one is not ready', {}, [...ready('b', 0, 1, 2, 3), samplePod(4, 'b', 'unready')], 'a'],
    ['not while one is outdated', {}, [...ready('a', 0), ...ready('b', 1, 2, 3, 4)], 'a'],
    ['not while one is too many', {}, [...five, ...ready('b', 5)], 'a'],
    ['not while pods are deleted by hand', { spec: { updateStrategy: { type: 'OnDelete' } } }, five, 'a'],
    ['without replicas', { replicas: 0 }, [], 'b'],
  ])('%s', (_, over, pods, currentRevision) => {
    expect(statusOf({ set: sampleSet({ image: 'b', ...over }), pods })).toMatchObject({ currentRevision, updateRevision: 'b' })
  })
})

describe('Available', () => {
  it.each<[string, SetOver, Pod[], string]>([
    ['without replicas', { replicas: 0 }, [], 'True MinimumReplicasAvailable'],
    ['all', { replicas: 2 }, ready('a', 0, 1), 'True MinimumReplicasAvailable'],
    ['one is missing', { replicas: 2 }, ready('a', 0), 'False MinimumReplicasUnavailable'],
    ['one is not ready', { replicas: 2 }, [samplePod(0, 'a'), samplePod(1, 'a', 'unready')], 'False MinimumReplicasUnavailable'],
    ['one is not ready for minReadySeconds', { replicas: 1, spec: { minReadySeconds: 10 } }, [samplePod(0, 'a', 'young')], 'False MinimumReplicasUnavailable'],
  ])('%s', (_, over, pods, expected) => {
    expect(says(statusOf({ set: sampleSet(over), pods }).conditions, 'Available')).toBe(expected)
  })
})

const told = (reason: string, over: object = {}): object => ({ type: 'Progressing', status: 'True', reason, message: 'm', lastUpdateTime: '2026-01-01T00:30:00Z', lastTransitionTime: '2026-01-01T00:30:00Z', ...over })

/** A set of two that was seen like this before. */
const before = (reason: string, over: SetOver = {}, last: object = {}) => {
  const counts = { replicas: 2, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 2, updateRevision: 'a', desiredReplicas: 2, expectedUpdatedReplicas: 2 }
  return sampleSet({ replicas: 2, ...over, status: { ...counts, conditions: [told(reason)], ...last } })
}
const one = [samplePod(0, 'a'), samplePod(1, 'a', 'unready')]
const two = ready('a', 0, 1)

describe('Progressing', () => {
  it.each<[string, SeenOver, string, string]>([
    ['begins', { set: sampleSet({ replicas: 2 }), pods: [] }, 'True NewRevisionCreated', now],
    ['waits without moving its clock', { set: before('NewRevisionCreated'), pods: one }, 'True NewRevisionCreated', '2026-01-01T00:30:00Z'],
    ['moves', { set: before('NewRevisionCreated', { replicas: 3 }, { desiredReplicas: 3, expectedUpdatedReplicas: 3 }), pods: two }, 'True ReplicasUpdated', now],
    ['completes', { set: before('ReplicasUpdated'), pods: two }, 'True NewRevisionAvailable', now],
    ['stays complete when a pod is lost', { set: before('NewRevisionAvailable'), pods: one }, 'True NewRevisionAvailable', '2026-01-01T00:30:00Z'],
    ['is out of time', { set: before('ReplicasUpdated', { spec: { progressDeadlineSeconds: 60 } }), pods: one }, 'False ProgressDeadlineExceeded', '2026-01-01T00:30:00Z'],
    ['begins anew with a new revision', { set: before('NewRevisionAvailable', { image: 'b' }), pods: one }, 'True NewRevisionCreated', now],
    ['begins anew with a scale', { set: before('NewRevisionAvailable', { replicas: 3 }), pods: one }, 'True ReplicasUpdated', now],
    ['begins anew with another partition', { set: before('PartitionReached', { image: 'b', partition: 1 }, { updateRevision: 'b', updatedReplicas: 0 }), pods: one }, 'True ReplicasUpdated', now],
    ['knows no earlier numbers: a scale cannot be told', { set: before('NewRevisionAvailable', {}, { desiredReplicas: undefined, expectedUpdatedReplicas: undefined }), pods: two }, 'True NewRevisionAvailable', '2026-01-01T00:30:00Z'],
    ['is held by the partition', { set: before('ReplicasUpdated', { image: 'b', partition: 1 }, { updateRevision: 'b', expectedUpdatedReplicas: 1 }), pods: [samplePod(0, 'a'), samplePod(1, 'b')] }, 'True PartitionReached', now],
    ['is not complete while an outdated pod goes', { set: before('ReplicasUpdated', { image: 'b' }, { updateRevision: 'b', updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2 }), pods: [samplePod(0, 'a', 'going'), samplePod(1, 'b')] }, 'True ReplicasUpdated', '2026-01-01T00:30:00Z'],
    ['is not complete while a pod beyond the replicas is there', { set: before('ReplicasUpdated', {}, { replicas: 3, updatedReplicas: 3 }), pods: ready('a', 0, 1, 2) }, 'True ReplicasUpdated', now],
    ['has all the time of who deletes pods by hand', {
      set: before('ReplicasUpdated', { image: 'b', spec: { updateStrategy: { type: 'OnDelete' }, progressDeadlineSeconds: 60 } }, { updateRevision: 'b', updatedReplicas: 0, readyReplicas: 2, availableReplicas: 2 }),
      pods: two,
    }, 'True WaitingForPodDeletion', now],
    ['is held by the partition, whatever the old pods do', { set: before('ReplicasUpdated', { image: 'b', partition: 1 }, { updateRevision: 'b', expectedUpdatedReplicas: 1 }), pods: [samplePod(0, 'a', 'unready'), samplePod(1, 'b')] }, 'True PartitionReached', now],
    ['is not held while an updated pod is not available', { set: before('ReplicasUpdated', { image: 'b', partition: 1 }, { updateRevision: 'b', expectedUpdatedReplicas: 1 }), pods: [samplePod(0, 'a'), samplePod(1, 'b', 'unready')] }, 'True ReplicasUpdated', '2026-01-01T00:30:00Z'],
  ])('%s', (_, over, expected, clock) => {
    const { conditions } = statusOf(over)
    expect(says(conditions, 'Progressing')).toBe(expected)
    expect(findCondition(conditions, 'Progressing')!.lastUpdateTime).toBe(clock)
  })

  it('remembers by which numbers it judged', () => {
    expect(statusOf({ set: sampleSet({ replicas: 5, partition: 2 }) })).toMatchObject({ desiredReplicas: 5, expectedUpdatedReplicas: 3 })
  })

  it('with the gate off goes, with all that was said only for it; what others said stays', () => {
    const theirs = { type: 'Theirs', status: 'True' }
    const set = before('ReplicasUpdated', { spec: { progressDeadlineSeconds: 60 } })
    const off = statusOf({ set, pods: two, hasConditions: false })
    expect(off).toMatchObject({ readyReplicas: 2 })
    for (const field of ['conditions', 'desiredReplicas', 'expectedUpdatedReplicas']) expect(off).not.toHaveProperty(field)
    const shared = before('ReplicasUpdated', {}, { conditions: [...set.status.conditions!, theirs] })
    expect(statusOf({ set: shared, pods: two, hasConditions: false }).conditions).toEqual([theirs])
  })
})

it('numbers may wait for the next pod; what somebody waits for may not', () => {
  const statusAt = (over: SetOver, ...pods: Pod[]) => statusOf({ set: before('ReplicasUpdated', over, { conditions: [told('ReplicasUpdated'), { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' }] }), pods })
  const waiting = statusAt({}, ...one)
  expect(statusMayWait(waiting, { ...waiting, readyReplicas: 9 })).toBe(true)
  const available = statusAt({}, ...two)
  expect(statusMayWait(waiting, { ...available, conditions: [told('ReplicasUpdated'), ...available.conditions!.slice(1)] as typeof available.conditions })).toBe(false)
  expect(statusMayWait({ ...available, conditions: waiting.conditions!.map((c) => ({ ...c, status: 'True' })) }, waiting)).toBe(true)
  expect(statusMayWait(waiting, { ...waiting, currentRevision: 'b' })).toBe(false)
  expect(statusMayWait(waiting, { ...waiting, desiredReplicas: 9 })).toBe(false)
})

describe('messages name the pod and the cause', () => {
  const create = { kind: 'CreatePod', pod: samplePod(1, 'a'), claims: [] } as unknown as Action
  const quota = forbiddenError({ group: '', resource: 'pods' }, 'web-1', 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')
  const message = (over: SeenOver, outcome: Partial<Outcome<Action>> = {}, type = 'Progressing') => findCondition(statusOf(over, outcome).conditions, type)!.message
  const late = { spec: { progressDeadlineSeconds: 60 } }
  const claiming = { ...samplePod(1, 'a', 'pending'), spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data-web-1' } }] } } as unknown as Pod

  it('while there is time, and of Available', () => {
    const seen = { set: before('ReplicasUpdated'), pods: [samplePod(0, 'a'), samplePod(1, 'a', 'unready', { status: { containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ErrImagePull' } } }] } })] }
    const cause = 'Pod web-1 cannot pull image "" for container "c", since 2026-01-01T00:00:00Z.'
    expect(message(seen)).toBe(`2 of 2 replicas are at revision a, 1 of 2 is available. ${cause}`)
    expect(message(seen, {}, 'Available')).toBe(`1 of 2 replicas is available. ${cause}`)
  })
  it('a pod that cannot be made', () => {
    const failed = [{ action: create, error: quota }]
    expect(message({ set: before('ReplicasUpdated'), pods: ready('a', 0) }, { failed })).toBe(`1 of 2 replicas is at revision a, 1 of 2 is available. StatefulSet web cannot create a pod: pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1, since ${now}.`)
    expect(message({ set: before('ReplicasUpdated', late), pods: ready('a', 0) }, { failed })).toContain('No progress with revision a for 60 seconds. StatefulSet web cannot create a pod: pods "web-1" is forbidden: exceeded quota')
  })
  it('a claim that is not bound', () => {
    const claims = new Map([['data-web-1', { metadata: { name: 'data-web-1' }, status: { phase: 'Pending' } } as PersistentVolumeClaim]])
    expect(message({ set: before('ReplicasUpdated'), pods: [samplePod(0, 'a'), claiming], claims })).toContain('Pod web-1 waits for claim data-web-1, which is not bound')
    expect(message({ set: before('ReplicasUpdated', late), pods: [samplePod(0, 'a'), claiming] })).toContain('Pod web-1 waits for claim data-web-1, which does not exist')
  })
  it('what the plan waits for, where no pod is to be named', () => {
    expect(message({ set: before('ReplicasUpdated', late), pods: ready('a', 0) }, { wait: 'claim data-web-1 is to go before pod web-1 is made' })).toBe(
      'No progress with revision a for 60 seconds. StatefulSet web waits: claim data-web-1 is to go before pod web-1 is made.')
  })
  it('one that can never be made ends the progress', () => {
    const never = invalidObject({ group: '', kind: 'Pod' }, 'web-1', [])
    const { conditions } = statusOf({ set: before('ReplicasUpdated'), pods: ready('a', 0) }, { failed: [{ action: create, error: never }] })
    expect([says(conditions, 'Progressing'), says(conditions, 'ReplicaFailure')]).toEqual(['False FailedCreate', 'True FailedCreate'])
  })
  it('ReplicaFailure goes when nothing fails any more, and has a word for deletes', () => {
    const conditions = [told('ReplicasUpdated'), { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'm' }]
    expect(says(statusOf({ set: before('ReplicasUpdated', {}, { conditions }), pods: one }).conditions, 'ReplicaFailure')).toBe('nothing')
    const failed = [{ action: { kind: 'DeletePod', pod: samplePod(1, 'a') } as Action, error: quota }]
    expect(says(statusOf({ set: before('ReplicasUpdated'), pods: two }, { failed }).conditions, 'ReplicaFailure')).toBe('True FailedDelete')
  })
})

it('a status changes by itself at the deadline, or when a pod that is being deleted is late', () => {
  const at = (time: string) => before('ReplicasUpdated', { spec: { progressDeadlineSeconds: 60 } }, { conditions: [told('ReplicasUpdated', { lastUpdateTime: time })] })
  const changes = (over: SeenOver) => changesInMs(sampleSeen(over), statusOf(over))
  expect(changes({ set: at('2026-01-01T00:59:50Z'), pods: one })).toBe(50_000)
  expect(changes({ set: at('2026-01-01T00:59:50Z'), pods: one, hasConditions: false })).toBeUndefined()
  const going = samplePod(1, 'a', 'going', { metadata: { deletionTimestamp: '2026-01-01T01:00:05Z' } })
  expect(plan(sampleSeen({ set: at('2026-01-01T00:59:50Z'), pods: [samplePod(0, 'a'), going] })).requeueAfterMs).toBe(15_000)
})
