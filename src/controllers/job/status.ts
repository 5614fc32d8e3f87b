import type { JobStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { isPodReady, millisecondsOf, timestamp } from '../kit/workload/index.ts'
import { conditionsOf } from './conditions.ts'
import { type Effects, effectsOf } from './effects.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { fateInFailure } from './tally.ts'
import { isFinished, isIndexed, isManagedElsewhere, isSuspended, isTracked } from './tracking.ts'

/** How many pods the status names at most: some 20 kB. */
const mostUncounted = 500

/** The status that is true after these actions. */
export function status(seen: Observed, outcome: Outcome<Action>): JobStatus {
  const { job, tally, pods, goal, nowMs } = seen
  if (isManagedElsewhere(job) || isFinished(job)) return job.status
  const effects = effectsOf(outcome)
  const counts = countsOf(seen, effects)
  const terminating = tally.terminating + [...effects.ended].filter((pod) => pod.spec.nodeName || isHeld(pod, effects)).length
  const active = tally.active.length - effects.ended.size + effects.created
  const isOver = goal !== undefined && active + terminating === 0 && pods.every((pod) => !isTracked(pod) || effects.letGo.has(pod))
  const { startTime: started, ...before } = job.status ?? {}
  const startTime = isSuspended(job) && !goal ? undefined : (started ?? timestamp(nowMs))
  const conditions = conditionsOf(seen, effects, isOver)
  return {
    ...before,
    ...(startTime ? { startTime } : {}),
    ...(conditions.length ? { conditions } : {}),
    ...counts,
    active,
    ready: tally.ready - [...effects.ended].filter(isPodReady).length,
    terminating,
    // A clock that was set back since must not keep a Job from completing.
    ...(isOver && goal.isSuccess ? { completionTime: timestamp(Math.max(nowMs, millisecondsOf(startTime))) } : {}),
  }
}

/** Whether a pod that was deleted stays until it is let go. */
const isHeld = (pod: Pod, { letGo }: Effects): boolean => (pod.metadata.finalizers?.length ?? 0) > (letGo.has(pod) && isTracked(pod) ? 1 : 0)

type Counts = Pick<JobStatus, 'succeeded' | 'failed' | 'uncountedTerminatedPods' | 'completedIndexes' | 'failedIndexes'>

/**
 * Counts what has been let go, and names what is to be. A success of an index is known by the index, and needs no uid.
 */
function countsOf({ job, pods, tally, goal }: Observed, { letGo, ended }: Effects): Counts {
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted } = job.status ?? {}
  const held = new Set(pods.filter((pod) => isTracked(pod) && !letGo.has(pod)).map((pod) => pod.metadata.uid!))
  const left = (uids: readonly string[] = []) => uids.filter((uid) => held.has(uid))
  const [oldSucceeded, oldFailed] = [left(uncounted?.succeeded), left(uncounted?.failed)]
  const ends = new Map(tally.fates)
  if (goal?.isDeclared && !goal.isSuccess) for (const pod of ended) if (held.has(pod.metadata.uid!)) ends.set(pod, fateInFailure(job, pod))
  const fresh = [...ends].flatMap(([{ metadata: { uid } }, fate]) => (held.has(uid!) && !tally.written.has(uid!) ? [{ uid: uid!, fate }] : []))
  const newSucceeded = isIndexed(job) ? [] : fresh.filter(({ fate }) => fate === 'succeeded')
  const newFailed = fresh.filter(({ fate }) => fate === 'failed')
  const room = Math.max(0, mostUncounted - oldSucceeded.length - oldFailed.length)
  const next = [...newSucceeded, ...newFailed].slice(0, room)
  const uidsOf = (wanted: string) => next.filter(({ fate }) => fate === wanted).map(({ uid }) => uid)
  const succeededUids = [...oldSucceeded, ...uidsOf('succeeded')]
  const failedUids = [...oldFailed, ...uidsOf('failed')]
  return {
    succeeded: isIndexed(job) ? tally.succeededIndexes.size : succeeded + (uncounted?.succeeded?.length ?? 0) - oldSucceeded.length,
    failed: failed + (uncounted?.failed?.length ?? 0) - oldFailed.length,
    uncountedTerminatedPods: {
      ...(succeededUids.length ? { succeeded: succeededUids } : {}),
      ...(failedUids.length ? { failed: failedUids } : {}),
    },
    ...(isIndexed(job) ? { completedIndexes: `${tally.succeededIndexes}` } : {}),
    ...(tally.failedIndexes ? { failedIndexes: `${tally.failedIndexes}` } : {}),
  }
}
