import { type Cause, type Pause, firstCause, pauseOf, pauseText, podsThatMatter } from '../../api/explain/index.ts'
import type { JobCondition } from '../../api/generated/types.ts'
import {
  type Saying, findCondition, isConditionTrue, isPodTerminating, sameWords, setCondition, untilLateMs, whyOf,
} from '../kit/workload/index.ts'
import type { Effects } from './effects.ts'
import type { Goal } from './goal.ts'
import type { Observed } from './observe.ts'
import { wantedPods } from './run-pods.ts'
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
  if (isOver) return ['Waiting', 'Running'].map((type) => say(type, false, 'JobFinished', 'The Job is finished.'))
  const isRunning = pods.some((pod) => pod.status?.phase === 'Running')
  const pending = pods.filter((pod) => pod.status?.phase === 'Pending' && (pod.spec.nodeName || !effects.ended.has(pod)))
  const pause = pauseIn(seen, effects)
  const named = `${pauseSentence(pause)}${whyOf(causeOf(seen, effects, pause !== undefined)).named}`
  const running = isRunning
    ? say('Running', true, 'PodsRunning', `A pod is running.${named}`)
    : say('Running', false, 'NoPodsRunning', 'No pod is running.')
  if (isSuspended(job)) return [say('Waiting', true, 'JobSuspended', 'The Job is suspended.'), running]
  if (isRunning) return [say('Waiting', false, 'PodsRunning', 'A pod is running.'), running]
  if (pending.length + effects.created > 0) return [say('Waiting', true, 'PodsPending', `No pod is running yet.${named}`), running]
  const reason = effects.refusal ? 'FailedCreate' : pause ? 'BackOff' : 'NoPods'
  const text = pause && !effects.refusal ? named.trim() : `The Job has no pods.${named}`
  return [say('Waiting', false, reason, text), running]
}

/** The pause before the next pod, where pods are missing. */
function pauseIn({ job, pods, tally, goal, backOff, nowMs }: Observed, { created, ended }: Effects): Pause | undefined {
  const isComplete = tally.active.length - ended.size + created >= wantedPods({ job, tally })
  return goal || isComplete || isSuspended(job) ? undefined : pauseOf(job, pods, nowMs, backOff)
}

function pauseSentence(pause: Pause | undefined): string {
  const text = pause && pauseText(pause)
  return text ? ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.` : ''
}

/** The first cause among the pods that explain the Job. */
function causeOf(
  { job, pods, finders, nowMs }: Observed, { ended, refusal }: Effects, isPaused: boolean,
): Cause | undefined {
  return firstCause({
    kind: 'Job',
    object: job,
    pods: podsThatMatter(pods.filter((pod) => !ended.has(pod)), isPaused),
    around: { nowMs, runsToCompletion: true, ...finders },
    refusal: refusal && { what: 'CreateRefused', message: refusal.message },
  }).cause
}

/** The time after which a status says something else by itself: a pod that is being deleted is late. */
export const changesInMs = ({ pods, nowMs }: Observed): number | undefined =>
  untilLateMs(pods.filter(isPodTerminating), nowMs)
