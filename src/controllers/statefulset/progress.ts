import {
  type Condition, type Headway, type Rollout, type Saying, type Why, decideProgress, findCondition, hasRisen, partitionReached,
  secondsText, waitingForDeletion,
} from '../kit/workload/index.ts'
import type { Counts } from './counts.ts'
import type { Look } from './look.ts'
import type { Action } from './plan.ts'
import { isOutdated } from './update.ts'

/** The number of replicas that are to be of the new revision. */
export const expectedUpdated = ({ replicas, partition }: Look): number => Math.max(0, replicas.length - partition)

/** The conditions of a set with what Progressing says. `counts` are those after the step, whose actions are `done`. */
export function progressOf(look: Look, counts: Counts, done: readonly Action[], why: Why, failed: Rollout['failed']): Condition[] {
  const { seen: { set, nowMs }, revisions } = look
  const { replicas = 1, progressDeadlineSeconds } = set.spec
  const what = `revision ${revisions.update.name}`
  return decideProgress(set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    revision: revisions.update.name,
    desired: replicas,
    headway: headwayAfter(look, counts, done),
    movingReason: 'ReplicasUpdated',
    beginning: beginningOf(look),
    settled: isUntouched(look, counts) ? settledOf(look, counts) : undefined,
    failed,
    hasRisen: hasRisen(set.status, counts),
    messages: {
      moving: `${counts.updatedReplicas} of ${expectedUpdated(look)} replicas are at ${what}, ${counts.availableReplicas} of ${replicas} are available.${why.named}`,
      exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
    },
  }, nowMs)
}

/** Pods of the new revision, once the caches have what was just done. */
function headwayAfter({ seen, revisions }: Look, counts: Counts, done: readonly Action[]): Headway {
  const gone = new Set(done.flatMap((action) => (action.kind === 'DeletePod' ? [action.pod] : [])))
  const headway: Headway = { updated: counts.updatedReplicas, ready: 0, available: 0, old: counts.replicas - counts.updatedReplicas }
  for (const { pod, revision, isTerminating, isReady, isAvailable } of seen.members) {
    if (isTerminating || revision !== revisions.update.name || gone.has(pod)) continue
    if (isReady) headway.ready++
    if (isAvailable) headway.available++
  }
  return headway
}

/** Whether the step has neither made nor deleted a pod: what was observed is how it is. */
const isUntouched = ({ counts: before }: Look, after: Counts): boolean => before.replicas === after.replicas && before.updatedReplicas === after.updatedReplicas

/**
 * Complete: every replica is updated and available, and no other pod is left. Held by the partition: every replica from
 * the partition on is updated and available, whatever the others do. Held by OnDelete: what is updated is available,
 * and the rest is for a person to delete.
 */
function settledOf(look: Look, counts: Counts): Rollout['settled'] {
  const { seen: { set, members }, revisions, partition, replicas } = look
  const what = `revision ${revisions.update.name}`
  const isReached = replicas.every((slot, place) => place < partition || (!slot.isUnavailable && slot.revision === revisions.update.name))
  const isWhole = counts.replicas === replicas.length && replicas.every((slot) => !slot.isUnavailable)
  // What the pods say counts, not the name of the current revision: that may be lost with its history.
  const hasOutdated = replicas.some((slot) => slot.pod && slot.revision !== revisions.update.name)
  if (isReached && isWhole && !hasOutdated) {
    return { reason: 'NewRevisionAvailable', message: `Revision ${revisions.update.name} has been rolled out to all ${replicas.length} replicas.` }
  }
  if (isReached && partition > 0 && (hasOutdated || revisions.current.name !== revisions.update.name)) {
    return { reason: partitionReached, message: `Revision ${revisions.update.name} has been rolled out to ${counts.updatedReplicas} of ${replicas.length} replicas: the partition of ${partition} keeps the others.` }
  }
  if (set.spec.updateStrategy.type !== 'OnDelete') return undefined
  const outdated = members.filter((member) => isOutdated(look, member))
  const isHeld = outdated.length > 0 && counts.replicas === replicas.length && members.every((member) => isOutdated(look, member) || !member.isUnavailable)
  if (!isHeld) return undefined
  return { reason: waitingForDeletion, message: `${counts.updatedReplicas} of ${replicas.length} replicas are at ${what}. The others are updated when you delete them (OnDelete).` }
}

/** The change that starts the clock anew: a new revision, a scale, another partition, or the end of OnDelete. */
function beginningOf(look: Look): Omit<Saying, 'type'> | undefined {
  const { seen: { set }, revisions, replicas } = look
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas } = set.status
  const { name } = revisions.update
  if (!findCondition(conditions, 'Progressing') || updateRevision !== name) return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  const isReleased = findCondition(conditions, 'Progressing')!.reason === waitingForDeletion && set.spec.updateStrategy.type !== 'OnDelete'
  const isSame = !isReleased && (desiredReplicas === undefined || (desiredReplicas === replicas.length && expectedUpdatedReplicas === expectedUpdated(look)))
  return isSame ? undefined : { status: 'True', reason: 'ReplicasUpdated', message: `${expectedUpdated(look)} of ${replicas.length} replicas are to be at revision ${name}.` }
}
