import { type Cause, causeOfPod, terminationLateAtMs } from '../../api/explain/index.ts'
import type { Job, Pod } from '../../api/generated/types.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Finders,
  isConditionTrue,
  isPodActive,
  isPodFinished,
  isPodReady,
  isPodTerminating,
} from '../kit/workload/index.ts'
import {
  endedAtMs,
  failuresBefore,
  indexOf,
  isIndexed,
  isTracked,
  judgeFailure,
  replacesOnlyEnded,
} from './policies.ts'

/** The effect of a tracked pod's end on its Job. A pod that is passed over is released without being counted. */
export type Fate = 'succeeded' | 'failed' | 'passed over'

/** The input for reading the pods of a Job, besides the pods. */
export interface Basis {
  job: Job
  matches: LabelMatcher
  finders?: Finders | undefined
}

/** A pod that the Job owns and no longer selects. */
export interface Stranger {
  isStranger: true
  pod: Pod
}

/** A pod of a Job, with the facts that the Job depends on. */
export interface Member {
  isStranger: false
  pod: Pod
  /** Undefined for a pod without an index, or with an index beyond the completions. */
  index: number | undefined
  isTracked: boolean
  isActive: boolean
  /** Being deleted and not finished. */
  isGoing: boolean
  /** Active and ready. */
  isReady: boolean
  isRunning: boolean
  isPending: boolean
  /** Phase Failed, tracked or not. */
  hasFailed: boolean
  /** Tracked, wanted, and failed or about to fail. */
  isLost: boolean
  /** Lost, and not ignored by the failure policy. */
  isCounted: boolean
  /** Counted, and the last failure that its index may have. */
  isFinal: boolean
  /** The reason why this pod causes the Job to fail. */
  failsJob: string | undefined
  /** The fate of a finished tracked pod, unless it waits for its successor. */
  fate: Fate | undefined
  /** The number of container restarts, if they count. */
  restarts: number
  /** The end of a failed or lost pod, otherwise 0. */
  endedMs: number
  /** The reason why the pod does not run yet, or still exists. */
  cause: Cause | undefined
  /** The time at which a field changes without an event. */
  changesAtMs: number | undefined
}

/** The number of successes that a Job needs. Infinite for a work queue. */
export const completionsOf = ({ spec }: Job): number => spec.completions ?? Number.POSITIVE_INFINITY

export const hasLimitPerIndex = (job: Job): boolean => isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined

const isDeleted = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined
const isFailing = ({ status }: Job): boolean => isConditionTrue(status?.conditions, 'FailureTarget')
const isSucceeding = ({ status }: Job): boolean => isConditionTrue(status?.conditions, 'SuccessCriteriaMet')

/** True if the last failed pod of an index is kept for its successor. */
export const keepsPredecessors = (job: Job): boolean =>
  hasLimitPerIndex(job) && !isDeleted(job) && !isFailing(job) && !isSucceeding(job)

/** Identifies the input for reading pods. */
export function basisName(job: Job): string {
  const { spec } = job
  return JSON.stringify([
    spec.completions,
    spec.completionMode,
    spec.podReplacementPolicy,
    spec.podFailurePolicy,
    spec.backoffLimitPerIndex,
    spec.selector,
    spec.template.spec.restartPolicy,
    isDeleted(job),
    isFailing(job),
    isSucceeding(job),
  ])
}

/** True if a pod has failed or, unless the Job waits for its end, is terminating. */
function isLost(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true
  return isPodTerminating(pod) && pod.status?.phase !== 'Succeeded' && !replacesOnlyEnded(job)
}

const isIgnored = ({ spec }: Job, pod: Pod): boolean => judgeFailure(spec.podFailurePolicy, pod).action === 'Ignore'

const isWanted = (job: Job, pod: Pod): boolean => !isIndexed(job) || indexOf(pod, completionsOf(job)) !== undefined

/**
 * The fate of a pod that has failed, or that is deleted because its Job failed: it counts as failed, whatever its
 * result.
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
 * True if this failure is the last that its index may have. Pods that are deleted because the Job failed do not affect
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

/** Pods that restart their containers are judged by the number of restarts. */
function restartsOf({ spec }: Job, { status }: Pod): number {
  if (spec.template.spec.restartPolicy !== 'OnFailure') return 0
  if (status?.phase !== 'Running' && status?.phase !== 'Pending') return 0
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
}
