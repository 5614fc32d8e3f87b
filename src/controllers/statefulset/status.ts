import type { StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import { isInvalid } from '../../client/index.ts'
import type { Outcome } from '../kit/index.ts'
import { type Condition, removeCondition, setTimedCondition, troubleText } from '../kit/workload/index.ts'
import { RevisionTakenError } from './apply.ts'
import { type Counts, countPods } from './counts.ts'
import { type Look, lookAt } from './look.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { expectedUpdated, progressOf } from './progress.ts'

/** The status that is true now. */
export function status(seen: Observed, outcome: Outcome<Action>): StatefulSetStatus {
  const look = lookAt(seen)
  const { set } = seen
  const counts = countPods(look)
  const { current, update } = look.revisions
  const isTaken = outcome.failed.some(({ error }) => error instanceof RevisionTakenError)
  const next: StatefulSetStatus = {
    ...counts,
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: (set.status.collisionCount ?? 0) + (isTaken ? 1 : 0),
    ...(set.status.conditions ? { conditions: set.status.conditions } : {}),
  }
  const finished = isRolledOut(set, counts) ? { ...next, currentRevision: update.name, currentReplicas: counts.updatedReplicas } : next
  if (!seen.hasConditions) return finished
  return { ...finished, desiredReplicas: look.replicas.length, expectedUpdatedReplicas: expectedUpdated(look), conditions: conditionsOf(look, counts, outcome) }
}

/** All are of the new revision and ready: it is the current one from now on. */
function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: Counts): boolean {
  const wanted = spec.replicas ?? 1
  return spec.updateStrategy.type === 'RollingUpdate' && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
}

function conditionsOf(look: Look, counts: Counts, outcome: Outcome<Action>): Condition[] {
  const { nowMs, set } = look.seen
  const { replicas = 1 } = set.spec
  const isAvailable = counts.availableReplicas >= replicas
  const available = setTimedCondition(progressOf(look, counts).conditions, {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${counts.availableReplicas} of ${replicas} replicas are available.${isAvailable ? '' : troubleText(look.pods)}`,
  }, nowMs)
  return withFailure(available, outcome, nowMs)
}

/** A pod that cannot be made for now is a ReplicaFailure; one that never can be ends the progress, too. */
function withFailure(conditions: Condition[], { failed }: Outcome<Action>, nowMs: number): Condition[] {
  const fault = failed.find(({ error }) => !(error instanceof RevisionTakenError))
  if (!fault) return removeCondition(conditions, 'ReplicaFailure')
  const reason = fault.action.kind === 'DeletePod' ? 'FailedDelete' : 'FailedCreate'
  const { message } = fault.error
  const failure = setTimedCondition(conditions, { type: 'ReplicaFailure', status: 'True', reason, message }, nowMs)
  if (fault.action.kind !== 'CreatePod' || !isInvalid(fault.error)) return failure
  return setTimedCondition(failure, { type: 'Progressing', status: 'False', reason, message }, nowMs)
}
