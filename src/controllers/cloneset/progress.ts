import { addInt64 } from '../../api/numbers/int64.ts'
import { allOf, isOrAre, shareOf } from '../../api/printing/plural.ts'
import {
  type Condition,
  type Headway,
  type Rollout,
  type Saying,
  type Why,
  deadlineExceeded,
  decideProgress,
  findCondition,
  hasRisen,
  partitionReached,
  secondsText,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import type { Counts } from './members.ts'
import type { Derived } from './derive.ts'
import type { Revision } from './revisions.ts'

const pausedReason = 'RolloutPaused'
const resumedReason = 'RolloutResumed'
const completeReason = 'NewRevisionAvailable'
const movingReason = 'ReplicasUpdated'
const touchingKinds: ReadonlySet<Action['kind']> = new Set(['CreatePod', 'DeletePod', 'UpdateInPlace', 'AdoptPod'])

/** The current revision as OpenKruise defines it: the update revision once all pods are of it, ready or not. */
export const currentAfter = (
  { revisions: { current, update } }: Derived,
  { updatedReplicas, replicas }: Counts,
): Revision => (updatedReplicas === replicas ? update : current)

/**
 * The number of replicas that are to be updated. If the update revision is the current one, the partition keeps at most
 * the remaining pods of other revisions.
 */
export function expectedUpdated(seen: Derived, counts = seen.counts, current = seen.revisions.current): number {
  const {
    revisions: { update },
    bounds: { replicas, partition },
  } = seen
  const left = counts.replicas - counts.updatedReplicas
  return Math.max(0, replicas - (current.name === update.name ? Math.min(partition, left) : partition))
}

const headwayOf = (counts: Counts): Headway => ({
  updated: counts.updatedReplicas,
  ready: counts.updatedReadyReplicas,
  available: counts.updatedAvailableReplicas,
  old: counts.replicas - counts.updatedReplicas,
})

const resumedText = (name: string): string => `The rollout of revision ${name} goes on.`

/**
 * The conditions of a set, including Progressing. `counts` are the numbers after the step, whose actions are `done`.
 */
export function progressOf(
  seen: Derived,
  counts: Counts,
  { done, why, failed }: { done: readonly Action[]; why: Why; failed: Rollout['failed'] },
): Condition[] {
  const {
    set,
    nowMs,
    revisions,
    bounds: { replicas },
  } = seen
  const { updateStrategy, progressDeadlineSeconds } = set.spec
  const expected = expectedUpdated(seen, counts, currentAfter(seen, counts))
  const what = `revision ${revisions.update.name}`
  const updated = `${shareOf(counts.updatedReplicas, expected, 'replica')} at ${what}`
  const available = `${counts.availableReplicas} of ${replicas} ${isOrAre(counts.availableReplicas, replicas)}`
  return decideProgress(
    set.status.conditions,
    {
      deadlineSeconds: progressDeadlineSeconds,
      revision: revisions.update.name,
      desired: replicas,
      headway: headwayOf(counts),
      // A pod is replaced in one step, so the rollout began before it.
      start: set.status.updateRevision ? headwayOf(seen.counts) : undefined,
      movingReason,
      beginning: beginningOf(seen),
      paused: updateStrategy?.paused
        ? { status: 'Unknown', reason: pausedReason, message: `The rollout is paused. ${updated}.` }
        : undefined,
      // While the controller creates, deletes or changes pods, the rollout is not complete.
      settled: done.some(({ kind }) => touchingKinds.has(kind)) ? undefined : settledOf(seen, counts, expected),
      failed,
      hasRisen: hasRisen(set.status, counts),
      messages: {
        moving: `${updated}, ${available} available.${why.named}`,
        waiting: (reason) =>
          reason === resumedReason ? `${resumedText(revisions.update.name)}${why.named}` : undefined,
        exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
      },
    },
    nowMs,
  )
}

/**
 * Complete: every replica is updated and available, and no other pod exists. Held by the partition: all pods that it
 * releases are updated and available.
 */
function settledOf(
  { revisions, bounds: { replicas, partition } }: Derived,
  counts: Counts,
  expected: number,
): Rollout['settled'] {
  if (counts.updatedAvailableReplicas < expected || counts.updatedReplicas < expected) return undefined
  const what = `Revision ${revisions.update.name}`
  if (expected < replicas) {
    const kept = `the partition of ${partition} keeps the others`
    return {
      reason: partitionReached,
      message: `${what} has been rolled out to ${counts.updatedReplicas} of ${replicas} replicas: ${kept}.`,
    }
  }
  const isWhole = counts.availableReplicas === replicas && counts.replicas === replicas
  return isWhole
    ? { reason: completeReason, message: `${what} has been rolled out to ${allOf(replicas, 'replica')}.` }
    : undefined
}

/** The change that restarts the clock: a new revision, the end of a pause, a scale, or another partition. */
function beginningOf(seen: Derived): Omit<Saying, 'type'> | undefined {
  const {
    set,
    revisions,
    bounds: { replicas },
  } = seen
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas = 0 } = set.status
  const { name } = revisions.update
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== name) {
    return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  }
  if (current.reason === pausedReason) return { status: 'Unknown', reason: resumedReason, message: resumedText(name) }
  const isAsSeen =
    desiredReplicas === undefined || (desiredReplicas === replicas && expectedUpdatedReplicas === expectedBefore(seen))
  const isSame = isAsSeen && !mayHavePaused(seen, current.reason)
  return isSame
    ? undefined
    : {
        status: 'True',
        reason: movingReason,
        message: `${shareOf(expectedUpdated(seen), replicas, 'replica')} to be at revision ${name}.`,
      }
}

/**
 * The expected number under the stored status and the current partition. Pods that are created or deleted change the
 * expectation as well, and do not restart the clock.
 */
function expectedBefore({ set: { status }, bounds: { replicas, partition } }: Derived): number {
  const left = status.replicas - status.updatedReplicas
  return Math.max(
    0,
    replicas - (status.currentRevision === status.updateRevision ? Math.min(partition, left) : partition),
  )
}

/**
 * True if the set was changed more than once since the last reconcile: it may have been paused and resumed unobserved.
 */
function mayHavePaused({ set }: Derived, reason: string | undefined): boolean {
  const { generation = 0 } = set.metadata
  const isOver = reason === completeReason || reason === partitionReached || reason === deadlineExceeded
  return !isOver && generation > addInt64(set.status.observedGeneration ?? generation, 1)
}
