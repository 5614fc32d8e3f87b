import { type Cause, type Pause, causeOfPod, firstOf, pauseAfter, pauseText, worstOf } from '../../api/explain/index.ts'
import type { JobCondition, Pod } from '../../api/generated/types.ts'
import { indexBackOff } from '../../api/kinds/workloads/job-back-off.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Saying,
  findCondition,
  isConditionTrue,
  isPodTerminating,
  sameWords,
  setCondition,
  whyOf,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import type { Goal } from './goal.ts'
import type { Observed } from './observe.ts'
import { wantedPods } from './plan.ts'
import { isSuspended } from './policies.ts'

/** The effects of the actions on the pods. */
export interface Effects {
  created: number
  /** Deleted or dropped pods. */
  ended: ReadonlySet<Pod>
  /** Pods that are no longer tracked. */
  letGo: ReadonlySet<Pod>
  /** The error of a pod that could not be created. */
  refusal: Error | undefined
}

export function effectsOf({ done, failed }: Outcome<Action>): Effects {
  const of = (...kinds: Action['kind'][]) =>
    new Set(done.flatMap((a) => ('pod' in a && kinds.includes(a.kind) ? [a.pod] : [])))
  return {
    created: done.filter((a) => a.kind === 'CreatePod').length,
    ended: of('DeletePod', 'DropPod'),
    letGo: of('LetGoPod', 'DropPod', 'ReleasePod'),
    refusal: failed.find(({ action }) => action.kind === 'CreatePod')?.error,
  }
}

/**
 * The conditions of a Job. Kubernetes' conditions appear when they are first true. Waiting and Running always exist.
 */
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

/** FailureTarget or SuccessCriteriaMet first; Failed or Complete after all pods are deleted and counted. */
function endOf({ isSuccess, reason, message, isDeclared }: Goal, isOver: boolean): Saying[] {
  const say = (type: string): Saying => ({ type, status: 'True', reason, message })
  return [
    ...(isDeclared ? [] : [say(isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget')]),
    ...(isOver ? [say(isSuccess ? 'Complete' : 'Failed')] : []),
  ]
}

function suspensionOf({ job }: Observed): Saying[] {
  if (job.metadata.deletionTimestamp) return []
  if (isSuspended(job)) return [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }]
  return isConditionTrue(job.status?.conditions, 'Suspended')
    ? [{ type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }]
    : []
}

function phaseOf(seen: Observed, effects: Effects, isOver: boolean): Saying[] {
  const { job, pods } = seen
  // A rejection that differs only in the pod name is not new: every written status reconciles the Job, which would
  // repeat the attempt endlessly.
  const say = (type: string, isTrue: boolean, reason: string, message: string): Saying => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason,
    message: sameWords(findCondition(job.status?.conditions, type)?.message, message),
  })
  if (isOver) return ['Waiting', 'Running'].map((type) => say(type, false, 'JobFinished', 'The Job is finished.'))
  const isRunning = pods.counts.running > 0
  const gone = [...effects.ended].filter(({ spec, status }) => status?.phase === 'Pending' && !spec.nodeName).length
  const pause = pauseIn(seen, effects)
  const named = `${pauseSentence(pause)}${whyOf(causeOf(seen, effects, pause !== undefined)).named}`
  const running = isRunning
    ? say('Running', true, 'PodsRunning', `A pod is running.${named}`)
    : say('Running', false, 'NoPodsRunning', 'No pod is running.')
  if (isSuspended(job)) return [say('Waiting', true, 'JobSuspended', 'The Job is suspended.'), running]
  if (isRunning) return [say('Waiting', false, 'PodsRunning', 'A pod is running.'), running]
  if (pods.counts.pending - gone + effects.created > 0) {
    return [say('Waiting', true, 'PodsPending', `No pod is running yet.${named}`), running]
  }
  const reason = effects.refusal ? 'FailedCreate' : pause ? 'BackOff' : 'NoPods'
  const text = pause && !effects.refusal ? named.trim() : `The Job has no pods.${named}`
  return [say('Waiting', false, reason, text), running]
}

/** The back-off before the next pod, if pods are missing. */
function pauseIn(seen: Observed, { created, ended }: Effects): Pause | undefined {
  const { job, pods, goal, backOff, nowMs } = seen
  const isComplete = pods.active.size - ended.size + created >= wantedPods(seen)
  if (goal || isComplete || isSuspended(job)) return undefined
  if (job.spec.backoffLimitPerIndex === undefined) return pauseAfter(backOff, nowMs)
  const pauses = [...pods.predecessors].flatMap(
    ([
      index,
      {
        member: { pod, hasFailed },
      },
    ]): Pause[] => {
      const pause = hasFailed && !isPodTerminating(pod) ? pauseAfter(indexBackOff(pod), nowMs) : undefined
      return pause ? [{ ...pause, index }] : []
    },
  )
  return pauses.toSorted((a, b) => a.dueAtMs - b.dueAtMs)[0]
}

function pauseSentence(pause: Pause | undefined): string {
  const text = pause && pauseText(pause)
  return text ? ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.` : ''
}

/**
 * The first cause among the unfinished pods. During a back-off, or without such pods, the last failed pod explains the
 * state.
 */
function causeOf(
  { job, pods, finders, nowMs }: Observed,
  { ended, refusal }: Effects,
  isPaused: boolean,
): Cause | undefined {
  const names = new Set(Array.from(ended, ({ metadata }) => metadata.name))
  const open = pods.causes.first(ended.size + 1).find(({ object }) => !names.has(object.name))
  const isNoneOpen = pods.active.size + pods.counts.going - ended.size <= 0
  const last = isPaused || isNoneOpen ? pods.failed.peek() : undefined
  const failure = last && causeOfPod(last.pod, { nowMs, runsToCompletion: true, ...finders })
  const refused = refusal && ({ what: 'CreateRefused', message: refusal.message } as const)
  return firstOf({ kind: 'Job', object: job, refusal: refused }, worstOf([open, failure]), undefined)
}

/** The time until a terminating pod is late, which changes the status without an event. */
export const changesInMs = ({ changesAtMs, nowMs }: Observed): number | undefined =>
  changesAtMs === undefined ? undefined : changesAtMs - nowMs
