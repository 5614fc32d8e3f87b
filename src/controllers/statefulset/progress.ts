import { allOf, isOrAre, shareOf } from '../../api/plural.ts'
import {
  type Condition, type Headway, type Rollout, type Saying, type Why, decideProgress, findCondition, hasRisen, partitionReached,
  secondsText, waitingForDeletion,
} from '../kit/workload/index.ts'
import { ordinalOf } from './identity.ts'
import type { Look } from './look.ts'
import type { Counts } from './places.ts'
import type { Action } from './plan.ts'

/** The number of replicas that are to be of the new revision. */
export const expectedUpdated = ({ places, partition }: Look): number => Math.max(0, places.wanted - partition)

/** The conditions of a set with what Progressing says. `counts` are those after the step, whose actions are `done`. */
export function progressOf(look: Look, counts: Counts, done: readonly Action[], why: Why, failed: Rollout['failed']): Condition[] {
  const { seen: { set, nowMs }, revisions } = look
  const { replicas = 1, progressDeadlineSeconds } = set.spec
  const what = `revision ${revisions.update.name}`
  const updated = shareOf(counts.updatedReplicas, expectedUpdated(look), 'replica')
  const available = `${counts.availableReplicas} of ${replicas} ${isOrAre(counts.availableReplicas, replicas)}`
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
      moving: `${updated} at ${what}, ${available} available.${why.named}`,
      exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
    },
  }, nowMs)
}

/** Pods of the new revision, once the caches have what was just done. */
function headwayAfter({ seen: { set }, places, revisions }: Look, counts: Counts, done: readonly Action[]): Headway {
  const headway: Headway = {
    updated: counts.updatedReplicas, ready: places.tally.updatedReady, available: places.tally.updatedAvailable,
    old: counts.replicas - counts.updatedReplicas,
  }
  for (const action of done) {
    const gone = action.kind === 'DeletePod' ? places.get(ordinalOf(set, action.pod.metadata.name!)!) : undefined
    if (!gone || gone.isTerminating || gone.revision !== revisions.update.name) continue
    if (gone.isReady) headway.ready--
    if (gone.isAvailable) headway.available--
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
  const { seen: { set }, revisions, partition, places: { wanted, tally }, unavailable } = look
  const what = `revision ${revisions.update.name}`
  const isReached = tally.reached === expectedUpdated(look)
  const isWhole = counts.replicas === wanted && unavailable === 0
  // The labels of the pods count, not the name of the current revision: that may be lost with its history.
  const hasOutdated = tally.otherRevision > 0
  if (isReached && isWhole && !hasOutdated) {
    return { reason: 'NewRevisionAvailable', message: `Revision ${revisions.update.name} has been rolled out to ${allOf(wanted, 'replica')}.` }
  }
  if (isReached && partition > 0 && (hasOutdated || revisions.current.name !== revisions.update.name)) {
    return { reason: partitionReached, message: `Revision ${revisions.update.name} has been rolled out to ${counts.updatedReplicas} of ${wanted} replicas: the partition of ${partition} keeps the others.` }
  }
  if (set.spec.updateStrategy.type !== 'OnDelete') return undefined
  const isHeld = tally.outdated > 0 && counts.replicas === wanted && tally.unfit === 0
  if (!isHeld) return undefined
  const others = 'The others are updated when you delete them (OnDelete).'
  const updated = shareOf(counts.updatedReplicas, wanted, 'replica')
  return { reason: waitingForDeletion, message: `${updated} at ${what}. ${others}` }
}

/** The change that starts the clock anew: a new revision, a scale, another partition, or the end of OnDelete. */
function beginningOf(look: Look): Omit<Saying, 'type'> | undefined {
  const { seen: { set }, revisions, places: { wanted } } = look
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas } = set.status
  const { name } = revisions.update
  if (!findCondition(conditions, 'Progressing') || updateRevision !== name) return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  const isReleased = findCondition(conditions, 'Progressing')!.reason === waitingForDeletion && set.spec.updateStrategy.type !== 'OnDelete'
  const isSame = !isReleased && (desiredReplicas === undefined || (desiredReplicas === wanted && expectedUpdatedReplicas === expectedUpdated(look)))
  return isSame ? undefined : { status: 'True', reason: 'ReplicasUpdated', message: `${shareOf(expectedUpdated(look), wanted, 'replica')} to be at revision ${name}.` }
}
