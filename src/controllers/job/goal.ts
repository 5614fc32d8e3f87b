import type { Job } from '../../api/generated/types.ts'
import { findCondition, isConditionTrue, millisecondsOf } from '../kit/workload/index.ts'
import type { JobPods } from './job-pods.ts'
import { completionsOf } from './member.ts'
import { metRule } from './success-policy.ts'
import type { Tally } from './tally.ts'
import { isIndexed, isSuspended } from './tracking.ts'

/** How a Job is going to end, and why. */
export interface Goal {
  isSuccess: boolean
  reason: string
  message: string
  /** The status says so: it is final, and what follows from it may be done. */
  isDeclared: boolean
}

/** What is known of a Job when it is judged. */
interface Case {
  job: Job
  pods: JobPods
  tally: Tally
  nowMs: number
}

const failure = (reason: string, message: string): Goal => ({ isSuccess: false, reason, message, isDeclared: false })
const success = (reason: string, message: string): Goal => ({ isSuccess: true, reason, message, isDeclared: false })

/** Decides whether a Job is to end. What was declared once stays. */
export function goalOf(seen: Case): Goal | undefined {
  return declared(seen.job) ?? failureOf(seen) ?? successOf(seen)
}

function declared({ status }: Job): Goal | undefined {
  for (const [type, isSuccess] of [['SuccessCriteriaMet', true], ['FailureTarget', false]] as const) {
    if (!isConditionTrue(status?.conditions, type)) continue
    const { reason = '', message = '' } = findCondition(status?.conditions, type)!
    return { isSuccess, reason, message, isDeclared: true }
  }
  return undefined
}

function failureOf({ job, pods, tally, nowMs }: Case): Goal | undefined {
  const { spec } = job
  const message = pods.failsJob.peek()?.failsJob
  if (message) return failure('PodFailurePolicy', message)
  const { backoffLimit = Number.POSITIVE_INFINITY } = spec
  const { restarts } = pods.counts
  // Pods that restart their containers themselves are judged by how often they did.
  if (tally.failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  }
  if ((msUntilDeadline(job, nowMs) ?? 1) <= 0) return failure('DeadlineExceeded', 'Job was active longer than specified deadline')
  const failed = tally.failedIndexes?.size ?? 0
  if (failed > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  }
  if (failed > 0 && failed + tally.succeededIndexes.size >= completionsOf(job)) return failure('FailedIndexes', 'Job has failed indexes')
  return undefined
}

function successOf({ job, pods, tally }: Case): Goal | undefined {
  const { spec } = job
  const parse = (at: number, text: string) => pods.parse(`rule ${at}`, text)
  const rule = isIndexed(job) ? metRule(spec.successPolicy, tally.succeededIndexes, parse) : undefined
  if (rule !== undefined) return success('SuccessPolicy', `Matched rules at index ${rule}`)
  // A work queue is done when one of its pods has found it empty and the others have followed.
  const isDone = pods.active.size === 0 && tally.succeeded >= (spec.completions ?? 1)
  return isDone ? success('CompletionsReached', 'Reached expected number of succeeded pods') : undefined
}

/** How much of its time is left to a Job; undefined where none runs. */
export function msUntilDeadline(job: Job, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec
  if (activeDeadlineSeconds === undefined || isSuspended(job)) return undefined
  const { startTime } = job.status ?? {}
  return (startTime ? millisecondsOf(startTime) : nowMs) + Number(activeDeadlineSeconds) * 1000 - nowMs
}
