import { describe, expect, it } from 'vitest'
import { ApiError, alreadyExists } from '../../api/errors.ts'
import { causeOfPod } from '../../api/explain/index.ts'
import type { Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { findCondition } from '../kit/workload/index.ts'
import { type Action, HashCollision } from './apply.ts'
import { plan } from './plan.ts'
import { draftOf, revisionAnnotation, revisionHistoryAnnotation } from './replica-sets.ts'
import { deployment, nowMs, observed, replicaSet } from './sample.ts'
import { annotations, changesInMs, status as statusOf } from './status.ts'

const nothing: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
const done = (seen: ReturnType<typeof observed>): Outcome<Action> => ({ ...nothing, done: plan(seen).actions })
const refused = (seen: ReturnType<typeof observed>, error: Error): Outcome<Action> => ({ ...nothing, failed: [{ action: plan(seen).actions[0]!, error }] })
const at = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000', '')
const progressing = (reason: string, over: object = {}) => ({
  type: 'Progressing',
  status: 'True',
  reason,
  message: 'm',
  lastUpdateTime: at(20),
  lastTransitionTime: at(40),
  ...over,
})
const deadline = { progressDeadlineSeconds: 60 }
const told = { metadata: { annotations: { [revisionAnnotation]: '9' } } }

describe('status() counts', () => {
  it('what ReplicaSets tell', () => {
    const old = replicaSet(1, { replicas: 4, available: 3, status: { readyReplicas: 4, terminatingReplicas: 2 } })
    const seen = observed({ sets: [old, replicaSet(9, { replicas: 6, available: 2, status: { replicas: 5, readyReplicas: 3, terminatingReplicas: 1 } })] })
    expect(statusOf(seen, nothing)).toMatchObject({
      observedGeneration: 3,
      replicas: 9,
      updatedReplicas: 5,
      readyReplicas: 7,
      availableReplicas: 5,
      unavailableReplicas: 5,
      terminatingReplicas: 3,
    })
  })

  it('pods as missing that a ReplicaSet was just told to have', () => {
    const first = observed()
    expect(statusOf(first, done(first))).toMatchObject({ replicas: 0, unavailableReplicas: 10 })
    const second = observed({ sets: [replicaSet(1, { replicas: 10, available: 10, desired: 10, max: 13 })] })
    expect(statusOf(second, done(second))).toMatchObject({ replicas: 10, updatedReplicas: 0, unavailableReplicas: 3 })
  })

  it('no more available than there are', () => {
    expect(statusOf(observed({ sets: [replicaSet(9, { replicas: 2, available: 5 })] }), nothing).unavailableReplicas).toBe(0)
  })

  it.each<[string, object, number | undefined]>([
    ['none of one that nobody has looked at', { terminatingReplicas: undefined, observedGeneration: undefined }, 0],
    ['nothing if one does not tell', { terminatingReplicas: undefined }, undefined],
  ])('terminating pods: %s', (_, status, expected) => {
    expect(statusOf(observed({ sets: [replicaSet(1), replicaSet(9, { status })] }), nothing).terminatingReplicas).toBe(expected)
  })

  it('collisions, and only those', () => {
    const seen = observed({ deployment: deployment({}, { status: { collisionCount: 2 } }) })
    expect(statusOf(seen, refused(seen, new HashCollision('web-x'))).collisionCount).toBe(3)
    expect(statusOf(seen, refused(seen, alreadyExists({ group: '', resource: 'x' }, 'x'))).collisionCount).toBe(2)
    expect(statusOf(observed(), nothing)).not.toHaveProperty('collisionCount')
  })
})

describe('Available', () => {
  it.each<[number, number, number, string]>([
    // replicas, may be missing, available
    [10, 2, 8, 'True MinimumReplicasAvailable'],
    [10, 2, 7, 'False MinimumReplicasUnavailable'],
    [0, 2, 0, 'True MinimumReplicasAvailable'],
    [1, 1, 0, 'True MinimumReplicasAvailable'],
  ])('%s wanted, %s may be missing, %s available', (replicas, maxUnavailable, available, expected) => {
    const d = deployment({ replicas, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable } } })
    const { conditions } = statusOf(observed({ deployment: d, sets: [replicaSet(9, { replicas: available, available })] }), nothing)
    const { status, reason, lastUpdateTime } = findCondition(conditions, 'Available')!
    expect(`${status} ${reason}`).toBe(expected)
    expect(lastUpdateTime).toBe(at(0))
  })
})

describe('Progressing', () => {
  const words = (seen: ReturnType<typeof observed>, outcome = nothing) => {
    const c = findCondition(statusOf(seen, outcome).conditions, 'Progressing')
    return c ? `${c.status} ${c.reason}: ${c.message}` : 'none'
  }
  const half = replicaSet(9, { replicas: 10, available: 5 })
  const all = replicaSet(9, { replicas: 10, available: 10 })
  const atHalf = { replicas: 10, updatedReplicas: 10, readyReplicas: 5, availableReplicas: 5 }
  const of = (spec: object, status: object, metadata: object = told.metadata) => deployment({ ...deadline, ...spec }, { status, metadata })

  it('begins with the new ReplicaSet', () => {
    const seen = observed({ deployment: of({}, {}) })
    expect(words(seen, done(seen))).toMatch(/^True NewReplicaSetCreated: Created new replica set "web-[a-z0-9]+"$/)
  })

  const settled = { ...atHalf, conditions: [progressing('NewReplicaSetAvailable')] }
  const toldOf = (revision: string) => of({}, settled, { annotations: { [revisionAnnotation]: revision } })

  it.each<[string, ReturnType<typeof deployment>, ReturnType<typeof replicaSet>, string]>([
    ['with one that was there', of({}, {}), half, 'True FoundNewReplicaSet: Found new replica set "web-9"'],
    ['with one that was there and does not move', of({}, atHalf), half, 'True FoundNewReplicaSet: Found new replica set "web-9"'],
    ['anew with one that nobody has told of', of({}, { ...atHalf, conditions: [progressing('NewReplicaSetAvailable')] }, { annotations: { [revisionAnnotation]: '8' } }), half,
      'True FoundNewReplicaSet: Found new replica set "web-9"'],
    ['anew with one whose number is higher in the last digit', toldOf('3546343826724305832'),
      replicaSet(9, { replicas: 10, available: 5, annotations: { [revisionAnnotation]: '3546343826724305833' } }),
      'True FoundNewReplicaSet: Found new replica set "web-9"'],
    ['not where the number that was told cannot be read', toldOf('x'), half, 'True NewReplicaSetAvailable: m'],
    ['not with one that is gone back to, before something moves', of({}, { ...atHalf, conditions: [progressing('NewReplicaSetAvailable')] }, { annotations: { [revisionAnnotation]: '8' } }),
      replicaSet(9, { replicas: 10, available: 5, annotations: { [revisionHistoryAnnotation]: '7' } }), 'True NewReplicaSetAvailable: m'],
    ['moves', of({}, { ...atHalf, readyReplicas: 4, conditions: [progressing('NewReplicaSetCreated')] }), half, 'True ReplicaSetUpdated: ReplicaSet "web-9" is progressing.'],
    ['rests', of({}, { ...atHalf, conditions: [progressing('NewReplicaSetCreated')] }), half, 'True NewReplicaSetCreated: Created new replica set "web-9"'],
    ['completes', of({}, { ...atHalf, conditions: [progressing('ReplicaSetUpdated')] }), all, 'True NewReplicaSetAvailable: ReplicaSet "web-9" has successfully progressed.'],
    ['stays complete though pods are lost', of({}, { ...atHalf, availableReplicas: 10, conditions: [progressing('NewReplicaSetAvailable')] }), half, 'True NewReplicaSetAvailable: m'],
    ['is not there without a deadline', of({ progressDeadlineSeconds: 2147483647 }, { conditions: [progressing('ReplicaSetUpdated')] }), half, 'none'],
    ['is unknown while paused', of({ paused: true }, { ...atHalf, conditions: [progressing('ReplicaSetUpdated')] }), half, 'Unknown DeploymentPaused: Deployment is paused'],
    ['was out of time before it was paused', of({ paused: true }, { conditions: [progressing('ProgressDeadlineExceeded', { status: 'False' })] }), half, 'False ProgressDeadlineExceeded: m'],
    ['is resumed', of({}, { ...atHalf, conditions: [progressing('DeploymentPaused', { status: 'Unknown' })] }), half, 'Unknown DeploymentResumed: Deployment is resumed'],
    ['is resumed and complete', of({}, { conditions: [progressing('DeploymentPaused', { status: 'Unknown' })] }), all, 'True NewReplicaSetAvailable: ReplicaSet "web-9" has successfully progressed.'],
    ['is out of time', of({}, { ...atHalf, conditions: [progressing('ReplicaSetUpdated', { lastUpdateTime: at(60) })] }), half, 'False ProgressDeadlineExceeded: ReplicaSet "web-9" has timed out progressing.'],
    ['is left alone while the Deployment goes', of({}, { conditions: [progressing('ReplicaSetUpdated', { lastUpdateTime: at(60) })] }, { deletionTimestamp: at(0) }), half, 'True ReplicaSetUpdated: m'],
  ])('%s', (_, d, set, expected) => {
    expect(words(observed({ deployment: d, sets: [set] }))).toBe(expected)
  })

  it('begins anew when pods of a completed rollout give way to others', () => {
    const before = { replicas: 10, updatedReplicas: 0, conditions: [progressing('NewReplicaSetAvailable')] }
    const sets = [replicaSet(1, { replicas: 8 }), replicaSet(9, { replicas: 3 })]
    expect(words(observed({ deployment: of({}, before), sets }))).toBe('True ReplicaSetUpdated: ReplicaSet "web-9" is progressing.')
  })

  it('starts its clock with every new ReplicaSet', () => {
    const seen = observed({ deployment: of({}, { conditions: [progressing('NewReplicaSetCreated')] }) })
    expect(findCondition(statusOf(seen, done(seen)).conditions, 'Progressing')!.lastUpdateTime).toBe(at(0))
  })

  it.each<[string, object, string]>([
    ['begins anew with a scale', { desiredReplicas: 9 }, 'True ReplicaSetUpdated'],
    ['begins anew with another template', { revision: 'web-8' }, 'True ReplicaSetUpdated'],
    ['is out of time otherwise', {}, 'False ProgressDeadlineExceeded'],
  ])('without a ReplicaSet of its template, %s', (_, over, expected) => {
    const template = draftOf(deployment(), 0, {}).metadata.name
    const exceeded = { status: 'False', lastUpdateTime: at(90), progress: { revision: template, desiredReplicas: 10, ...over } }
    const before = { conditions: [progressing('ProgressDeadlineExceeded', exceeded)] }
    const sets = [replicaSet(1, { replicas: 8 })]
    expect(words(observed({ deployment: of({ strategy: { type: 'Recreate' } }, before), sets }))).toContain(expected)
  })

  it('starts its clock with a resume, and with progress only', () => {
    const clock = (status: object, set = half) => findCondition(statusOf(observed({ deployment: of({}, status), sets: [set] }), nothing).conditions, 'Progressing')!.lastUpdateTime
    expect(clock({ ...atHalf, conditions: [progressing('DeploymentPaused', { status: 'Unknown' })] })).toBe(at(0))
    expect(clock({ ...atHalf, conditions: [progressing('ReplicaSetUpdated')] })).toBe(at(20))
    expect(clock({ ...atHalf, conditions: [progressing('ReplicaSetUpdated')] }, replicaSet(9, { replicas: 10, available: 6 }))).toBe(at(0))
  })

  it('names the pod that it waited for', () => {
    const pod = { metadata: { name: 'web-9-x' }, spec: { nodeName: 'n' }, status: { containerStatuses: [{ name: 'main', state: { waiting: { reason: 'ErrImagePull' } } }] } } as unknown as Pod
    const d = of({}, { ...atHalf, conditions: [progressing('ReplicaSetUpdated', { lastUpdateTime: at(60) })] })
    expect(words(observed({ deployment: d, sets: [half], newCauses: { staying: causeOfPod(pod, { nowMs }), going: undefined, changesAtMs: undefined } }))).toContain('has timed out progressing. Pod web-9-x cannot pull image "" for container "main".')
  })

  it('names what kept the ReplicaSet from making pods', () => {
    const set = replicaSet(9, { replicas: 10, available: 5, status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: q' }] } })
    const d = of({}, { ...atHalf, conditions: [progressing('ReplicaSetUpdated', { lastUpdateTime: at(60) })] })
    expect(words(observed({ deployment: d, sets: [set] }))).toBe('False ProgressDeadlineExceeded: ReplicaSet "web-9" has timed out progressing. Deployment web cannot create a pod: exceeded quota: q.')
  })

  it('says why there is no new ReplicaSet', () => {
    const seen = observed({ deployment: of({}, {}) })
    expect(words(seen, refused(seen, new ApiError(403, 'Forbidden', 'exceeded quota')))).toMatch(/^False ReplicaSetCreateError: Failed to create new replica set "web-[a-z0-9]+": exceeded quota$/)
    expect(words(seen, refused(seen, new HashCollision('web-x')))).toBe('none')
  })
})

describe('ReplicaFailure', () => {
  const failing = (message: string) => ({ conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message, lastTransitionTime: at(5) }] })
  it.each<[string, ReturnType<typeof replicaSet>[], string | undefined]>([
    ['of none', [replicaSet(1), replicaSet(9)], undefined],
    ['of an old one', [replicaSet(1, { status: failing('old') }), replicaSet(9)], 'old'],
    ['of the new one first', [replicaSet(1, { status: failing('old') }), replicaSet(9, { status: failing('new') })], 'new'],
  ])('%s', (_, sets, expected) => {
    const before = { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'before' }] }
    const condition = findCondition(statusOf(observed({ deployment: deployment({}, { status: before }), sets }), nothing).conditions, 'ReplicaFailure')
    expect(condition?.message).toBe(expected)
    if (expected) expect(condition?.lastTransitionTime).toBe(at(5))
  })
})

describe('annotations() tells the revision', () => {
  it.each<[string, ReturnType<typeof observed>, string | undefined]>([
    ['of the ReplicaSet that was just made', observed({ sets: [replicaSet(4)] }), '5'],
    ['of one that is there', observed({ sets: [replicaSet(9)] }), '9'],
    ['of one that is gone back to', observed({ sets: [replicaSet(4), replicaSet(9, { annotations: { [revisionAnnotation]: '2' } })] }), '5'],
    ['of none while a Recreate waits', observed({ deployment: deployment({ strategy: { type: 'Recreate' } }), sets: [replicaSet(4, { replicas: 3 })] }), undefined],
  ])('%s', (_, seen, expected) => {
    expect(annotations(seen, done(seen))[revisionAnnotation]).toBe(expected)
  })
})

describe('changesInMs() is the deadline', () => {
  const moving = (over: object = {}) => ({
    conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', lastUpdateTime: at(20), ...over }],
  })
  it.each<[string, object, object, number | undefined]>([
    ['of a rollout', { progressDeadlineSeconds: 60 }, moving(), 40_000],
    ['not of one that is complete', { progressDeadlineSeconds: 60 }, moving({ reason: 'NewReplicaSetAvailable' }), undefined],
    ['not of one that is out of time', { progressDeadlineSeconds: 10 }, moving({ status: 'False', reason: 'ProgressDeadlineExceeded' }), undefined],
    ['of one that has more time now', { progressDeadlineSeconds: 60 }, moving({ status: 'False', reason: 'ProgressDeadlineExceeded' }), 40_000],
    ['not of one that is paused', { progressDeadlineSeconds: 60, paused: true }, moving(), undefined],
    ['of one that was resumed', { progressDeadlineSeconds: 60 }, moving({ status: 'Unknown', reason: 'DeploymentResumed' }), 40_000],
    ['not without one', { progressDeadlineSeconds: 2147483647 }, moving(), undefined],
    ['of one that begins', { progressDeadlineSeconds: 60 }, {}, 60_000],
  ])('%s', (_, spec, status, expected) => {
    const set = replicaSet(9, { replicas: 10, available: 5 })
    const seen = observed({ deployment: deployment(spec, { status: { replicas: 10, updatedReplicas: 10, readyReplicas: 5, availableReplicas: 5, ...status }, ...told }), sets: [set] })
    expect(changesInMs(seen, statusOf(seen, nothing))).toBe(expected)
  })
})
