import { describe, expect, it } from 'vitest'
import { conflict, forbiddenError, invalidObject } from '../../api/errors.ts'
import type { CloneSetStatus } from '../../api/generated/types.ts'
import { type Outcome, TerminalError } from '../kit/index.ts'
import { findCondition } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { plan } from './plan.ts'
import { type SeenOver, type SetOver, samplePods, sampleSeen, sampleSet } from './sample.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

const untouched: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
const done = (...actions: readonly Action[]): Outcome<Action> => ({ ...untouched, done: actions })
const failed = (action: Action, error: Error): Outcome<Action> => ({ ...untouched, failed: [{ action, error }] })

const after = (seen: SeenOver, outcome = untouched): CloneSetStatus => status(sampleSeen(seen), outcome)
const planned = (seen: SeenOver) => plan(sampleSeen(seen)).actions
const b = (over: SetOver = {}) => sampleSet({ image: 'b', ...over })

describe('status() counts', () => {
  it.each<[string, SeenOver, 'before' | 'after', number[]]>([
    ['pods, ready, available, and the same of the new revision', { set: b(), pods: samplePods('a1 a2! b3 b4!') }, 'before', [4, 2, 2, 2, 1, 1]],
    ['what has just been made', { set: sampleSet(), pods: samplePods('a1') }, 'after', [5, 1, 1, 5, 1, 1]],
    ['not what has just been deleted', { set: sampleSet({ replicas: 1 }), pods: samplePods('a1 a2') }, 'after', [1, 1, 1, 1, 1, 1]],
    ['what has just been replaced', { set: b(), pods: samplePods('a1 a2 a3 a4 a5') }, 'after', [5, 4, 4, 1, 0, 0]],
    ['what is just being updated in place', { set: b({ update: { type: 'InPlaceOnly' } }), pods: samplePods('a1 a2 a3 a4 a5') }, 'after', [5, 4, 4, 1, 0, 0]],
    ['no pod that a hook holds as ready', { pods: samplePods('a1 a2', { a1: { lifecycle: 'PreparingDelete' } }) }, 'before', [2, 1, 1, 2, 1, 1]],
  ])('%s', (_, seen, when, expected) => {
    const s = after(seen, when === 'after' ? done(...planned(seen)) : untouched)
    expect([s.replicas, s.readyReplicas, s.availableReplicas, s.updatedReplicas, s.updatedReadyReplicas, s.updatedAvailableReplicas]).toEqual(expected)
  })

  it('not what it could not adopt', () => {
    const pod = samplePods('a2')[0]!
    expect(after({ pods: samplePods('a1'), adopt: [pod] }, failed({ kind: 'AdoptPod', pod }, conflict({ group: '', resource: 'pods' }, 'a2', 'no')))).toMatchObject({ replicas: 1 })
  })
})

describe('status() tells revisions', () => {
  it.each<[string, SeenOver, Partial<CloneSetStatus>]>([
    ['of a rollout', { set: b(), pods: samplePods('a1 b2') }, { currentRevision: 'web-a', updateRevision: 'web-b', expectedUpdatedReplicas: 5 }],
    ['of one that a partition holds', { set: b({ update: { partition: 4 } }), pods: samplePods('a1 b2') }, { currentRevision: 'web-a', expectedUpdatedReplicas: 1 }],
    ['of one that all pods have, ready or not', { set: b(), pods: samplePods('b1 b2!') }, { currentRevision: 'web-b', updateRevision: 'web-b' }],
    ['of pods that nobody has told of', { set: b({ update: { partition: 4 }, status: { currentRevision: '' } }), pods: samplePods('a1 b2') }, { currentRevision: 'web-a', expectedUpdatedReplicas: 1 }],
    ['of pods of a revision that nobody knows', { set: b({ update: { partition: 4 }, status: { currentRevision: '' } }), pods: samplePods('x1 b2') }, { currentRevision: 'web-b', expectedUpdatedReplicas: 4 }],
    ['where the partition has nothing to keep', { set: b({ update: { partition: 4 } }), pods: samplePods('b1 b2') }, { currentRevision: 'web-b', expectedUpdatedReplicas: 5 }],
  ])('%s', (_, seen, expected) => {
    expect(after(seen)).toMatchObject({ ...expected, desiredReplicas: 5, labelSelector: 'app=web' })
  })
})

const long = '2026-01-01T00:00:00Z'
const now = '2026-01-01T01:00:00Z'
/** A status that was written for what is there, an hour ago. */
const told = (reason: string, over: Partial<CloneSetStatus> = {}, is = 'True'): Partial<CloneSetStatus> => ({
  observedGeneration: 1, updateRevision: 'web-b', currentRevision: 'web-a', desiredReplicas: 5, expectedUpdatedReplicas: 5, replicas: 5, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 4,
  conditions: [{ type: 'Progressing', status: is, reason, message: 'old words', lastUpdateTime: long, lastTransitionTime: long }],
  ...over,
})

describe('status() says Progressing', () => {
  const stuck = samplePods('a1 a2 b3 b4 b5!')
  const justNow = { conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', message: '', lastUpdateTime: '2026-01-01T00:55:00Z', lastTransitionTime: long }] }
  it.each<[string, SetOver, string | ReturnType<typeof samplePods>, string, string]>([
    ['it begins', { status: { conditions: [] } }, stuck, 'True NewRevisionCreated', now],
    ['a new revision begins, however long ago the last one ended', { status: told('NewRevisionAvailable', { updateRevision: 'web-a', updatedReplicas: 5, readyReplicas: 5, availableReplicas: 5 }) }, 'a1 a2 a3 a4 a5', 'True NewRevisionCreated', now],
    ['a new revision ends that the last one was too slow', { status: told('ProgressDeadlineExceeded', { updateRevision: 'web-x' }, 'False') }, stuck, 'True NewRevisionCreated', now],
    ['one more is updated', { status: told('ReplicasUpdated', { updatedReplicas: 2 }) }, stuck, 'True ReplicasUpdated', now],
    ['one more is available', { status: told('ReplicasUpdated', { availableReplicas: 3 }) }, stuck, 'True ReplicasUpdated', now],
    ['one more is available after it was too slow', { status: told('ProgressDeadlineExceeded', { availableReplicas: 3 }, 'False') }, stuck, 'True ReplicasUpdated', now],
    ['it is still too slow', { status: told('ProgressDeadlineExceeded', {}, 'False') }, stuck, 'False ProgressDeadlineExceeded', long],
    ['nothing moves, and there is time', { status: told('', justNow) }, stuck, 'True ReplicasUpdated', '2026-01-01T00:55:00Z'],
    ['nothing has moved for too long', { status: told('ReplicasUpdated') }, stuck, 'False ProgressDeadlineExceeded', long],
    ['nothing has moved for long, and there is no deadline', { status: told('ReplicasUpdated'), spec: { progressDeadlineSeconds: 2_147_483_647 } }, stuck, 'True ReplicasUpdated', long],
    ['it is paused', { status: told('ReplicasUpdated'), update: { paused: true } }, stuck, 'Unknown RolloutPaused', long],
    ['it is paused for long', { status: told('RolloutPaused', {}, 'Unknown'), update: { paused: true } }, stuck, 'Unknown RolloutPaused', long],
    ['it goes on', { status: told('RolloutPaused', {}, 'Unknown') }, stuck, 'Unknown RolloutResumed', now],
    ['it was changed twice while nobody looked', { status: told('ReplicasUpdated'), metadata: { generation: 3 } }, stuck, 'True ReplicasUpdated', now],
    ['it was changed once while nobody looked', { status: told('ReplicasUpdated'), metadata: { generation: 2 } }, stuck, 'False ProgressDeadlineExceeded', long],
    ['it is scaled', { status: told('ReplicasUpdated', { desiredReplicas: 4 }) }, stuck, 'True ReplicasUpdated', now],
    ['another partition', { status: told('PartitionReached', { expectedUpdatedReplicas: 3 }) }, stuck, 'True ReplicasUpdated', now],
    ['the partition is reached', { status: told('ReplicasUpdated', { expectedUpdatedReplicas: 3 }), update: { partition: 2 } }, 'a1 a2 b3 b4 b5', 'True PartitionReached', now],
    ['it is not reached before the updated ones are available', { status: told('ReplicasUpdated', { expectedUpdatedReplicas: 3 }), update: { partition: 2 } }, stuck, 'False ProgressDeadlineExceeded', long],
    ['it is reached whatever the old ones do', { status: told('ReplicasUpdated', { expectedUpdatedReplicas: 3 }), update: { partition: 2 } }, 'a1! a2 b3 b4 b5', 'True PartitionReached', now],
    ['the partition was reached long ago, and a pod has come to harm', { status: told('PartitionReached', { expectedUpdatedReplicas: 3 }), update: { partition: 2 } }, stuck, 'True PartitionReached', long],
    ['all are updated and available', { status: told('ReplicasUpdated') }, 'b1 b2 b3 b4 b5', 'True NewRevisionAvailable', now],
    ['that was so long ago, and a pod has come to harm', { status: told('NewRevisionAvailable', { currentRevision: 'web-b', updatedReplicas: 5 }) }, 'b1 b2 b3 b4 b5!', 'True NewRevisionAvailable', long],
    ['more than wanted are left', { status: told('ReplicasUpdated', { replicas: 6, updatedReplicas: 5, readyReplicas: 6, availableReplicas: 6 }) }, 'a1 b1 b2 b3 b4 b5', 'False ProgressDeadlineExceeded', long],
  ])('%s', (_, over, pods, says, since) => {
    const condition = findCondition(after({ set: b(over), pods: typeof pods === 'string' ? samplePods(pods) : pods }).conditions, 'Progressing')!
    expect([`${condition.status} ${condition.reason}`, condition.lastUpdateTime]).toEqual([says, since])
  })

  it('in words that name the pod, and why', () => {
    const message = (outcome = untouched) => findCondition(after({ set: b({ status: told('ReplicasUpdated') }), pods: stuck }, outcome).conditions, 'Progressing')!.message
    expect(message()).toBe('No progress with revision web-b for 600 seconds. Pod b5 waits for its containers to start, since 2026-01-01T00:00:00Z.')
  })

  it('in words that name a pod which is as it should be, and may not be updated', () => {
    const refusal = failed({ kind: 'RefuseUpdate', pod: samplePods('a1')[0]!, why: 'no' }, new TerminalError('pod a1 cannot be updated in place'))
    const { conditions } = after({ set: b({ status: told('ReplicasUpdated', { updatedReplicas: 4, readyReplicas: 5, availableReplicas: 5 }) }), pods: samplePods('a1 b2 b3 b4 b5') }, refusal)
    const { message, lastTransitionTime: since } = findCondition(conditions, 'FailedUpdate')!
    const sentence = `CloneSet web cannot update a pod: ${message}, since ${since}.`
    expect(message).toBe('pod a1 cannot be updated in place')
    expect(findCondition(conditions, 'Progressing')!.message).toBe(`No progress with revision web-b for 600 seconds. ${sentence}`)
  })

  it('how far a pause has let it come', () => {
    const set = b({ status: told('ReplicasUpdated'), update: { paused: true } })
    expect(findCondition(after({ set, pods: stuck }).conditions, 'Progressing')!.message).toBe('The rollout is paused. 3 of 5 replicas are at revision web-b.')
  })
})

describe('status() says what fails', () => {
  const create: Action = { kind: 'CreatePod', revision: { name: 'web-a', hash: 'a', template: sampleSet().spec.template } }
  const quota = forbiddenError({ group: '', resource: 'pods' }, 'web-x', 'exceeded quota: q')
  const pod = samplePods('a1')[0]!
  const conditionsOf = (outcome: Outcome<Action>, over: SetOver = {}) =>
    (after({ set: sampleSet(over) }, outcome).conditions ?? []).filter(({ type }) => type !== 'Progressing' && type !== 'Available').map(({ type, reason, message }) => `${type} ${reason}: ${message}`)

  it.each<[string, Outcome<Action>, string[]]>([
    ['pods that cannot be made', failed(create, quota), [`ReplicaFailure FailedCreate: ${quota.message}`, `FailedScale FailedCreate: ${quota.message}`]],
    ['pods that cannot be deleted', failed({ kind: 'DeletePod', pod, claims: [] }, new Error('no')), ['ReplicaFailure FailedDelete: no', 'FailedScale FailedDelete: no']],
    ['pods that cannot be changed', failed({ kind: 'UpdateInPlace', pod, patch: {}, revision: 'web-b' }, new Error('no')), ['FailedUpdate FailedUpdate: no']],
    ['pods that may not be changed', failed({ kind: 'RefuseUpdate', pod, why: 'no' }, new Error('no')), ['FailedUpdate FailedUpdate: no']],
    ['not that somebody was faster', failed({ kind: 'UpdateInPlace', pod, patch: {}, revision: 'web-b' }, conflict({ group: '', resource: 'pods' }, 'a1', 'changed')), []],
  ])('%s', (_, outcome, expected) => {
    expect(conditionsOf(outcome)).toEqual(expected)
  })

  it('as long as it does, in the words of the newest refusal, but of the first pod that was refused for it', () => {
    const first = quota.message.replace('web-x', 'web-y')
    const saying = (message: string) => ['ReplicaFailure', 'FailedScale'].map((type) => ({ type, status: 'True', reason: 'FailedCreate', message, lastUpdateTime: long, lastTransitionTime: long }))
    const conditions = saying(first)
    expect(conditionsOf(failed(create, quota), { status: { conditions } })).toEqual([`ReplicaFailure FailedCreate: ${first}`, `FailedScale FailedCreate: ${first}`])
    const other = conditionsOf(failed(create, quota), { status: { conditions: saying('another quota') } })
    expect(other).toEqual([`ReplicaFailure FailedCreate: ${quota.message}`, `FailedScale FailedCreate: ${quota.message}`])
    expect(conditionsOf(untouched, { status: { conditions } })).toEqual([])
  })

  it('as the end of the progress, if it can never be made', () => {
    const never = invalidObject({ group: '', kind: 'Pod' }, 'web-x', [])
    expect(findCondition(after({}, failed(create, never)).conditions, 'Progressing')).toMatchObject({ status: 'False', reason: 'FailedCreate' })
  })
})

it('statusMayWait() for numbers, not for what somebody waits for', () => {
  const before = after({ set: b({ status: told('ReplicasUpdated') }), pods: samplePods('a1 a2 b3 b4 b5!') })
  expect(statusMayWait(before, { ...before, readyReplicas: 1 })).toBe(true)
  expect(statusMayWait(before, { ...before, updateRevision: 'web-c' })).toBe(false)
  expect(statusMayWait(before, after({ set: b({ status: told('ReplicasUpdated') }), pods: samplePods('b1 b2 b3 b4 b5') }))).toBe(false)
})

it.each<[string, SetOver, number | undefined]>([
  ['at the deadline', { status: told('ReplicasUpdated', { conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', lastUpdateTime: '2026-01-01T00:59:00Z' }] }) }, 540_000],
  ['never, if there is none', { status: told('ReplicasUpdated'), spec: { progressDeadlineSeconds: 2_147_483_647 } }, undefined],
  ['never, while it is paused', { status: told('ReplicasUpdated'), update: { paused: true } }, undefined],
])('changesInMs(): %s', (_, over, expected) => {
  const seen = sampleSeen({ set: b(over), pods: samplePods('a1 a2 b3 b4 b5!') })
  expect(changesInMs(seen, status(seen, untouched))).toBe(expected)
})
