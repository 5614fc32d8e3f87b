import type { Deployment, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import { type Outcome, isNamespaceTerminating } from '../kit/index.ts'
import {
  type Condition,
  type Headway,
  type Rollout,
  type Saying,
  type Why,
  deadlineExceeded,
  decideProgress,
  findCondition,
  hasDeadline,
  hasRisen,
  isRolloutSettled,
  removeCondition,
} from '../kit/workload/index.ts'
import { type Action, HashCollision, createErrorText } from './apply.ts'
import type { Observed } from './observe.ts'
import { draftOf, revisionHistoryAnnotation, revisionOf, toldRevisionOf } from './replica-sets.ts'
import { replicasOf } from './rolling.ts'

const completeReason = 'NewReplicaSetAvailable'
const movingReason = 'ReplicaSetUpdated'
const pausedReason = 'DeploymentPaused'
const resumedReason = 'DeploymentResumed'
const refusedReason = 'ReplicaSetCreateError'

/** True if every pod is of the newest revision and available, and no other pod exists. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment)
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return (
    counts.every((count = 0) => count === wanted) &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

type Words = Omit<Saying, 'type'>

/** The result of a step: its outcome, the current numbers, and the conditions so far. */
interface Progressed {
  outcome: Outcome<Action>
  status: DeploymentStatus
  conditions: readonly Condition[]
}

/** All conditions, including Progressing. `status` contains the current numbers. */
export function progressOf(
  seen: Observed,
  { outcome, status, conditions, why }: Progressed & { why: Why },
): Condition[] {
  const { deployment, newSet, nowMs } = seen
  const { progressDeadlineSeconds: deadlineSeconds, paused } = deployment.spec
  if (deployment.metadata.deletionTimestamp) return [...conditions]
  if (!hasDeadline(deadlineSeconds)) return removeCondition(conditions, 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  // An exceeded deadline must not be forgotten during a pause.
  if (paused && current?.reason === deadlineExceeded) return [...conditions]
  const name = createdName(outcome) ?? newSet?.metadata.name
  const subject = name ? `ReplicaSet ${JSON.stringify(name)}` : `Deployment ${JSON.stringify(deployment.metadata.name)}`
  const moving = `${subject} is progressing.`
  const complete = { reason: completeReason, message: `${subject} has successfully progressed.` }
  const failed = refusal(outcome)
  return decideProgress(
    conditions,
    {
      deadlineSeconds,
      revision: name ?? draftName(deployment),
      desired: replicasOf(deployment),
      headway: headwayOf(newSet, status),
      movingReason,
      paused: paused ? { status: 'Unknown', reason: pausedReason, message: 'Deployment is paused' } : undefined,
      beginning: failed ? refusedWords(current, failed) : beginningOf(seen, { outcome, status, conditions }, moving),
      settled: !failed && isComplete(deployment, status) ? complete : undefined,
      failed,
      hasRisen: hasRisen(deployment.status ?? {}, status),
      messages: {
        moving: moving + why.named,
        waiting: (reason) => followed(beginningText(reason, name) ?? moving, why.named),
        exceeded: `${subject} has timed out progressing.${why.always}`,
      },
    },
    nowMs,
  )
}

/** The future name of the ReplicaSet for the Deployment's template. */
const draftName = (deployment: Deployment): string => draftOf(deployment, 0, {}).metadata.name!

const headwayOf = (
  newSet: ReplicaSet | undefined,
  { replicas = 0, updatedReplicas = 0 }: DeploymentStatus,
): Headway => ({
  updated: updatedReplicas,
  ready: newSet?.status?.readyReplicas ?? 0,
  available: newSet?.status?.availableReplicas ?? 0,
  old: replicas - updatedReplicas,
})

/** A rejected ReplicaSet is a rollout that fails at its beginning. */
const refusedWords = (
  current: Condition | undefined,
  { reason, message }: NonNullable<Rollout['failed']>,
): Words | undefined => (current?.reason === refusedReason ? undefined : { status: 'False', reason, message })

/** Kubernetes' messages for a beginning have no full stop. One is added before another sentence. */
const followed = (text: string, more: string): string => (more && !text.endsWith('.') ? `${text}.${more}` : text + more)

/** The message at the beginning of a rollout, kept until a pod moves. */
function beginningText(reason: string, name: string | undefined): string | undefined {
  if (reason === 'NewReplicaSetCreated') return `Created new replica set ${JSON.stringify(name)}`
  if (reason === resumedReason) return 'Deployment is resumed'
  return reason === 'FoundNewReplicaSet' ? `Found new replica set ${JSON.stringify(name)}` : undefined
}

/**
 * The change that starts the clock: a new, an unrecorded or a restored ReplicaSet, the end of a pause, or a scale
 * during the rollout.
 */
function beginningOf(
  { deployment, newSet }: Observed,
  { outcome, status, conditions }: Progressed,
  moving: string,
): Words | undefined {
  const current = findCondition(conditions, 'Progressing')
  const say = (reason: string, name: string | undefined): Words => ({
    status: 'True',
    reason,
    message: beginningText(reason, name) ?? moving,
  })
  const created = createdName(outcome)
  if (created) return say('NewReplicaSetCreated', created)
  if (newSet && (!current || isUntold(deployment, newSet))) return say('FoundNewReplicaSet', newSet.metadata.name)
  if (current?.reason === pausedReason) return { ...say(resumedReason, undefined), status: 'Unknown' }
  const isDone = isRolloutSettled(conditions)
  // The ReplicaSet may not exist: a Recreate has none before the old pods are gone, and one may be adopted or released.
  // The clock runs nevertheless. As in Kubernetes, a Recreate after a complete rollout begins with its ReplicaSet.
  if (current?.progress) {
    const { revision, desiredReplicas } = current.progress
    const isScaled = !isDone && desiredReplicas !== replicasOf(deployment)
    const isRevised = newSet ? revision !== newSet.metadata.name : !isDone && revision !== draftName(deployment)
    return isRevised || isScaled ? say(movingReason, undefined) : undefined
  }
  if (!current || !newSet) return undefined
  // Without a mark, a rollout after a complete one is detected by old pods that go, or new ones that come, while both
  // exist.
  const isBegun = isDone && hasRisen(deployment.status ?? {}, status) && status.replicas !== status.updatedReplicas
  return isBegun ? say(movingReason, undefined) : undefined
}

/**
 * True if a ReplicaSet was created without a record. Its revision number is written with the status, which its creator
 * did not reach. A restored ReplicaSet also has a higher number, but a history.
 */
const isUntold = (deployment: Deployment, newSet: ReplicaSet): boolean =>
  revisionOf(newSet) > (toldRevisionOf(deployment) ?? Infinity) &&
  newSet.metadata.annotations?.[revisionHistoryAnnotation] === undefined

const createdName = ({ done }: Outcome<Action>): string | undefined =>
  done.find((action) => action.kind === 'Create')?.set.metadata.name

/**
 * The reason why the new ReplicaSet was rejected. A taken name or a terminating namespace is not a rejection of its
 * content.
 */
function refusal({ failed }: Outcome<Action>): Rollout['failed'] {
  for (const { action, error } of failed) {
    if (action.kind !== 'Create' || error instanceof HashCollision || isNamespaceTerminating(error)) continue
    return { reason: refusedReason, message: createErrorText(action, error) }
  }
  return undefined
}
