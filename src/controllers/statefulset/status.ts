import { deepEqual } from '../../api/deep-equal.ts'
import { firstOf, isWorthNaming } from '../../api/explain/index.ts'
import type { StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition,
  RevisionTakenError,
  deadlineInMs,
  endsProgress,
  isConditionTrue,
  isPodTerminating,
  isUntried,
  podFaultOf,
  refusalOf,
  sayAvailable,
  setTimedCondition,
  staysWhenDeleted,
  whyOf,
  withFault,
  withoutConditions,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { revisionOf } from './identity.ts'
import type { Derived, Observed } from './observe.ts'
import { type Counts, countRevision } from './ordinals.ts'
import { progressOf } from './progress.ts'

/** Computes the status after a step. */
export function status(seen: Derived, outcome: Outcome<Action>): StatefulSetStatus {
  const { set } = seen
  const counts = countAfter(seen, outcome.done)
  const { current, update } = seen.revisions
  const isTaken = outcome.failed.some(({ error }) => error instanceof RevisionTakenError)
  const next: StatefulSetStatus = {
    ...counts,
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: (set.status.collisionCount ?? 0) + (isTaken ? 1 : 0),
    ...foreign(set.status),
  }
  const finished = isRolledOut(set, counts)
    ? { ...next, currentRevision: update.name, currentReplicas: counts.updatedReplicas }
    : next
  if (!seen.hasConditions) return finished
  return {
    ...finished,
    desiredReplicas: seen.ordinals.wanted,
    expectedUpdatedReplicas: seen.expectedUpdated,
    conditions: conditionsOf(seen, counts, outcome),
  }
}

/**
 * Changes of numbers and messages may wait for the next pod. Changes that users wait for, or that plans depend on, may
 * not. A missing replica may wait, because a rollout usually replaces it soon.
 */
export function statusMayWait(before: StatefulSetStatus, after: StatefulSetStatus): boolean {
  if (isConditionTrue(after.conditions, 'Available') && !isConditionTrue(before.conditions, 'Available')) return false
  const gist = ({
    currentRevision,
    updateRevision,
    collisionCount = 0,
    conditions,
    desiredReplicas,
    expectedUpdatedReplicas,
  }: StatefulSetStatus) => ({
    state: [currentRevision, updateRevision, collisionCount, desiredReplicas, expectedUpdatedReplicas],
    conditions: conditions?.flatMap(({ type, status, reason }) =>
      type === 'Available' ? [] : [[type, status, reason]],
    ),
  })
  return deepEqual(gist(before), gist(after))
}

/** The conditions that only this controller writes. */
const ownConditions = ['Progressing', 'Available', 'ReplicaFailure']

/** Conditions of others are kept. Ours are removed with the feature gate, because they would become false. */
function foreign({ conditions }: StatefulSetStatus): Partial<StatefulSetStatus> {
  const others = withoutConditions(conditions, ownConditions)
  return others.length > 0 ? { conditions: others } : {}
}

/** The numbers once the caches contain the created and deleted pods, so that the status does not change again then. */
function countAfter(
  { ordinals: { counts }, revisions: { current, update } }: Derived,
  done: readonly Action[],
): Counts {
  const after = { ...counts }
  const names = { current: current.name, update: update.name }
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      countRevision(after, names, revisionOf(action.pod), 1)
    } else if (action.kind === 'DeletePod' && !isPodTerminating(action.pod)) {
      if (!staysWhenDeleted(action.pod)) after.replicas--
      countRevision(after, names, revisionOf(action.pod), -1)
    }
  }
  return after
}

/** All pods are updated and ready: the update revision becomes the current one. */
function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: Counts): boolean {
  const wanted = spec.replicas ?? 1
  return (
    spec.updateStrategy.type === 'RollingUpdate' &&
    updatedReplicas === wanted &&
    readyReplicas === wanted &&
    replicas === wanted
  )
}

function conditionsOf(seen: Derived, counts: Counts, { done, wait, ...outcome }: Outcome<Action>): Condition[] {
  const { nowMs, set } = seen
  const { replicas = 1 } = set.spec
  const fault = podFaultOf(outcome)
  const about = { kind: 'StatefulSet', object: set, wait }
  const worst = seen.ordinals.causes.peek()
  const made = done.flatMap((action) => (action.kind === 'CreatePod' ? [action.pod.metadata.name!] : []))
  const isMissing = counts.replicas < replicas && !fault
  // A pod in trouble is why the next one is not created. A pod that merely starts does not change the recorded
  // rejection.
  const isRefused =
    isMissing && isUntried(set.status.conditions, made) && !isWorthNaming(firstOf(about, worst, undefined))
  const tell = (conditions: readonly Condition[]) => (isRefused ? [...conditions] : withFault(conditions, fault, nowMs))
  const why = whyOf(firstOf({ ...about, refusal: refusalOf(tell(set.status.conditions ?? [])) }, worst, undefined))
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = setTimedCondition(
    progressOf(seen, counts, { done, why, failed }),
    sayAvailable(counts.availableReplicas, replicas, why),
    nowMs,
  )
  return tell(available)
}

/** The time until the deadline passes, which changes the status without an event. */
export const changesInMs = (
  { set: { spec }, nowMs, hasConditions }: Observed,
  { conditions }: StatefulSetStatus,
): number | undefined => (hasConditions ? deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs) : undefined)
