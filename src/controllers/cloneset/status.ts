import { deepEqual } from '../../api/deep-equal.ts'
import { firstOf } from '../../api/explain/index.ts'
import type { CloneSetCondition, CloneSetStatus } from '../../api/generated/types.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition,
  RevisionTakenError,
  deadlineInMs,
  endsProgress,
  findCondition,
  isConditionTrue,
  isFault,
  podFaultOf,
  refusalOf,
  removeCondition,
  sameWords,
  sayAvailable,
  setTimedCondition,
  whyOf,
  withFault,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Derived, wakesInMs } from './derive.ts'
import { type Counts, countIn, countService } from './members.ts'
import type { Observed } from './observe.ts'
import { currentAfter, expectedUpdated, progressOf } from './progress.ts'

/** Computes the status after a step. */
export function status(seen: Derived, outcome: Outcome<Action>): CloneSetStatus {
  const { set } = seen
  const counts = countAfter(seen, outcome)
  const current = currentAfter(seen, counts)
  const isTaken = outcome.failed.some(({ error }) => error instanceof RevisionTakenError)
  return {
    ...counts,
    currentRevision: current.name,
    updateRevision: seen.revisions.update.name,
    collisionCount: (set.status.collisionCount ?? 0) + (isTaken ? 1 : 0),
    expectedUpdatedReplicas: expectedUpdated(seen, counts, current),
    desiredReplicas: seen.bounds.replicas,
    labelSelector: labelSelectorText(set.spec.selector),
    conditions: conditionsOf(seen, counts, outcome) as CloneSetCondition[],
  }
}

/**
 * Changes of numbers and messages may wait for the next pod. Changes that users wait for, or that plans depend on, may
 * not.
 */
export function statusMayWait(before: CloneSetStatus, after: CloneSetStatus): boolean {
  if (isConditionTrue(after.conditions, 'Available') && !isConditionTrue(before.conditions, 'Available')) return false
  const gist = ({
    currentRevision,
    updateRevision,
    collisionCount = 0,
    conditions,
    desiredReplicas,
    expectedUpdatedReplicas = 0,
  }: CloneSetStatus) => ({
    state: [currentRevision, updateRevision, collisionCount, desiredReplicas, expectedUpdatedReplicas],
    conditions: conditions?.flatMap(({ type, status: is, reason }) =>
      type === 'Available' ? [] : [[type, is, reason]],
    ),
  })
  return deepEqual(gist(before), gist(after))
}

function conditionsOf(seen: Derived, counts: Counts, outcome: Outcome<Action>): Condition[] {
  const {
    set,
    members: { causes },
    nowMs,
    bounds,
  } = seen
  const fault = podFaultOf(outcome)
  const updateFailure = updateFailureOf(set.status.conditions, outcome)
  const refusal = refusalOf(withFailedUpdate(withFault(set.status.conditions, fault, nowMs), updateFailure, nowMs))
  const about = { kind: 'CloneSet', object: set, refusal, wait: outcome.wait }
  const cause = firstOf(about, causes.staying.peek(), causes.going.peek())
  const why = whyOf(cause)
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = sayAvailable(counts.availableReplicas, bounds.replicas, why)
  const told = withFault(
    setTimedCondition(progressOf(seen, counts, { done: outcome.done, why, failed }), available, nowMs),
    fault,
    nowMs,
  )
  return withFailedUpdate(withFailedScale(told, nowMs), updateFailure, nowMs)
}

/**
 * The time after which the status changes without an event: the deadline passes, a pod becomes available, or a
 * terminating pod is late.
 */
export function changesInMs(seen: Observed, { conditions }: CloneSetStatus): number | undefined {
  return soonest(deadlineInMs(conditions, seen.set.spec.progressDeadlineSeconds, seen.nowMs), wakesInMs(seen))
}

/** OpenKruise's name for ReplicaFailure. */
function withFailedScale(conditions: Condition[], nowMs: number): Condition[] {
  const failure = findCondition(conditions, 'ReplicaFailure')
  if (!failure) return removeCondition(conditions, 'FailedScale')
  return setTimedCondition(
    conditions,
    {
      type: 'FailedScale',
      status: 'True',
      reason: failure.reason ?? '',
      message: failure.message ?? '',
    },
    nowMs,
  )
}

const updateKinds: readonly Action['kind'][] = ['UpdateInPlace', 'PatchLifecycle', 'RefuseUpdate']

/** The message for pods that could not be changed. */
function updateFailureOf(
  conditions: readonly Condition[] | undefined,
  { failed }: Outcome<Action>,
): string | undefined {
  const fault = failed.find(({ action, error }) => updateKinds.includes(action.kind) && isFault(error))
  return fault && sameWords(findCondition(conditions, 'FailedUpdate')?.message, fault.error.message)
}

function withFailedUpdate(conditions: Condition[], message: string | undefined, nowMs: number): Condition[] {
  if (message === undefined) return removeCondition(conditions, 'FailedUpdate')
  return setTimedCondition(conditions, { type: 'FailedUpdate', status: 'True', reason: 'FailedUpdate', message }, nowMs)
}

/** The numbers once the caches contain the actions of the step, so that the status does not change again then. */
function countAfter(seen: Derived, { done, failed }: Pick<Outcome<Action>, 'done' | 'failed'>): Counts {
  const { members, counts, revisions } = seen
  const after = { ...counts }
  const { hash } = revisions.update
  const lose = (name: string): void => {
    const active = members.get(name)
    if (active) countIn(after, active, -1)
  }
  for (const { action } of failed) if (action.kind === 'AdoptPod') lose(action.pod.metadata.name!)
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      if (action.revision.hash === hash) after.updatedReplicas++
    } else if (action.kind === 'DeletePod') lose(action.pod.metadata.name!)
    else if (action.kind === 'UpdateInPlace') {
      const active = members.get(action.pod.metadata.name!)
      if (!active) continue
      after.updatedReplicas++
      // The pod serves again when its state shows it.
      countService(after, { ...active, isUpdated: false }, -1)
    }
  }
  return after
}
