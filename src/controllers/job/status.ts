import { deepEqual } from '../../api/deep-equal.ts'
import type { JobStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { isPodReady, millisecondsOf, timestamp } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Effects, conditionsOf, effectsOf } from './conditions.ts'
import { fateInFailure } from './member.ts'
import type { Observed } from './observe.ts'
import {
  type BackOff,
  backOffAfter,
  isFinished,
  isIndexed,
  isManagedElsewhere,
  isSuspended,
  isTracked,
} from './policies.ts'

/** The maximum number of UIDs in the status, about 20 kB. */
const mostUncounted = 500

/** Computes the status after a step. */
export function status(seen: Observed, outcome: Outcome<Action>): JobStatus {
  const { job, pods, goal, nowMs } = seen
  if (isManagedElsewhere(job) || isFinished(job)) return job.status
  const effects = effectsOf(outcome)
  const counts = countsOf(seen, effects)
  const staying = [...effects.ended].filter((pod) => pod.spec.nodeName || isHeld(pod, effects))
  const terminating = pods.counts.going + staying.length
  const active = pods.active.size - effects.ended.size + effects.created
  const isOver = goal !== undefined && active + terminating === 0 && heldCount(seen, effects) === 0
  const { startTime: started, ...before } = job.status ?? {}
  const startTime = isSuspended(job) && !goal ? undefined : (started ?? timestamp(nowMs))
  const conditions = conditionsOf(seen, effects, isOver)
  return {
    ...before,
    ...(startTime ? { startTime } : {}),
    ...(conditions.length ? { conditions } : {}),
    ...counts,
    active,
    ready: pods.counts.ready - [...effects.ended].filter(isPodReady).length,
    terminating,
    // If the clock was set back, the Job must still complete after its start.
    ...(isOver && goal.isSuccess ? { completionTime: timestamp(Math.max(nowMs, millisecondsOf(startTime))) } : {}),
  }
}

/** Reports whether a deleted pod stays until it is released. */
const isHeld = (pod: Pod, { letGo }: Effects): boolean =>
  (pod.metadata.finalizers?.length ?? 0) > (letGo.has(pod) && isTracked(pod) ? 1 : 0)

type Counts = Pick<JobStatus, 'succeeded' | 'failed' | 'uncountedTerminatedPods' | 'completedIndexes' | 'failedIndexes'>

/** The number of tracked pods after the step. */
const heldCount = ({ pods }: Observed, { letGo }: Effects): number =>
  pods.tracked.size - [...letGo].filter((pod) => pods.tracked.has(pod.metadata.uid!)).length

/** The UIDs of finished pods in the status, until they are released. */
interface Uncounted {
  succeeded: readonly string[]
  failed: readonly string[]
}

/** Counts released pods, and records the UIDs of others. A succeeded index needs no UID. */
function countsOf(seen: Observed, effects: Effects): Counts {
  const { job, tally } = seen
  const { succeeded = 0, failed = 0, uncountedTerminatedPods } = job.status ?? {}
  const { succeeded: written = [], failed: writtenFailed = [] } = uncountedTerminatedPods ?? {}
  const left = uncountedLeft(seen, effects)
  const fresh = newlyUncounted(seen, effects)
  const [succeededUids, failedUids] = [
    [...left.succeeded, ...fresh.succeeded],
    [...left.failed, ...fresh.failed],
  ]
  return {
    succeeded: isIndexed(job) ? tally.succeededIndexes.size : succeeded + written.length - left.succeeded.length,
    failed: failed + writtenFailed.length - left.failed.length,
    uncountedTerminatedPods: {
      ...(succeededUids.length ? { succeeded: succeededUids } : {}),
      ...(failedUids.length ? { failed: failedUids } : {}),
    },
    ...(isIndexed(job) ? { completedIndexes: `${tally.succeededIndexes}` } : {}),
    ...(tally.failedIndexes ? { failedIndexes: `${tally.failedIndexes}` } : {}),
  }
}

/** The recorded pods that are still tracked. */
function uncountedLeft({ job, pods }: Observed, { letGo }: Effects): Uncounted {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {}
  const isHeld = (uid: string) => pods.tracked.has(uid) && !letGo.has(pods.tracked.get(uid)!.pod)
  return { succeeded: succeeded.filter(isHeld), failed: failed.filter(isHeld) }
}

/** The pods to record now, as far as there is room. */
function newlyUncounted(seen: Observed, effects: Effects): Uncounted {
  const { job, pods, tally, goal } = seen
  const left = uncountedLeft(seen, effects)
  let room = mostUncounted - left.succeeded.length - left.failed.length
  const take = (some: Iterable<Pod>): string[] => {
    const uids: string[] = []
    for (const pod of some) {
      if (room <= 0) break
      const uid = pod.metadata.uid!
      if (tally.written.has(uid) || !pods.tracked.has(uid) || effects.letGo.has(pod)) continue
      uids.push(uid)
      room--
    }
    return uids
  }
  const isFailing = goal?.isDeclared && !goal.isSuccess
  const takenAlong = isFailing ? [...effects.ended].filter((pod) => fateInFailure(job, pod) === 'failed') : []
  const succeeded = isIndexed(job) ? [] : take(podsIn(pods.ended.succeeded.values()))
  return { succeeded, failed: [...take(podsIn(pods.ended.failed.values())), ...take(takenAlong)] }
}

function* podsIn(members: Iterable<{ pod: Pod }>): Generator<Pod> {
  for (const { pod } of members) yield pod
}

/**
 * The back-off with the failures that this status contains, or that need no record. Others count when they are
 * recorded.
 */
export function rememberedBackOff(seen: Observed, outcome: Outcome<Action>): BackOff | undefined {
  const { job, tally, backOffBefore } = seen
  if (isFinished(job)) return undefined
  const effects = effectsOf(outcome)
  const recorded = new Set(newlyUncounted(seen, effects).failed)
  const failed = tally.newlyFailed.filter(({ pod }) => recorded.has(pod.metadata.uid!) || effects.letGo.has(pod))
  return backOffAfter(
    backOffBefore,
    tally.newlySucceeded.map(({ pod }) => pod),
    failed.map(({ pod }) => pod),
  )
}

/** Changes of numbers and successes may wait. Failures may not, because the back-off depends on the recorded ones. */
export function statusMayWait(before: JobStatus, after: JobStatus): boolean {
  const gist = ({ startTime, conditions, failed, failedIndexes, uncountedTerminatedPods }: JobStatus) => ({
    counts: [startTime, failed ?? 0, failedIndexes, uncountedTerminatedPods?.failed ?? []],
    conditions: conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
  })
  return deepEqual(gist(before), gist(after))
}
