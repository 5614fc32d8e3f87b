import { type Progress, type Why, decideProgress, findCondition, hasMoved, headwayOf, renewCondition } from '../kit/workload/index.ts'
import type { Counts } from './counts.ts'
import type { Look } from './look.ts'
import { isOutdated } from './update.ts'

/** How many replicas are to be of the new revision. */
export const expectedUpdated = ({ replicas, partition }: Look): number => Math.max(0, replicas.length - partition)

/** What Progressing says of a set, next to its other conditions. `why` is the sentence about what it waits for, if it is known already. */
export function progressOf(look: Look, counts: Counts = look.counts, why?: Why): Progress {
  const { seen, revisions, partition } = look
  const { set, nowMs } = seen
  const { replicas = 1, updateStrategy, progressDeadlineSeconds } = set.spec
  const isHeldByPartition = partition > 0 && revisions.current.name !== revisions.update.name
  const isUpdated = look.replicas.every((slot, place) => place < partition || (slot.pod && !slot.isTerminating && slot.revision === revisions.update.name))
  const isSettled = counts.availableReplicas === replicas && counts.replicas === replicas
  const what = `revision ${revisions.update.name}`
  const moving = `${counts.updatedReplicas} of ${expectedUpdated(look)} replicas are at ${what}, ${counts.availableReplicas} of ${replicas} are available.${why?.trouble ?? ''}`
  const beginning = beginningOf(look)
  return decideProgress(beginning ? renewCondition(set.status.conditions, { type: 'Progressing', status: 'True', ...beginning }, nowMs) : set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    reasons: { complete: isHeldByPartition ? 'PartitionReached' : 'NewRevisionAvailable', moving: 'ReplicasUpdated' },
    isComplete: isUpdated && isSettled,
    hasMoved: hasMoved(headwayOf(set.status), headwayOf(counts)),
    // Who deletes the pods by hand takes the time that they take.
    isHeld: updateStrategy.type === 'OnDelete' && isSettled && seen.members.some((member) => isOutdated(look, member)),
    messages: {
      complete: isHeldByPartition
        ? `All ${expectedUpdated(look)} replicas from partition ${partition} on are available at ${what}.`
        : `All ${replicas} replicas are available at ${what}.`,
      moving,
      waiting: moving,
      exceeded: `No progress with ${what} for ${progressDeadlineSeconds} seconds.${why?.blocker ?? ''}`,
    },
  }, nowMs)
}

/** What starts the clock anew: a new revision, a scale, or another partition. */
function beginningOf(look: Look): { reason: string; message: string } | undefined {
  const { seen: { set }, revisions, replicas } = look
  const { conditions, updateRevision, desiredReplicas, expectedUpdatedReplicas } = set.status
  const { name } = revisions.update
  if (!findCondition(conditions, 'Progressing') || updateRevision !== name) return { reason: 'NewRevisionCreated', message: `Rolling out revision ${name}.` }
  const isSame = desiredReplicas === undefined || (desiredReplicas === replicas.length && expectedUpdatedReplicas === expectedUpdated(look))
  return isSame ? undefined : { reason: 'ReplicasUpdated', message: `${expectedUpdated(look)} of ${replicas.length} replicas are to be at revision ${name}.` }
}

/** When the deadline passes if nothing happens. */
export const deadlineInMs = (look: Look): number | undefined => (look.seen.hasConditions ? progressOf(look).deadlineInMs : undefined)
