import { type Cause, causeOfPod, terminationLateAtMs } from '../../api/explain/index.ts'
import type { Job, Pod } from '../../api/generated/types.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Finders, isConditionTrue, isPodActive, isPodFinished, isPodReady, isPodTerminating,
} from '../kit/workload/index.ts'
import { endedAtMs } from './back-off.ts'
import { judgeFailure } from './failure-policy.ts'
import { failuresBefore, indexOf, isIndexed, isTracked, replacesOnlyEnded } from './tracking.ts'

/** The meaning of a tracked pod's end to its Job. A pod that is passed over is let go without being counted. */
export type Fate = 'succeeded' | 'failed' | 'passed over'

/** The facts that the pods of a Job are read by, besides the pods themselves. */
export interface Basis {
  job: Job
  matches: LabelMatcher
  finders?: Finders | undefined
}

/** A pod that the Job owns and does not select any more. */
export interface Stranger {
  isStranger: true
  pod: Pod
}

/** A pod of a Job with what the Job goes by. */
export interface Member {
  isStranger: false
  pod: Pod
  /** Undefined for a pod of no index, or of one that is not wanted. */
  index: number | undefined
  isTracked: boolean
  isActive: boolean
  /** Is being deleted and has not ended. */
  isGoing: boolean
  /** Active and ready. */
  isReady: boolean
  isRunning: boolean
  isPending: boolean
  /** Phase Failed, tracked or not. */
  hasFailed: boolean
  /** Tracked, wanted, and lost to its Job. */
  isLost: boolean
  /** The same, and the failure policy does not ignore it. */
  isCounted: boolean
  /** The same, and it is the last failure that its index may have. */
  isFinal: boolean
  /** Why the Job is to fail with this pod. */
  failsJob: string | undefined
  /** The fate of a tracked pod that has ended, unless it waits for its successor. */
  fate: Fate | undefined
  /** How often its containers were restarted, where that counts. */
  restarts: number
  /** The time of its end, for one that has failed or is lost; else 0. */
  endedMs: number
  /** Why it does not run yet, or is still there. */
  cause: Cause | undefined
  /** The time at which it is something else without any event. */
  changesAtMs: number | undefined
}

/** How many of a pod's kind a Job wants to succeed; infinite for a work queue. */
export const completionsOf = ({ spec }: Job): number => spec.completions ?? Number.POSITIVE_INFINITY

export const hasLimitPerIndex = (job: Job): boolean => isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined

const isDeleted = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined
const isFailing = ({ status }: Job): boolean => isConditionTrue(status?.conditions, 'FailureTarget')
const isSucceeding = ({ status }: Job): boolean => isConditionTrue(status?.conditions, 'SuccessCriteriaMet')

/** True if the last failed pod of an index is kept for its successor. */
export const keepsPredecessors = (job: Job): boolean =>
  hasLimitPerIndex(job) && !isDeleted(job) && !isFailing(job) && !isSucceeding(job)

/** All that pods are read by, besides themselves and what is around them. */
export function basisName(job: Job): string {
  const { spec } = job
  return JSON.stringify([
    spec.completions, spec.completionMode, spec.podReplacementPolicy, spec.podFailurePolicy, spec.backoffLimitPerIndex,
    spec.selector, spec.template.spec.restartPolicy, isDeleted(job), isFailing(job), isSucceeding(job),
  ])
}

/** True if a pod is lost to its Job: it has failed or, unless the Job waits for that, is going to. */
function isLost(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true
  return isPodTerminating(pod) && pod.status?.phase !== 'Succeeded' && !replacesOnlyEnded(job)
}

const isIgnored = ({ spec }: Job, pod: Pod): boolean => judgeFailure(spec.podFailurePolicy, pod).action === 'Ignore'

const isWanted = (job: Job, pod: Pod): boolean => !isIndexed(job) || indexOf(pod, completionsOf(job)) !== undefined

/**
 * The fate of a pod that has failed, or that its Job takes along when it fails: whatever it would have come to, it
 * counts as failed.
 */
export const fateInFailure = (job: Job, pod: Pod): Fate =>
  isWanted(job, pod) && !isIgnored(job, pod) ? 'failed' : 'passed over'

export function memberOf({ job, matches, finders }: Basis, pod: Pod, nowMs: number): Member | Stranger {
  if (!matches(pod.metadata.labels)) return { isStranger: true, pod }
  const phase = pod.status?.phase
  const isActive = isPodActive(pod)
  const isTerminating = isPodTerminating(pod)
  const isOfJob = isTracked(pod)
  const isGone = isLost(job, pod)
  const isLostHere = isOfJob && isGone && isWanted(job, pod)
  const cause = isPodFinished(pod) ? undefined : causeOfPod(pod, { nowMs, runsToCompletion: true, ...finders })
  const lateAtMs = isTerminating ? terminationLateAtMs(pod) : undefined
  return {
    isStranger: false,
    pod,
    index: isIndexed(job) ? indexOf(pod, completionsOf(job)) : undefined,
    isTracked: isOfJob,
    isActive,
    isGoing: isTerminating && !isPodFinished(pod),
    isReady: isActive && isPodReady(pod),
    isRunning: phase === 'Running',
    isPending: phase === 'Pending',
    hasFailed: phase === 'Failed',
    isLost: isLostHere,
    isCounted: isLostHere && !isIgnored(job, pod),
    isFinal: isLostHere && endsIndex(job, pod),
    failsJob: isGone ? judgeFailure(job.spec.podFailurePolicy, pod).message : undefined,
    fate: isOfJob ? fateOf(job, pod, isGone) : undefined,
    restarts: restartsOf(job, pod),
    endedMs: isGone ? endedAtMs(pod) || 0 : 0,
    cause,
    changesAtMs: soonest(cause?.changesAtMs, lateAtMs),
  }
}

/**
 * True if this failure is the last that its index may have. Pods that a Job takes along when it fails say nothing about
 * their indexes.
 */
function endsIndex(job: Job, pod: Pod): boolean {
  if (!hasLimitPerIndex(job) || (isPodTerminating(pod) && isFailing(job))) return false
  const { podFailurePolicy, backoffLimitPerIndex } = job.spec
  const { action } = judgeFailure(podFailurePolicy, pod)
  return action === 'FailIndex' || (action !== 'Ignore' && failuresBefore(pod).counted >= backoffLimitPerIndex!)
}

function fateOf(job: Job, pod: Pod, isGone: boolean): Fate | undefined {
  if (pod.status?.phase === 'Succeeded') return isWanted(job, pod) ? 'succeeded' : 'passed over'
  if (isGone || (isFailing(job) && isPodTerminating(pod))) return fateInFailure(job, pod)
  return isDeleted(job) || (isSucceeding(job) && isPodTerminating(pod)) ? 'passed over' : undefined
}

/** Pods that restart their containers themselves are judged by how often they did. */
function restartsOf({ spec }: Job, { status }: Pod): number {
  if (spec.template.spec.restartPolicy !== 'OnFailure') return 0
  if (status?.phase !== 'Running' && status?.phase !== 'Pending') return 0
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
}
