import type { Deployment, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import { type Outcome, isNamespaceTerminating } from '../kit/index.ts'
import {
  type Condition, type Headway, type Rollout, type Saying, type StoredCondition, type Why, deadlineExceeded,
  decideProgress, findCondition, hasDeadline, hasRisen, isRolloutSettled, removeCondition,
} from '../kit/workload/index.ts'
import { revisionHistoryAnnotation, revisionOf, toldRevisionOf } from './annotations.ts'
import { replicasOf } from './bounds.ts'
import { HashCollision } from './hash-collision.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { draftOf } from './replica-sets.ts'

export const completeReason = 'NewReplicaSetAvailable'
const movingReason = 'ReplicaSetUpdated'
const pausedReason = 'DeploymentPaused'
const resumedReason = 'DeploymentResumed'
const refusedReason = 'ReplicaSetCreateError'

/** Whether every pod is of the newest revision and available, and no other is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment)
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return counts.every((count = 0) => count === wanted) && (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
}

type Words = Omit<Saying, 'type'>

/** All conditions, with what there is to say about the progress of the rollout. `status` has the numbers of now. */
export function progressOf(
  seen: Observed, outcome: Outcome<Action>, status: DeploymentStatus, conditions: readonly Condition[], why: Why,
): Condition[] {
  const { deployment, newSet, nowMs } = seen
  const { progressDeadlineSeconds: deadlineSeconds, paused } = deployment.spec
  if (deployment.metadata.deletionTimestamp) return [...conditions]
  if (!hasDeadline(deadlineSeconds)) return removeCondition(conditions, 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  // That time ran out is not to be forgotten over a pause.
  if (paused && current?.reason === deadlineExceeded) return [...conditions]
  const name = createdName(outcome) ?? newSet?.metadata.name
  const subject = name ? `ReplicaSet ${JSON.stringify(name)}` : `Deployment ${JSON.stringify(deployment.metadata.name)}`
  const moving = `${subject} is progressing.`
  const complete = { reason: completeReason, message: `${subject} has successfully progressed.` }
  const failed = refusal(outcome)
  return decideProgress(conditions, {
    deadlineSeconds,
    revision: name ?? draftName(deployment),
    desired: replicasOf(deployment),
    headway: headwayOf(newSet, status),
    movingReason,
    paused: paused ? { status: 'Unknown', reason: pausedReason, message: 'Deployment is paused' } : undefined,
    beginning: failed ? refusedWords(current, failed) : beginningOf(seen, outcome, status, conditions, moving),
    settled: !failed && isComplete(deployment, status) ? complete : undefined,
    failed,
    hasRisen: hasRisen(deployment.status ?? {}, status),
    messages: {
      moving: moving + why.named,
      waiting: (reason) => followed(beginningText(reason, name) ?? moving, why.named),
      exceeded: `${subject} has timed out progressing.${why.always}`,
    },
  }, nowMs)
}

/** The name that the ReplicaSet of the Deployment's template will have. */
const draftName = (deployment: Deployment): string => draftOf(deployment, 0, {}).metadata.name!

const headwayOf = (newSet: ReplicaSet | undefined, { replicas = 0, updatedReplicas = 0 }: DeploymentStatus): Headway => ({
  updated: updatedReplicas,
  ready: newSet?.status?.readyReplicas ?? 0,
  available: newSet?.status?.availableReplicas ?? 0,
  old: replicas - updatedReplicas,
})

/** A ReplicaSet that is refused is a rollout that fails as it begins. */
const refusedWords = (current: Condition | undefined, { reason, message }: NonNullable<Rollout['failed']>): Words | undefined =>
  current?.reason === refusedReason ? undefined : { status: 'False', reason, message }

/** Kubernetes' words for a beginning have no full stop: they get one where another sentence follows. */
const followed = (text: string, more: string): string => (more && !text.endsWith('.') ? `${text}.${more}` : text + more)

/** The sentence that a rollout begins with, which it keeps until something moves. */
function beginningText(reason: string, name: string | undefined): string | undefined {
  if (reason === 'NewReplicaSetCreated') return `Created new replica set ${JSON.stringify(name)}`
  if (reason === resumedReason) return 'Deployment is resumed'
  return reason === 'FoundNewReplicaSet' ? `Found new replica set ${JSON.stringify(name)}` : undefined
}

/**
 * The change that starts the clock: a new ReplicaSet, one that nobody has told of, one that is gone back to, the end of
 * a pause, or a scale on the way.
 */
function beginningOf(
  { deployment, newSet }: Observed, outcome: Outcome<Action>, status: DeploymentStatus,
  conditions: readonly StoredCondition[], moving: string,
): Words | undefined {
  const current = findCondition(conditions, 'Progressing')
  const say = (reason: string, name: string | undefined): Words =>
    ({ status: 'True', reason, message: beginningText(reason, name) ?? moving })
  const created = createdName(outcome)
  if (created) return say('NewReplicaSetCreated', created)
  if (newSet && (!current || isUntold(deployment, newSet))) return say('FoundNewReplicaSet', newSet.metadata.name)
  if (current?.reason === pausedReason) return { ...say(resumedReason, undefined), status: 'Unknown' }
  const isDone = isRolloutSettled(conditions)
  // There may be no ReplicaSet: a Recreate has none before the old pods are gone, and one may change hands. The time
  // counts nevertheless. As in Kubernetes, a Recreate that follows a complete rollout begins with its ReplicaSet.
  if (current?.progress) {
    const { revision, desiredReplicas } = current.progress
    const isScaled = !isDone && desiredReplicas !== replicasOf(deployment)
    const isRevised = newSet ? revision !== newSet.metadata.name : !isDone && revision !== draftName(deployment)
    return isRevised || isScaled ? say(movingReason, undefined) : undefined
  }
  if (!current || !newSet) return undefined
  // Without a mark, a completed rollout is followed by another if old pods go, or new ones come, while there are both.
  const isBegun = isDone && hasRisen(deployment.status ?? {}, status) && status.replicas !== status.updatedReplicas
  return isBegun ? say(movingReason, undefined) : undefined
}

/**
 * Whether a ReplicaSet was made without a word of it: its number is written with the status, so who made it did not get that far. One that is gone back
 * to also has a higher number, but a history.
 */
const isUntold = (deployment: Deployment, newSet: ReplicaSet): boolean =>
  revisionOf(newSet) > (toldRevisionOf(deployment) ?? Infinity) &&
  newSet.metadata.annotations?.[revisionHistoryAnnotation] === undefined

const createdName = ({ done }: Outcome<Action>): string | undefined => done.find((action) => action.kind === 'Create')?.set.metadata.name

/** Why the new ReplicaSet was not accepted. That its name is taken, or its namespace is going, is no refusal of what it is. */
function refusal({ failed }: Outcome<Action>): Rollout['failed'] {
  for (const { action, error } of failed) {
    if (action.kind !== 'Create' || error instanceof HashCollision || isNamespaceTerminating(error)) continue
    return { reason: refusedReason, message: createErrorText(action, error) }
  }
  return undefined
}

/** What users read when the ReplicaSet of a new revision is refused. */
export const createErrorText = ({ set }: Action & { kind: 'Create' }, error: Error): string =>
  `Failed to create new replica set ${JSON.stringify(set.metadata.name)}: ${error.message}`
