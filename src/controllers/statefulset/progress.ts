import { allOf, isOrAre, shareOf } from '../../api/printing/plural.ts'
import {
  type Condition,
  type Headway,
  type Rollout,
  type Saying,
  type Why,
  decideProgress,
  findCondition,
  hasRisen,
  partitionReached,
  secondsText,
  waitingForDeletion,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { ordinalOf } from './identity.ts'
import type { Derived } from './observe.ts'
import type { Counts } from './ordinals.ts'

/**
 * The conditions of a set, including Progressing. `counts` are the numbers after the step, whose actions are `done`.
 */
export function progressOf(
  seen: Derived,
  counts: Counts,
  { done, why, failed }: { done: readonly Action[]; why: Why; failed: Rollout['failed'] },
): Condition[] {
  const { set, nowMs, revisions } = seen
  const { replicas = 1, progressDeadlineSeconds } = set.spec
  const what = `revision ${revisions.update.name}`
  const updated = shareOf(counts.updatedReplicas, seen.expectedUpdated, 'replica')
  const available = `${counts.availableReplicas} of ${replicas} ${isOrAre(counts.availableReplicas, replicas)}`
  return decideProgress(
    set.status.conditions,
    {
      deadlineSeconds: progressDeadlineSeconds,
      revision: revisions.update.name,
      desired: replicas,
      headway: headwayAfter(seen, counts, done),
      movingReason: 'ReplicasUpdated',
      beginning: beginningOf(seen),
      settled: isUntouched(seen, counts) ? settledOf(seen, counts) : undefined,
      failed,
      hasRisen: hasRisen(set.status, counts),
      messages: {
        moving: `${updated} at ${what}, ${available} available.${why.named}`,
        exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
      },
    },
    nowMs,
  )
}

/** The pods of the update revision, after the actions of the step. */
function headwayAfter({ set, ordinals, revisions }: Derived, counts: Counts, done: readonly Action[]): Headway {
  const headway: Headway = {
    updated: counts.updatedReplicas,
    ready: ordinals.tally.updatedReady,
    available: ordinals.tally.updatedAvailable,
    old: counts.replicas - counts.updatedReplicas,
  }
  for (const action of done) {
    const gone = action.kind === 'DeletePod' ? ordinals.get(ordinalOf(set, action.pod.metadata.name!)!) : undefined
    if (!gone || gone.isTerminating || gone.revision !== revisions.update.name) continue
    if (gone.isReady) headway.ready--
    if (gone.isAvailable) headway.available--
  }
  return headway
}

/** True if the step has neither created nor deleted a pod, so that the observation is current. */
const isUntouched = ({ ordinals: { counts: before } }: Derived, after: Counts): boolean =>
  before.replicas === after.replicas && before.updatedReplicas === after.updatedReplicas

/**
 * Complete: every replica is updated and available, and no other pod exists. Held by the partition: every replica from
 * the partition on is updated and available. Held by OnDelete: the updated pods are available, and a user must delete
 * the others.
 */
function settledOf(seen: Derived, counts: Counts): Rollout['settled'] {
  const {
    set,
    revisions,
    partition,
    ordinals: { wanted, tally },
    unavailable,
  } = seen
  const what = `revision ${revisions.update.name}`
  const isReached = tally.reached === seen.expectedUpdated
  const isWhole = counts.replicas === wanted && unavailable === 0
  // The labels of the pods are compared, because the name of the current revision may be lost with its history.
  const hasOutdated = tally.otherRevision > 0
  if (isReached && isWhole && !hasOutdated) {
    return {
      reason: 'NewRevisionAvailable',
      message: `Revision ${revisions.update.name} has been rolled out to ${allOf(wanted, 'replica')}.`,
    }
  }
  if (isReached && partition > 0 && (hasOutdated || revisions.current.name !== revisions.update.name)) {
    return {
      reason: partitionReached,
      message: `Revision ${revisions.update.name} has been rolled out to ${counts.updatedReplicas} of ${wanted} replicas: the partition of ${partition} keeps the others.`,
    }
  }
  if (set.spec.updateStrategy.type !== 'OnDelete') return undefined
  const isHeld = tally.outdated > 0 && counts.replicas === wanted && tally.unfit === 0
  if (!isHeld) return undefined
  const others = 'The others are updated when you delete them (OnDelete).'
  const updated = shareOf(counts.updatedReplicas, wanted, 'replica')
  return { reason: waitingForDeletion, message: `${updated} at ${what}. ${others}` }
}

/** The change that restarts the clock: a new revision, a scale, another partition, or the end of OnDelete. */
function beginningOf(seen: Derived): Omit<Saying, 'type'> | undefined {
  const {
    set,
    revisions,
    ordinals: { wanted },
  } = seen
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas } = set.status
  const { name } = revisions.update
  if (!findCondition(conditions, 'Progressing') || updateRevision !== name) {
    return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  }
  const isReleased =
    findCondition(conditions, 'Progressing')!.reason === waitingForDeletion &&
    set.spec.updateStrategy.type !== 'OnDelete'
  const isSame =
    !isReleased &&
    (desiredReplicas === undefined || (desiredReplicas === wanted && expectedUpdatedReplicas === seen.expectedUpdated))
  return isSame
    ? undefined
    : {
        status: 'True',
        reason: 'ReplicasUpdated',
        message: `${shareOf(seen.expectedUpdated, wanted, 'replica')} to be at revision ${name}.`,
      }
}
