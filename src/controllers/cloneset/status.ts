import { deepEqual } from '../../api/deep-equal.ts'
import type { CloneSetCondition, CloneSetStatus } from '../../api/generated/types.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import type { Outcome } from '../kit/index.ts'
import { firstOf } from '../../api/explain/index.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Condition, RevisionTakenError, deadlineInMs, endsProgress, findCondition, isConditionTrue, isFault, podFaultOf, refusalOf,
  removeCondition, sameWords, sayAvailable, setTimedCondition, whyOf, withFault,
} from '../kit/workload/index.ts'
import type { Action } from './actions.ts'
import { type Counts, countAfter } from './counts.ts'
import { type Look, lookAt, wakesInMs } from './look.ts'
import type { Observed } from './observe.ts'
import { currentAfter, expectedUpdated, progressOf } from './progress.ts'

/** The status that is true after a step. */
export function status(seen: Observed, outcome: Outcome<Action>): CloneSetStatus {
  const look = lookAt(seen)
  const { set } = seen
  const counts = countAfter(look, outcome)
  const current = currentAfter(look, counts)
  const isTaken = outcome.failed.some(({ error }) => error instanceof RevisionTakenError)
  return {
    ...counts,
    currentRevision: current.name,
    updateRevision: look.revisions.update.name,
    collisionCount: (set.status.collisionCount ?? 0) + (isTaken ? 1 : 0),
    expectedUpdatedReplicas: expectedUpdated(look, counts, current),
    desiredReplicas: look.bounds.replicas,
    labelSelector: labelSelectorText(set.spec.selector),
    conditions: conditionsOf(look, counts, outcome) as CloneSetCondition[],
  }
}

/** Numbers and words may wait for the next pod; what somebody waits for, and what plans go by, may not. */
export function statusMayWait(before: CloneSetStatus, after: CloneSetStatus): boolean {
  if (isConditionTrue(after.conditions, 'Available') && !isConditionTrue(before.conditions, 'Available')) return false
  const gist = ({ currentRevision, updateRevision, collisionCount = 0, conditions, desiredReplicas, expectedUpdatedReplicas = 0 }: CloneSetStatus) => ({
    state: [currentRevision, updateRevision, collisionCount, desiredReplicas, expectedUpdatedReplicas],
    conditions: conditions?.flatMap(({ type, status: is, reason }) => (type === 'Available' ? [] : [[type, is, reason]])),
  })
  return deepEqual(gist(before), gist(after))
}

function conditionsOf(look: Look, counts: Counts, outcome: Outcome<Action>): Condition[] {
  const { seen: { set, members: { causes }, nowMs }, bounds } = look
  const fault = podFaultOf(outcome)
  const updateFailure = updateFailureOf(set.status.conditions, outcome)
  const refusal = refusalOf(withFailedUpdate(withFault(set.status.conditions, fault, nowMs), updateFailure, nowMs))
  const about = { kind: 'CloneSet', object: set, refusal, wait: outcome.wait }
  const cause = firstOf(about, causes.staying.peek(), causes.going.peek())
  const why = whyOf(cause)
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = sayAvailable(counts.availableReplicas, bounds.replicas, bounds.replicas, why)
  const told = withFault(setTimedCondition(progressOf(look, counts, outcome.done, why, failed), available, nowMs), fault, nowMs)
  return withFailedUpdate(withFailedScale(told, nowMs), updateFailure, nowMs)
}

/**
 * The time after which a status says something else by itself: its deadline passes, a pod becomes available, or one
 * that is being deleted is late.
 */
export function changesInMs(seen: Observed, { conditions }: CloneSetStatus): number | undefined {
  return soonest(deadlineInMs(conditions, seen.set.spec.progressDeadlineSeconds, seen.nowMs), wakesInMs(seen))
}

/** What OpenKruise's clients know ReplicaFailure by. */
function withFailedScale(conditions: Condition[], nowMs: number): Condition[] {
  const failure = findCondition(conditions, 'ReplicaFailure')
  if (!failure) return removeCondition(conditions, 'FailedScale')
  return setTimedCondition(conditions, { type: 'FailedScale', status: 'True', reason: failure.reason ?? '', message: failure.message ?? '' }, nowMs)
}

const updateKinds: readonly Action['kind'][] = ['UpdateInPlace', 'PatchLifecycle', 'RefuseUpdate']

/** Why pods could not be changed. */
function updateFailureOf(conditions: readonly Condition[] | undefined, { failed }: Outcome<Action>): string | undefined {
  const fault = failed.find(({ action, error }) => updateKinds.includes(action.kind) && isFault(error))
  return fault && sameWords(findCondition(conditions, 'FailedUpdate')?.message, fault.error.message)
}

function withFailedUpdate(conditions: Condition[], message: string | undefined, nowMs: number): Condition[] {
  if (message === undefined) return removeCondition(conditions, 'FailedUpdate')
  return setTimedCondition(conditions, { type: 'FailedUpdate', status: 'True', reason: 'FailedUpdate', message }, nowMs)
}
