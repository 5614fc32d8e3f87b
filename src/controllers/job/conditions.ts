import { type Cause, afterward, causeOfPod, firstCause } from '../../api/explain/index.ts'
import type { JobCondition, Pod } from '../../api/generated/types.ts'
import {
  type Saying, findCondition, isConditionTrue, isPodFinished, isPodTerminating, sameWords, setCondition, timestamp, untilLateMs, whyOf,
} from '../kit/workload/index.ts'
import { endedAtMs, waitMs } from './back-off.ts'
import type { Effects } from './effects.ts'
import type { Goal } from './goal.ts'
import type { Observed } from './observe.ts'
import { isSuspended } from './tracking.ts'

/** What a Job says of itself. Upstream's conditions appear when they are first true; Waiting and Running are always there. */
export function conditionsOf(seen: Observed, effects: Effects, isOver: boolean): JobCondition[] {
  const { job, goal, nowMs } = seen
  const sayings = [...(goal ? endOf(goal, isOver) : suspensionOf(seen)), ...phaseOf(seen, effects, isOver)]
  let conditions: JobCondition[] = [...(job.status?.conditions ?? [])]
  for (const saying of sayings) {
    const next = setCondition(conditions, saying, nowMs) as JobCondition[]
    conditions = next.map((c) => (c.type === saying.type ? { ...c, lastProbeTime: c.lastTransitionTime! } : c))
  }
  return conditions
}

/** First that the end is decided, then that it is reached: between the two, pods go and are counted. */
function endOf({ isSuccess, reason, message, isDeclared }: Goal, isOver: boolean): Saying[] {
  const say = (type: string): Saying => ({ type, status: 'True', reason, message })
  return [...(isDeclared ? [] : [say(isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget')]), ...(isOver ? [say(isSuccess ? 'Complete' : 'Failed')] : [])]
}

function suspensionOf({ job }: Observed): Saying[] {
  if (job.metadata.deletionTimestamp) return []
  if (isSuspended(job)) return [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }]
  return isConditionTrue(job.status?.conditions, 'Suspended') ? [{ type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }] : []
}

function phaseOf(seen: Observed, effects: Effects, isOver: boolean): Saying[] {
  const { job, pods } = seen
  // A refusal that names another pod says nothing new: each status that is written has the Job reconciled, and the same tried, again.
  const say = (type: string, isTrue: boolean, reason: string, message: string): Saying =>
    ({ type, status: isTrue ? 'True' : 'False', reason, message: sameWords(findCondition(job.status?.conditions, type)?.message, message) })
  if (isOver) return ['Waiting', 'Running'].map((type) => say(type, false, 'JobFinished', 'The Job is finished'))
  const isRunning = pods.some((pod) => pod.status?.phase === 'Running')
  const pending = pods.filter((pod) => pod.status?.phase === 'Pending' && (pod.spec.nodeName || !effects.ended.has(pod)))
  const named = whyOf(causeOf(seen, effects)).named
  const running = isRunning
    ? say('Running', true, 'PodsRunning', `A pod is running.${named}`)
    : say('Running', false, 'NoPodsRunning', 'No pod is running')
  if (isSuspended(job)) return [say('Waiting', true, 'JobSuspended', 'The Job is suspended'), running]
  if (isRunning) return [say('Waiting', false, 'PodsRunning', 'A pod is running'), running]
  if (pending.length + effects.created > 0) return [say('Waiting', true, 'PodsPending', `No pod is running yet.${named}`), running]
  return [say('Waiting', false, ...reasonForNone(seen, effects, named)), running]
}

/** The first cause among pods that are to run. Pods that have ended are counted, and not waited for. */
function causeOf({ job, pods, finders, nowMs }: Observed, { ended, refusal }: Effects): Cause | undefined {
  return firstCause({
    kind: 'Job',
    object: job,
    pods: pods.filter((pod) => !isPodFinished(pod) && !ended.has(pod)),
    around: { nowMs, runsToCompletion: true, ...finders },
    refusal: refusal && { what: 'CreateRefused', message: refusal.message },
  }).cause
}

/** Why the pod failed that has ended last. */
function lastFailure(pods: readonly Pod[], nowMs: number): Cause | undefined {
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed').toSorted((a, b) => endedAtMs(a) - endedAtMs(b))
  const last = failed.at(-1)
  return last && causeOfPod(last, { nowMs, runsToCompletion: true })
}

/** The time after which a status says something else by itself: a pod that is being deleted is late. */
export const changesInMs = ({ pods, nowMs }: Observed): number | undefined =>
  untilLateMs(pods.filter(isPodTerminating), nowMs)

/** Why there are no pods. */
function reasonForNone(
  { job: { spec }, pods, goal, backOff, nowMs }: Observed, { refusal }: Effects, named: string,
): [reason: string, message: string] {
  if (refusal) return ['FailedCreate', `The Job has no pods.${named}`]
  const ms = goal ? 0 : waitMs(backOff, nowMs)
  if (ms > 0 && spec.backoffLimitPerIndex === undefined) {
    const failures = `${backOff.failures} ${backOff.failures === 1 ? 'failure' : 'failures'} in a row`
    const why = afterward(lastFailure(pods, nowMs))
    return ['BackOff', `After ${failures}, the next pod is due at ${timestamp(nowMs + ms)}.${why}`]
  }
  return ['NoPods', 'The Job has no pods']
}
