import { addInt64 } from '../../api/int64.ts'
import { allOf, isOrAre, shareOf } from '../../api/plural.ts'
import {
  type Condition, type Headway, type Rollout, type Saying, type Why, deadlineExceeded, decideProgress, findCondition, hasRisen,
  partitionReached, secondsText,
} from '../kit/workload/index.ts'
import type { Action } from './actions.ts'
import type { Counts } from './counts.ts'
import type { Look } from './look.ts'
import type { Revision } from './revision.ts'

const pausedReason = 'RolloutPaused'
const resumedReason = 'RolloutResumed'
const completeReason = 'NewRevisionAvailable'
const movingReason = 'ReplicasUpdated'
const touchingKinds: ReadonlySet<Action['kind']> = new Set(['CreatePod', 'DeletePod', 'UpdateInPlace', 'AdoptPod'])

/** The revision that all pods are of, if there is one, as OpenKruise tells it: whether they are ready makes no difference. */
export const currentAfter = ({ revisions: { current, update } }: Look, { updatedReplicas, replicas }: Counts): Revision => (updatedReplicas === replicas ? update : current)

/** How many replicas are to be of the new revision. Where that is the current one, too, the partition keeps no more than is left of others. */
export function expectedUpdated(look: Look, counts = look.counts, current = look.revisions.current): number {
  const { revisions: { update }, bounds: { replicas, partition } } = look
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

/** The conditions of a set with what Progressing says. `counts` are those after the step, whose actions are `done`. */
export function progressOf(
  look: Look, counts: Counts, done: readonly Action[], why: Why, failed: Rollout['failed'],
): Condition[] {
  const { seen: { set, nowMs }, revisions, bounds: { replicas } } = look
  const { updateStrategy, progressDeadlineSeconds } = set.spec
  const expected = expectedUpdated(look, counts, currentAfter(look, counts))
  const what = `revision ${revisions.update.name}`
  const updated = `${shareOf(counts.updatedReplicas, expected, 'replica')} at ${what}`
  const available = `${counts.availableReplicas} of ${replicas} ${isOrAre(counts.availableReplicas, replicas)}`
  return decideProgress(set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    revision: revisions.update.name,
    desired: replicas,
    headway: headwayOf(counts),
    // A pod is replaced in one step: the rollout began before it.
    start: set.status.updateRevision ? headwayOf(look.counts) : undefined,
    movingReason,
    beginning: beginningOf(look),
    paused: updateStrategy?.paused ? { status: 'Unknown', reason: pausedReason, message: `The rollout is paused. ${updated}.` } : undefined,
    // While pods come, go and change by our hand, nothing is complete.
    settled: done.some(({ kind }) => touchingKinds.has(kind)) ? undefined : settledOf(look, counts, expected),
    failed,
    hasRisen: hasRisen(set.status, counts),
    messages: {
      moving: `${updated}, ${available} available.${why.named}`,
      waiting: (reason) => (reason === resumedReason ? `${resumedText(revisions.update.name)}${why.named}` : undefined),
      exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
    },
  }, nowMs)
}

/**
 * Complete: every replica is updated and available, and no other pod is left. Held by the partition: as many as it lets
 * go are updated and available, whatever the pods of older revisions do.
 */
function settledOf({ revisions, bounds: { replicas, partition } }: Look, counts: Counts, expected: number): Rollout['settled'] {
  if (counts.updatedAvailableReplicas < expected || counts.updatedReplicas < expected) return undefined
  const what = `Revision ${revisions.update.name}`
  if (expected < replicas) {
    const kept = `the partition of ${partition} keeps the others`
    return { reason: partitionReached, message: `${what} has been rolled out to ${counts.updatedReplicas} of ${replicas} replicas: ${kept}.` }
  }
  const isWhole = counts.availableReplicas === replicas && counts.replicas === replicas
  return isWhole ? { reason: completeReason, message: `${what} has been rolled out to ${allOf(replicas, 'replica')}.` } : undefined
}

/** What starts the clock anew: a new revision, the end of a pause, a scale, or another partition. */
function beginningOf(look: Look): Omit<Saying, 'type'> | undefined {
  const { seen: { set }, revisions, bounds: { replicas } } = look
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas = 0 } = set.status
  const { name } = revisions.update
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== name) return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  if (current.reason === pausedReason) return { status: 'Unknown', reason: resumedReason, message: resumedText(name) }
  const isAsSeen = desiredReplicas === undefined || (desiredReplicas === replicas && expectedUpdatedReplicas === expectedBefore(look))
  const isSame = isAsSeen && !mayHavePaused(look, current.reason)
  return isSame ? undefined : { status: 'True', reason: movingReason, message: `${shareOf(expectedUpdated(look), replicas, 'replica')} to be at revision ${name}.` }
}

/** What the stored status would expect of today's partition: pods that come and go change what is expected, too, and begin nothing. */
function expectedBefore({ seen: { set: { status } }, bounds: { replicas, partition } }: Look): number {
  const left = status.replicas - status.updatedReplicas
  return Math.max(0, replicas - (status.currentRevision === status.updateRevision ? Math.min(partition, left) : partition))
}

/** Whether the set was changed twice or more since it was last looked at: it may have been paused for all that time and set going again, while nobody was there to see it. */
function mayHavePaused({ seen: { set } }: Look, reason: string | undefined): boolean {
  const { generation = 0 } = set.metadata
  const isOver = reason === completeReason || reason === partitionReached || reason === deadlineExceeded
  return !isOver && generation > addInt64(set.status.observedGeneration ?? generation, 1)
}
