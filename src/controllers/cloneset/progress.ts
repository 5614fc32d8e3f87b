import {
  type Progress, type Saying, type Why, deadlineExceeded, decideProgress, findCondition, hasMoved, headwayOf, renewCondition, setTimedCondition,
} from '../kit/workload/index.ts'
import type { Counts } from './counts.ts'
import type { Look } from './look.ts'
import type { Revision } from './revision.ts'

const pausedReason = 'RolloutPaused'
const completeReason = 'NewRevisionAvailable'
const heldReason = 'PartitionReached'
const movingReason = 'ReplicasUpdated'

/** The revision that all pods are of, if there is one, as OpenKruise tells it: whether they are ready makes no difference. */
export const currentAfter = ({ revisions: { current, update } }: Look, { updatedReplicas, replicas }: Counts): Revision => (updatedReplicas === replicas ? update : current)

/** How many replicas are to be of the new revision. Where that is the current one, too, the partition keeps no more than is left of others. */
export function expectedUpdated(look: Look, counts = look.counts, current = look.revisions.current): number {
  const { revisions: { update }, bounds: { replicas, partition } } = look
  const left = counts.replicas - counts.updatedReplicas
  return Math.max(0, replicas - (current.name === update.name ? Math.min(partition, left) : partition))
}

/** What Progressing says of a set, next to its other conditions. `why` is what it waits for, if that is known already. */
export function progressOf(look: Look, counts: Counts = look.counts, why?: Why): Progress {
  const { seen: { set, nowMs }, revisions, bounds: { replicas, partition } } = look
  const { updateStrategy, progressDeadlineSeconds } = set.spec
  const expected = expectedUpdated(look, counts, currentAfter(look, counts))
  const what = `revision ${revisions.update.name}`
  const updated = `${counts.updatedReplicas} of ${expected} replicas are at ${what}`
  if (updateStrategy?.paused) {
    const paused: Saying = { type: 'Progressing', status: 'Unknown', reason: pausedReason, message: `The rollout is paused. ${updated}.` }
    return { conditions: setTimedCondition(set.status.conditions, paused, nowMs), deadlineInMs: undefined }
  }
  const isHeldByPartition = expected < replicas
  const isSettled = counts.availableReplicas === replicas && counts.replicas === replicas
  const moving = `${updated}, ${counts.availableReplicas} of ${replicas} are available.${why?.trouble ?? ''}`
  const beginning = beginningOf(look)
  return decideProgress(beginning ? renewCondition(set.status.conditions, { type: 'Progressing', ...beginning }, nowMs) : set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    reasons: { complete: isHeldByPartition ? heldReason : completeReason, moving: movingReason },
    isComplete: counts.updatedReplicas >= expected && isSettled,
    hasMoved: hasMoved(headwayOf(set.status), headwayOf(counts)),
    messages: {
      complete: isHeldByPartition
        ? `All ${expected} replicas that the partition of ${partition} lets go are available at ${what}.`
        : `All ${replicas} replicas are available at ${what}.`,
      moving,
      waiting: moving,
      exceeded: `No progress with ${what} for ${progressDeadlineSeconds} seconds.${why?.blocker ?? ''}`,
    },
  }, nowMs)
}

/** What starts the clock anew: a new revision, the end of a pause, a scale, or another partition. */
function beginningOf(look: Look): Omit<Saying, 'type'> | undefined {
  const { seen: { set }, revisions, bounds: { replicas } } = look
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas = 0 } = set.status
  const { name } = revisions.update
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== name) return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  if (current.reason === pausedReason) return { status: 'Unknown', reason: 'RolloutResumed', message: `The rollout of revision ${name} goes on.` }
  const isAsSeen = desiredReplicas === undefined || (desiredReplicas === replicas && expectedUpdatedReplicas === expectedUpdated(look))
  const isSame = isAsSeen && !mayHavePaused(look, current.reason)
  return isSame ? undefined : { status: 'True', reason: movingReason, message: `${expectedUpdated(look)} of ${replicas} replicas are to be at revision ${name}.` }
}

/** Whether the set was changed twice or more since it was last looked at: it may have been paused for all that time and set going again, while nobody was there to see it. */
function mayHavePaused({ seen: { set } }: Look, reason: string | undefined): boolean {
  const { generation = 0 } = set.metadata
  const isOver = reason === completeReason || reason === heldReason || reason === deadlineExceeded
  return !isOver && generation - (set.status.observedGeneration ?? generation) > 1
}

/** When the deadline passes if nothing happens. */
export const deadlineInMs = (look: Look): number | undefined => progressOf(look).deadlineInMs
