import { deepEqual } from '../../api/deep-equal.ts'
import type { StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { type Condition, RevisionTakenError, findCondition, isConditionTrue, podFaultOf, sayAvailable, setTimedCondition, whyOf, withFault } from '../kit/workload/index.ts'
import { type Counts, countAfter } from './counts.ts'
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
    ...saidBefore(set.status),
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

/** What only the conditions are for: as it was, where they are not computed. */
function saidBefore({ conditions, desiredReplicas, expectedUpdatedReplicas }: StatefulSetStatus): Partial<StatefulSetStatus> {
  return {
    ...(conditions ? { conditions } : {}),
    ...(desiredReplicas === undefined ? {} : { desiredReplicas }),
    ...(expectedUpdatedReplicas === undefined ? {} : { expectedUpdatedReplicas }),
  }
}

/** All are of the new revision and ready: it is the current one from now on. */
function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: Counts): boolean {
  const wanted = spec.replicas ?? 1
  return spec.updateStrategy.type === 'RollingUpdate' && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
}

function conditionsOf(look: Look, counts: Counts, outcome: Outcome<Action>): Condition[] {
  const { nowMs, set } = look.seen
  const { replicas = 1 } = set.spec
  const fault = podFaultOf(outcome)
  const failure = findCondition(withFault(set.status.conditions, fault, nowMs), 'ReplicaFailure')?.message
  const late = look.seen.members.filter(({ isReady, isTerminating }) => !isReady || isTerminating).map(({ pod }) => pod)
  const why = whyOf(late, (name) => look.seen.claims.get(name), failure, outcome.wait)
  const available = setTimedCondition(progressOf(look, counts, why).conditions, sayAvailable(counts.availableReplicas, replicas, replicas, why.trouble), nowMs)
  return withFault(available, fault, nowMs)
}
