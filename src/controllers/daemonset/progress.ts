import type { DaemonSetStatus } from '../../api/generated/types.ts'
import { countOf, isOrAre, shareOf } from '../../api/plural.ts'
import { millisecondsOf } from '../../api/timestamp.ts'
import {
  type Condition, type Headway, type Rollout, type Saying, type Why, decideProgress, findCondition, hasRisen, secondsText,
  waitingForDeletion,
} from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'
import type { Counts } from './places.ts'
import type { Action } from './plan.ts'

/** The conditions of a set with what Progressing says. The places are as after the step, whose actions are `done`. */
export function progressOf(seen: Observed, done: readonly Action[], why: Why, failed: Rollout['failed']): Condition[] {
  const { set, revision, nowMs, places: { counts } } = seen
  const { progressDeadlineSeconds } = set.spec
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  const what = `revision ${revision.name}`
  const nodes = shareOf(updated, desired, 'node')
  return decideProgress(set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    revision: revision.name,
    desired,
    headway: headwayOf(seen),
    movingReason: 'ReplicasUpdated',
    beginning: beginningOf(seen, counts),
    // While pods come and go by our hand, nothing is complete: what was deleted still counts until its node has ended it.
    settled: done.some(({ kind }) => kind === 'CreatePod' || kind === 'DeletePod') ? undefined : settledOf(seen),
    failed,
    hasRisen: hasRisen(replicasOf(set.status), replicasOf(counts)),
    messages: {
      moving: `${nodes} at ${what}, ${available} ${isOrAre(available)} available.${why.named}`,
      exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
    },
  }, nowMs)
}

const replicasOf = (status: Partial<DaemonSetStatus>) => ({
  replicas: (status.currentNumberScheduled ?? 0) + (status.numberMisscheduled ?? 0),
  updatedReplicas: status.updatedNumberScheduled ?? 0,
  readyReplicas: status.numberReady ?? 0,
  availableReplicas: status.numberAvailable ?? 0,
})

/** Pods of the new revision on nodes that are to run one. */
function headwayOf({ places: { counts, tally } }: Observed): Headway {
  return {
    updated: counts.updatedNumberScheduled,
    ready: tally.updatedReady,
    available: tally.updatedAvailable,
    old: counts.currentNumberScheduled - counts.updatedNumberScheduled + counts.numberMisscheduled,
  }
}

/**
 * Complete: every node is updated and available, and no pod is where none is to be. Held: what is updated is available,
 * and the rest is for a person to delete.
 */
function settledOf({ set, revision, places: { counts, tally } }: Observed): Rollout['settled'] {
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  // A pod that is going still counts in the numbers of the status, as in Kubernetes.
  if (updated === desired && available === desired && counts.numberMisscheduled === 0 && tally.notStaying === 0) {
    return { reason: 'NewRevisionAvailable', message: `Revision ${revision.name} has been rolled out to every node.` }
  }
  if (set.spec.updateStrategy.type !== 'OnDelete' || updated === desired) return undefined
  const isHeld = counts.numberMisscheduled === 0 && tally.notServed === 0
  const others = 'The others are updated when you delete their pods (OnDelete).'
  const message = `${shareOf(updated, desired, 'node')} at revision ${revision.name}. ${others}`
  return isHeld ? { reason: waitingForDeletion, message } : undefined
}

/**
 * The change that starts the clock anew: a new revision, or more nodes than before because one was added. A node that
 * is lost, cordoned, drained, tainted or back again is not for the rollout to tell of, but for Available.
 */
function beginningOf(
  { set, revision, places }: Observed, { desiredNumberScheduled: desired }: Counts,
): Omit<Saying, 'type'> | undefined {
  const { conditions, updateRevision, desiredNumberScheduled } = set.status
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== revision.name) {
    return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${revision.name}.` }
  }
  const isAdded = desired > desiredNumberScheduled && millisecondsOf(places.newestAddedAt) > millisecondsOf(current.lastUpdateTime)
  const isReleased = current.reason === waitingForDeletion && set.spec.updateStrategy.type !== 'OnDelete'
  if (!isAdded && !isReleased) return undefined
  const nodes = countOf(desired, 'node is', 'nodes are')
  return { status: 'True', reason: 'ReplicasUpdated', message: `${nodes} to be at revision ${revision.name}.` }
}
