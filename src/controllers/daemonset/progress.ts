import type { DaemonSetStatus, Node, Pod } from '../../api/generated/types.ts'
import { millisecondsOf } from '../../api/timestamp.ts'
import {
  type Condition, type Headway, type Rollout, type Saying, type Why, decideProgress, findCondition, hasRisen, isPodAvailable, isPodReady, isPodTerminating,
  secondsText, waitingForDeletion,
} from '../kit/workload/index.ts'
import type { Counts } from './counts.ts'
import type { Observed } from './observe.ts'
import type { Place } from './places.ts'
import type { Action } from './plan.ts'

/** The conditions of a set with what Progressing says. `places` and `counts` are those after the step, whose actions are `done`. */
export function progressOf(
  seen: Observed, places: readonly Place[], counts: Counts, done: readonly Action[], why: Why, failed: Rollout['failed'],
): Condition[] {
  const { set, revision, nowMs } = seen
  const { progressDeadlineSeconds } = set.spec
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  const what = `revision ${revision.name}`
  return decideProgress(set.status.conditions, {
    deadlineSeconds: progressDeadlineSeconds,
    revision: revision.name,
    desired,
    headway: headwayOf(seen, places, counts),
    movingReason: 'ReplicasUpdated',
    beginning: beginningOf(seen, counts),
    // While pods come and go by our hand, nothing is complete: what was deleted still counts until its node has ended it.
    settled: done.some(({ kind }) => kind === 'CreatePod' || kind === 'DeletePod') ? undefined : settledOf(seen, places, counts),
    failed,
    hasRisen: hasRisen(replicasOf(set.status), replicasOf(counts)),
    messages: {
      moving: `${updated} of ${desired} nodes are at ${what}, ${available} are available.${why.named}`,
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
function headwayOf({ set, revision, nowMs }: Observed, places: readonly Place[], counts: Counts): Headway {
  const { minReadySeconds = 0 } = set.spec
  const headway: Headway = {
    updated: counts.updatedNumberScheduled,
    ready: 0,
    available: 0,
    old: counts.currentNumberScheduled - counts.updatedNumberScheduled + counts.numberMisscheduled,
  }
  for (const { fit, pods } of places) {
    if (fit !== 'run') continue
    const updated = pods.filter((pod) => !isPodTerminating(pod) && revision.has(pod))
    if (updated.some(isPodReady)) headway.ready++
    if (updated.some((pod) => isPodAvailable(pod, minReadySeconds, nowMs))) headway.available++
  }
  return headway
}

/**
 * Complete: every node is updated and available, and no pod is where none is to be. Held: what is updated is available,
 * and the rest is for a person to delete.
 */
function settledOf({ set, revision, nowMs }: Observed, places: readonly Place[], counts: Counts): Rollout['settled'] {
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  const what = `revision ${revision.name}`
  // A pod that is going still counts in the numbers of the status, as in Kubernetes.
  const isStaying = places.every(({ fit, pods: [pod] }) => fit !== 'run' || (pod && !isPodTerminating(pod)))
  if (updated === desired && available === desired && counts.numberMisscheduled === 0 && isStaying) {
    return { reason: 'NewRevisionAvailable', message: `Revision ${revision.name} has been rolled out to every node.` }
  }
  if (set.spec.updateStrategy.type !== 'OnDelete' || updated === desired) return undefined
  const isAvailable = (pod: Pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)
  const isServed = (pod: Pod | undefined) => pod && !isPodTerminating(pod) && (!revision.has(pod) || isAvailable(pod))
  const isHeld = counts.numberMisscheduled === 0 && places.every(({ fit, pods }) => fit !== 'run' || isServed(pods[0]))
  const others = 'The others are updated when you delete their pods (OnDelete).'
  return isHeld ? { reason: waitingForDeletion, message: `${updated} of ${desired} nodes are at ${what}. ${others}` } : undefined
}

/**
 * The change that starts the clock anew: a new revision, or more nodes than before because one was added. A node that
 * is lost, cordoned, drained, tainted or back again is not for the rollout to tell of, but for Available.
 */
function beginningOf(
  { set, revision, newestNode }: Observed, { desiredNumberScheduled: desired }: Counts,
): Omit<Saying, 'type'> | undefined {
  const { conditions, updateRevision, desiredNumberScheduled } = set.status
  const current = findCondition(conditions, 'Progressing')
  if (!current || updateRevision !== revision.name) {
    return { status: 'True', reason: 'NewRevisionCreated', message: `Rolling out revision ${revision.name}.` }
  }
  const isAdded = desired > desiredNumberScheduled && createdMs(newestNode) > millisecondsOf(current.lastUpdateTime)
  const isReleased = current.reason === waitingForDeletion && set.spec.updateStrategy.type !== 'OnDelete'
  if (!isAdded && !isReleased) return undefined
  return { status: 'True', reason: 'ReplicasUpdated', message: `${desired} nodes are to be at revision ${revision.name}.` }
}

const createdMs = (node: Node | undefined): number => millisecondsOf(node?.metadata.creationTimestamp)
