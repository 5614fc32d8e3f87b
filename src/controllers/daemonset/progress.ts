import type { DaemonSetStatus } from '../../api/generated/types.ts'
import { countOf, isOrAre, shareOf } from '../../api/printing/plural.ts'
import { millisecondsOf } from '../../api/object.ts'
import {
  type Condition,
  type Headway,
  type Rollout,
  type Saying,
  type Why,
  decideProgress,
  findCondition,
  hasRisen,
  secondsText,
  waitingForDeletion,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import type { Counts } from './node-table.ts'
import type { Observed } from './observe.ts'

/**
 * The conditions of a set, including Progressing. The node table is in the state after the step, whose actions are
 * `done`.
 */
export function progressOf(seen: Observed, done: readonly Action[], why: Why, failed: Rollout['failed']): Condition[] {
  const {
    set,
    revision,
    nowMs,
    table: { counts },
  } = seen
  const { progressDeadlineSeconds } = set.spec
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  const what = `revision ${revision.name}`
  const nodes = shareOf(updated, desired, 'node')
  return decideProgress(
    set.status.conditions,
    {
      deadlineSeconds: progressDeadlineSeconds,
      revision: revision.name,
      desired,
      headway: headwayOf(seen),
      movingReason: 'ReplicasUpdated',
      beginning: beginningOf(seen, counts),
      // While the controller creates or deletes pods, the rollout is not complete: a deleted pod counts until its node
      // has ended it.
      settled: done.some(({ kind }) => kind === 'CreatePod' || kind === 'DeletePod') ? undefined : settledOf(seen),
      failed,
      hasRisen: hasRisen(replicasOf(set.status), replicasOf(counts)),
      messages: {
        moving: `${nodes} at ${what}, ${available} ${isOrAre(available)} available.${why.named}`,
        exceeded: `No progress with ${what} for ${secondsText(progressDeadlineSeconds)}.${why.always}`,
      },
    },
    nowMs,
  )
}

const replicasOf = (status: Partial<DaemonSetStatus>) => ({
  replicas: (status.currentNumberScheduled ?? 0) + (status.numberMisscheduled ?? 0),
  updatedReplicas: status.updatedNumberScheduled ?? 0,
  readyReplicas: status.numberReady ?? 0,
  availableReplicas: status.numberAvailable ?? 0,
})

/** The updated pods on eligible nodes. */
function headwayOf({ table: { counts, tally } }: Observed): Headway {
  return {
    updated: counts.updatedNumberScheduled,
    ready: tally.updatedReady,
    available: tally.updatedAvailable,
    old: counts.currentNumberScheduled - counts.updatedNumberScheduled + counts.numberMisscheduled,
  }
}

/**
 * Complete: every node is updated and available, and no pod is misplaced. Held (OnDelete): the updated pods are
 * available, and a user must delete the others.
 */
function settledOf({ set, revision, table: { counts, tally } }: Observed): Rollout['settled'] {
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  // As in Kubernetes, terminating pods count in the numbers of the status.
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
 * The change that restarts the clock: a new revision, or an added node. A node that is lost, cordoned, drained, tainted
 * or back again affects Available only.
 */
function beginningOf(
  { set, revision, table }: Observed,
  { desiredNumberScheduled: desired }: Counts,
): Omit<Saying, 'type'> | undefined {
  const { conditions, updateRevision, desiredNumberScheduled } = set.status
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== revision.name) {
    return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${revision.name}.` }
  }
  const isAdded =
    desired > desiredNumberScheduled && millisecondsOf(table.newestAddedAt) > millisecondsOf(current.lastUpdateTime)
  const isReleased = current.reason === waitingForDeletion && set.spec.updateStrategy.type !== 'OnDelete'
  if (!isAdded && !isReleased) return undefined
  const nodes = countOf(desired, 'node is', 'nodes are')
  return { status: 'True', reason: 'ReplicasUpdated', message: `${nodes} to be at revision ${revision.name}.` }
}
