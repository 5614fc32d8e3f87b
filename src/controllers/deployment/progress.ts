import type { Deployment, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import { type Outcome, isNamespaceTerminating } from '../kit/index.ts'
import {
  type Condition,
  type Saying,
  blockedText,
  deadlineExceeded,
  decideProgress,
  findCondition,
  hasDeadline,
  hasMoved,
  headwayOf,
  removeCondition,
  renewCondition,
  setTimedCondition,
} from '../kit/workload/index.ts'
import { revisionAnnotation, revisionHistoryAnnotation, revisionOf } from './annotations.ts'
import { replicasOf } from './bounds.ts'
import { HashCollision } from './hash-collision.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'

export const completeReason = 'NewReplicaSetAvailable'
const movingReason = 'ReplicaSetUpdated'
const pausedReason = 'DeploymentPaused'

/** Whether every pod is of the newest revision and available, and no other is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment)
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return counts.every((count = 0) => count === wanted) && (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
}

/** All conditions, with what there is to say about the progress of the rollout. `status` are the numbers of now. */
export function progressOf(seen: Observed, outcome: Outcome<Action>, status: DeploymentStatus, conditions: readonly Condition[]): Condition[] {
  const { deployment, newSet, nowMs } = seen
  const { progressDeadlineSeconds: deadlineSeconds, paused } = deployment.spec
  if (deployment.metadata.deletionTimestamp) return [...conditions]
  if (!hasDeadline(deadlineSeconds)) return removeCondition(conditions, 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  const say = (words: Omit<Saying, 'type'>): Condition[] => setTimedCondition(conditions, { type: 'Progressing', ...words }, nowMs)
  // That time ran out is not to be forgotten over a pause.
  if (paused) return current?.reason === deadlineExceeded ? [...conditions] : say({ status: 'Unknown', reason: pausedReason, message: 'Deployment is paused' })
  const failure = refusal(outcome)
  if (failure) return say({ status: 'False', reason: 'ReplicaSetCreateError', message: failure })
  const name = createdName(outcome) ?? newSet?.metadata.name
  const subject = name ? `ReplicaSet ${JSON.stringify(name)}` : `Deployment ${JSON.stringify(deployment.metadata.name)}`
  const isMoving = hasMoved(headwayOf(deployment.status ?? {}), headwayOf(status))
  const messages = {
    complete: `${subject} has successfully progressed.`,
    moving: `${subject} is progressing.`,
    exceeded: `${subject} has timed out progressing.${causeOf(seen)}`,
  }
  // A completed rollout is followed by another if old pods go, or new ones come, while there are both.
  const isBegun = current?.reason === completeReason && isMoving && status.replicas !== status.updatedReplicas
  const beginning = isBegun ? { status: 'True' as const, reason: movingReason, message: messages.moving } : beginningOf(seen, outcome, current)
  return decideProgress(
    beginning ? renewCondition(conditions, { type: 'Progressing', ...beginning }, nowMs) : conditions,
    { deadlineSeconds, reasons: { complete: completeReason, moving: movingReason }, isComplete: isComplete(deployment, status), hasMoved: isMoving, messages },
    nowMs,
  ).conditions
}

/** What starts the clock: a new ReplicaSet, one that nobody has told of, or the end of a pause. */
function beginningOf({ deployment, newSet }: Observed, outcome: Outcome<Action>, current: Condition | undefined): Omit<Saying, 'type'> | undefined {
  const created = createdName(outcome)
  if (created) return { status: 'True', reason: 'NewReplicaSetCreated', message: `Created new replica set ${JSON.stringify(created)}` }
  if (newSet && (!current || isUntold(deployment, newSet))) {
    return { status: 'True', reason: 'FoundNewReplicaSet', message: `Found new replica set ${JSON.stringify(newSet.metadata.name)}` }
  }
  return current?.reason === pausedReason ? { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' } : undefined
}

/**
 * Whether a ReplicaSet was made without a word of it: its number is written with the status, so who made it did not get that far. One that is gone back
 * to also has a higher number, but a history.
 */
const isUntold = ({ metadata: { annotations } }: Deployment, newSet: ReplicaSet): boolean =>
  revisionOf(newSet) > Number(annotations?.[revisionAnnotation] ?? 0) && newSet.metadata.annotations?.[revisionHistoryAnnotation] === undefined

const createdName = ({ done }: Outcome<Action>): string | undefined => done.find((action) => action.kind === 'Create')?.set.metadata.name

/** Why the new ReplicaSet was not accepted. That its name is taken, or its namespace is going, is no refusal of what it is. */
function refusal({ failed }: Outcome<Action>): string | undefined {
  for (const { action, error } of failed) {
    if (action.kind === 'Create' && !(error instanceof HashCollision) && !isNamespaceTerminating(error)) return createErrorText(action, error)
  }
  return undefined
}

/** What users read when the ReplicaSet of a new revision is refused. */
export const createErrorText = ({ set }: Action & { kind: 'Create' }, error: Error): string =>
  `Failed to create new replica set ${JSON.stringify(set.metadata.name)}: ${error.message}`

/** What the rollout waited for: pods that could not be made, or the first one that is in trouble. */
function causeOf({ newSet, latePods }: Observed): string {
  const failure = findCondition(newSet?.status?.conditions, 'ReplicaFailure')
  return failure?.message ? ` ${failure.message}` : blockedText(latePods)
}
