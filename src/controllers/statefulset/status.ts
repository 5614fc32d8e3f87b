import { deepEqual } from '../../api/deep-equal.ts'
import type { StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { firstOf, isWorthNaming } from '../../api/explain/index.ts'
import {
  type Condition, RevisionTakenError, deadlineInMs, endsProgress, isConditionTrue, isPodTerminating, isUntried, podFaultOf,
  refusalOf, sayAvailable, setTimedCondition, staysWhenDeleted, whyOf, withFault, withoutConditions,
} from '../kit/workload/index.ts'
import { revisionOf } from './identity.ts'
import { type Look, lookAt } from './look.ts'
import type { Observed } from './observe.ts'
import { type Counts, countRevision } from './places.ts'
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
  return { ...finished, desiredReplicas: look.places.wanted, expectedUpdatedReplicas: expectedUpdated(look), conditions: conditionsOf(look, counts, outcome) }
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

/** The counts once the caches have what was just made and deleted: nothing new will have to be said then. */
function countAfter({ counts, revisions: { current, update } }: Look, done: readonly Action[]): Counts {
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

/** All are of the new revision and ready: it is the current one from now on. */
function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: Counts): boolean {
  const wanted = spec.replicas ?? 1
  return spec.updateStrategy.type === 'RollingUpdate' && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
}

function conditionsOf(look: Look, counts: Counts, { done, wait, ...outcome }: Outcome<Action>): Condition[] {
  const { nowMs, set } = look.seen
  const { replicas = 1 } = set.spec
  const fault = podFaultOf(outcome)
  const about = { kind: 'StatefulSet', object: set, wait }
  const worst = look.places.causes.peek()
  const made = done.flatMap((action) => (action.kind === 'CreatePod' ? [action.pod.metadata.name!] : []))
  const isMissing = counts.replicas < replicas && !fault
  // A pod in trouble is why the next one is not asked for. One that merely starts changes nothing about the refusal.
  const isRefused = isMissing && isUntried(set.status.conditions, made) && !isWorthNaming(firstOf(about, worst, undefined))
  const tell = (conditions: readonly Condition[]) => (isRefused ? [...conditions] : withFault(conditions, fault, nowMs))
  const why = whyOf(firstOf({ ...about, refusal: refusalOf(tell(set.status.conditions ?? [])) }, worst, undefined))
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = setTimedCondition(progressOf(look, counts, done, why, failed), sayAvailable(counts.availableReplicas, replicas, replicas, why), nowMs)
  return tell(available)
}

/** The time after which a status says something else by itself: its deadline passes. */
export const changesInMs = ({ set: { spec }, nowMs, hasConditions }: Observed, { conditions }: StatefulSetStatus): number | undefined =>
  hasConditions ? deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs) : undefined
