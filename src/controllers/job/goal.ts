import type { Job } from '../../api/generated/types.ts'
import { findCondition, isConditionTrue, millisecondsOf } from '../kit/workload/index.ts'
import { IndexSet } from './indexes.ts'
import type { JobPods } from './job-pods.ts'
import { type Member, completionsOf, hasLimitPerIndex } from './member.ts'
import { isIndexed, isSuspended, metRule } from './policies.ts'

/** The state of a Job: the numbers of its status, and of pods that the status does not contain yet. */
export interface Tally {
  /** The UIDs in the status. */
  written: ReadonlySet<string>
  /** Finished pods that the status does not contain yet, whether their failure counts or not. */
  newlySucceeded: readonly Member[]
  /** Empty with a limit per index, because each index then has its own back-off. */
  newlyFailed: readonly Member[]
  /** Including pods that the status does not contain yet. */
  succeeded: number
  failed: number
  /** Empty without indexes. */
  succeededIndexes: IndexSet
  /** Undefined without a limit per index. */
  failedIndexes: IndexSet | undefined
}

/**
 * Adds up the status and the pods. The cost is proportional to the number of finished pods that are not counted yet.
 */
export function tallyOf(job: Job, pods: JobPods): Tally {
  const { status } = job
  const { succeeded: writtenSucceeded = [], failed: writtenFailed = [] } = status?.uncountedTerminatedPods ?? {}
  const written = new Set([...writtenSucceeded, ...writtenFailed])
  const isNew = ({ pod }: Member) => !written.has(pod.metadata.uid!)
  const fresh = (members: ReadonlyMap<string, Member>) => [...members.values()].filter(isNew)
  const newlySucceeded = fresh(pods.ended.succeeded)
  const knownLosses = [...written].filter((uid) => pods.tracked.get(uid)?.isCounted).length
  const succeededIndexes = isIndexed(job) ? succeededIndexesOf(pods, new Set(writtenFailed)) : IndexSet.empty
  const succeeded = (status?.succeeded ?? 0) + newlySucceeded.length + writtenSucceeded.length
  return {
    written,
    newlySucceeded,
    newlyFailed: hasLimitPerIndex(job) ? [] : fresh(pods.lost),
    succeeded: isIndexed(job) ? succeededIndexes.size : succeeded,
    failed: (status?.failed ?? 0) + pods.counts.counted - knownLosses + writtenFailed.length,
    succeededIndexes,
    failedIndexes: hasLimitPerIndex(job) ? failedIndexesOf(pods, succeededIndexes) : undefined,
  }
}

/** A pod that is recorded as failed never counts as succeeded. */
function succeededIndexesOf({ ended, known: { completed } }: JobPods, asFailed: ReadonlySet<string>): IndexSet {
  const isNew = ({ pod, index }: Member) => !completed.has(index!) && !asFailed.has(pod.metadata.uid!)
  return completed.union(indexesOf(ended.succeeded.values(), isNew))
}

function failedIndexesOf({ final, known: { failed } }: JobPods, succeeded: IndexSet): IndexSet {
  return failed.union(indexesOf(final.values(), ({ index }) => !failed.has(index!) && !succeeded.has(index!)))
}

function indexesOf(members: Iterable<Member>, isMeant: (member: Member) => boolean): IndexSet {
  const indexes: number[] = []
  for (const member of members) if (isMeant(member)) indexes.push(member.index!)
  return IndexSet.of(indexes)
}

/** The result of a Job, and its reason. */
export interface Goal {
  isSuccess: boolean
  reason: string
  message: string
  /** True if the status contains the result, which is then final and may be acted upon. */
  isDeclared: boolean
}

/** The input for the result of a Job. */
interface Case {
  job: Job
  pods: JobPods
  tally: Tally
  nowMs: number
}

const failure = (reason: string, message: string): Goal => ({ isSuccess: false, reason, message, isDeclared: false })
const success = (reason: string, message: string): Goal => ({ isSuccess: true, reason, message, isDeclared: false })

/** Decides whether a Job is to end. A declared result is kept. */
export function goalOf(seen: Case): Goal | undefined {
  return declared(seen.job) ?? failureOf(seen) ?? successOf(seen)
}

function declared({ status }: Job): Goal | undefined {
  for (const [type, isSuccess] of [
    ['SuccessCriteriaMet', true],
    ['FailureTarget', false],
  ] as const) {
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
  // Pods that restart their containers are judged by the number of restarts.
  if (tally.failed > backoffLimit || (restarts > 0 && restarts >= backoffLimit)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  }
  if ((msUntilDeadline(job, nowMs) ?? 1) <= 0) {
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline')
  }
  const failed = tally.failedIndexes?.size ?? 0
  if (failed > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  }
  if (failed > 0 && failed + tally.succeededIndexes.size >= completionsOf(job)) {
    return failure('FailedIndexes', 'Job has failed indexes')
  }
  return undefined
}

function successOf({ job, pods, tally }: Case): Goal | undefined {
  const { spec } = job
  const parse = (at: number, text: string) => pods.parse(`rule ${at}`, text)
  const rule = isIndexed(job) ? metRule(spec.successPolicy, tally.succeededIndexes, parse) : undefined
  if (rule !== undefined) return success('SuccessPolicy', `Matched rules at index ${rule}`)
  // A work queue is done when one pod has succeeded and all others have finished.
  const isDone = pods.active.size === 0 && tally.succeeded >= (spec.completions ?? 1)
  return isDone ? success('CompletionsReached', 'Reached expected number of succeeded pods') : undefined
}

/** The time until the active deadline. Undefined if none applies. */
export function msUntilDeadline(job: Job, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec
  if (activeDeadlineSeconds === undefined || isSuspended(job)) return undefined
  const { startTime } = job.status ?? {}
  return (startTime ? millisecondsOf(startTime) : nowMs) + Number(activeDeadlineSeconds) * 1000 - nowMs
}
