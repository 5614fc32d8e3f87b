import { deepEqual } from '../../api/deep-equal.ts'
import type { JobStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { isPodReady, millisecondsOf, timestamp } from '../kit/workload/index.ts'
import { type BackOff, backOffAfter } from './back-off.ts'
import { conditionsOf } from './conditions.ts'
import { type Effects, effectsOf } from './effects.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { fateInFailure } from './member.ts'
import { isFinished, isIndexed, isManagedElsewhere, isSuspended, isTracked } from './tracking.ts'

/** How many pods the status names at most: some 20 kB. */
const mostUncounted = 500

/** The status that is true after these actions. */
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
    // A clock that was set back since must not keep a Job from completing.
    ...(isOver && goal.isSuccess ? { completionTime: timestamp(Math.max(nowMs, millisecondsOf(startTime))) } : {}),
  }
}

/** Whether a pod that was deleted stays until it is let go. */
const isHeld = (pod: Pod, { letGo }: Effects): boolean => (pod.metadata.finalizers?.length ?? 0) > (letGo.has(pod) && isTracked(pod) ? 1 : 0)

type Counts = Pick<JobStatus, 'succeeded' | 'failed' | 'uncountedTerminatedPods' | 'completedIndexes' | 'failedIndexes'>

/** How many pods are tracked after these effects. */
const heldCount = ({ pods }: Observed, { letGo }: Effects): number =>
  pods.tracked.size - [...letGo].filter((pod) => pods.tracked.has(pod.metadata.uid!)).length

/** The uids of pods whose end the status names, until they are let go. */
interface Uncounted {
  succeeded: readonly string[]
  failed: readonly string[]
}

/**
 * Counts what has been let go, and names what is to be. A success of an index is known by the index, and needs no uid.
 */
function countsOf(seen: Observed, effects: Effects): Counts {
  const { job, tally } = seen
  const { succeeded = 0, failed = 0, uncountedTerminatedPods } = job.status ?? {}
  const { succeeded: written = [], failed: writtenFailed = [] } = uncountedTerminatedPods ?? {}
  const left = uncountedLeft(seen, effects)
  const fresh = newlyUncounted(seen, effects)
  const [succeededUids, failedUids] = [[...left.succeeded, ...fresh.succeeded], [...left.failed, ...fresh.failed]]
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

/** Those that the status names and that are still held. */
function uncountedLeft({ job, pods }: Observed, { letGo }: Effects): Uncounted {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {}
  const isHeld = (uid: string) => pods.tracked.has(uid) && !letGo.has(pods.tracked.get(uid)!.pod)
  return { succeeded: succeeded.filter(isHeld), failed: failed.filter(isHeld) }
}

/** Those that the status is to name from now on, as far as there is room. */
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
 * The back-off with the failures that this status knows, or that need no record. Those for which it has no room count
 * when they get it.
 */
export function rememberedBackOff(seen: Observed, outcome: Outcome<Action>): BackOff | undefined {
  const { job, tally, backOffBefore } = seen
  if (isFinished(job)) return undefined
  const effects = effectsOf(outcome)
  const recorded = new Set(newlyUncounted(seen, effects).failed)
  const failed = tally.newlyFailed.filter(({ pod }) => recorded.has(pod.metadata.uid!) || effects.letGo.has(pod))
  return backOffAfter(backOffBefore, tally.newlySucceeded.map(({ pod }) => pod), failed.map(({ pod }) => pod))
}

/** Numbers and successes may wait for more of them. Failures may not: the back-off counts them by what is on record. */
export function statusMayWait(before: JobStatus, after: JobStatus): boolean {
  const gist = ({ startTime, conditions, failed, failedIndexes, uncountedTerminatedPods }: JobStatus) => ({
    counts: [startTime, failed ?? 0, failedIndexes, uncountedTerminatedPods?.failed ?? []],
    conditions: conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
  })
  return deepEqual(gist(before), gist(after))
}
