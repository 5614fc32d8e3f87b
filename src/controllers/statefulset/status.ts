import { deepEqual } from '../../api/deep-equal.ts'
import type { Pod, StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { firstCause } from '../../api/explain/index.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Condition, RevisionTakenError, deadlineInMs, endsProgress, isConditionTrue, podFaultOf, refusalOf, sayAvailable, setTimedCondition, untilLateMs, whyOf,
  withFault, withoutConditions,
} from '../kit/workload/index.ts'
import { type Counts, countAfter } from './counts.ts'
import { ordinalOf, revisionOf, startOrdinal } from './identity.ts'
import { type Look, lookAt } from './look.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { expectedUpdated, progressOf } from './progress.ts'

/** The status that is true now. */
export function status(seen: Observed, outcome: Outcome<Action>): StatefulSetStatus {
  const look = lookAt(seen)
  const { set } = seen
  const counts = countAfter(look, outcome.done)
  const { current, update } = look.revisions
  const isTaken = outcome.failed.some(({ error }) => error instanceof RevisionTakenError)
  const next: StatefulSetStatus = {
    ...counts,
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: (set.status.collisionCount ?? 0) + (isTaken ? 1 : 0),
    ...foreign(set.status),
  }
  const finished = isRolledOut(set, counts) ? { ...next, currentRevision: update.name, currentReplicas: counts.updatedReplicas } : next
  if (!seen.hasConditions) return finished
  return { ...finished, desiredReplicas: look.replicas.length, expectedUpdatedReplicas: expectedUpdated(look), conditions: conditionsOf(look, counts, outcome) }
}

/**
 * Numbers and words may wait for the next pod; what somebody waits for, and what plans go by, may not. That a replica is missing may, too: in a rollout it is
 * back soon, most often.
 */
export function statusMayWait(before: StatefulSetStatus, after: StatefulSetStatus): boolean {
  if (isConditionTrue(after.conditions, 'Available') && !isConditionTrue(before.conditions, 'Available')) return false
  const gist = ({ currentRevision, updateRevision, collisionCount = 0, conditions, desiredReplicas, expectedUpdatedReplicas }: StatefulSetStatus) => ({
    state: [currentRevision, updateRevision, collisionCount, desiredReplicas, expectedUpdatedReplicas],
    conditions: conditions?.flatMap(({ type, status, reason }) => (type === 'Available' ? [] : [[type, status, reason]])),
  })
  return deepEqual(gist(before), gist(after))
}

/** The conditions that this controller writes, and nobody else. */
const ownConditions = ['Progressing', 'Available', 'ReplicaFailure']

/** Others' conditions stay. Ours go with the gate: one that nobody keeps up would lie. */
function foreign({ conditions }: StatefulSetStatus): Partial<StatefulSetStatus> {
  const others = withoutConditions(conditions, ownConditions)
  return others.length > 0 ? { conditions: others } : {}
}

/** All are of the new revision and ready: it is the current one from now on. */
function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: Counts): boolean {
  const wanted = spec.replicas ?? 1
  return spec.updateStrategy.type === 'RollingUpdate' && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
}

function conditionsOf(look: Look, counts: Counts, { done, wait, ...outcome }: Outcome<Action>): Condition[] {
  const { nowMs, set, members, claims, nodeOf } = look.seen
  const { replicas = 1, minReadySeconds = 0 } = set.spec
  const fault = podFaultOf(outcome)
  const stored = withFault(set.status.conditions, fault, nowMs)
  const { cause } = firstCause({
    kind: 'StatefulSet',
    object: set,
    pods: members.flatMap(({ pod, isUnavailable }) => (isUnavailable ? [pod] : [])),
    around: { nowMs, minReadySeconds, claimOf: (name) => claims.get(name), nodeOf },
    refusal: refusalOf(stored),
    isUpdated: (pod) => revisionOf(pod) === look.revisions.update.name || isKept(look, pod),
    wait,
  })
  const why = whyOf(cause)
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = setTimedCondition(progressOf(look, counts, done, why, failed), sayAvailable(counts.availableReplicas, replicas, replicas, why), nowMs)
  return withFault(available, fault, nowMs)
}

/** Whether the partition keeps a pod at the revision that it has. */
const isKept = ({ seen: { set }, partition }: Look, { metadata: { name = '' } }: Pod): boolean =>
  (ordinalOf(set, name) ?? Infinity) < startOrdinal(set) + partition

/**
 * The time after which a status says something else by itself: its deadline passes, or a pod that is being deleted is
 * late.
 */
export function changesInMs({ set: { spec }, members, nowMs, hasConditions }: Observed, { conditions }: StatefulSetStatus): number | undefined {
  if (!hasConditions) return undefined
  const going = members.flatMap(({ pod, isTerminating }) => (isTerminating ? [pod] : []))
  return soonest(deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs), untilLateMs(going, nowMs))
}
