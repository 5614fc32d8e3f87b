import type { Job, Pod } from '../../api/generated/types.ts'
import { isConditionTrue, isPodActive, isPodFinished, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { endedAtMs } from './back-off.ts'
import { judgeFailure } from './failure-policy.ts'
import { IndexSet } from './index-set.ts'
import { failuresBefore, indexOf, isIndexed, isTracked, replacesOnlyEnded } from './tracking.ts'

/** What the end of a tracked pod is to its Job. What is passed over is let go without being counted. */
export type Fate = 'succeeded' | 'failed' | 'passed over'

/** The pods of a Job, sorted out against what its status says of them. */
export interface Tally {
  active: readonly Pod[]
  ready: number
  terminating: number
  /** Of tracked pods that have ended. */
  fates: ReadonlyMap<Pod, Fate>
  /** Uids that the status names already. */
  written: ReadonlySet<string>
  /** Pods that have ended and of which the status does not know yet, whether their failure counts or not. */
  newlySucceeded: readonly Pod[]
  newlyFailed: readonly Pod[]
  /** With those that the status does not know yet. */
  succeeded: number
  failed: number
  /** Empty without indexes. */
  succeededIndexes: IndexSet
  /** Undefined without a limit for each index. */
  failedIndexes: IndexSet | undefined
  /** The last failed pod of each index that has no other: it is kept until its successor knows how often the index has failed. */
  predecessors: ReadonlyMap<number, Pod>
}

/** How many of a pod's kind a Job wants to succeed; infinite for a work queue. */
export const completionsOf = ({ spec }: Job): number => spec.completions ?? Number.POSITIVE_INFINITY

/** Whether a pod is lost to its Job: it has failed or, unless the Job waits for that, is going to. */
export const isLost = (job: Job, pod: Pod): boolean =>
  pod.status?.phase === 'Failed' || (isPodTerminating(pod) && pod.status?.phase !== 'Succeeded' && !replacesOnlyEnded(job))

const isIgnored = ({ spec }: Job, pod: Pod): boolean => judgeFailure(spec.podFailurePolicy, pod).action === 'Ignore'

/** Whether this failure is the last that its index may have. */
function endsIndex({ spec }: Job, pod: Pod): boolean {
  const { action } = judgeFailure(spec.podFailurePolicy, pod)
  return action === 'FailIndex' || (action !== 'Ignore' && failuresBefore(pod).counted >= spec.backoffLimitPerIndex!)
}

/** Sorts the pods out. */
export function tallyOf(job: Job, pods: readonly Pod[]): Tally {
  const { status } = job
  const completions = completionsOf(job)
  const { succeeded: writtenSucceeded = [], failed: writtenFailed = [] } = status?.uncountedTerminatedPods ?? {}
  const written = new Set([...writtenSucceeded, ...writtenFailed])
  const asFailed = new Set(writtenFailed)
  const active = pods.filter(isPodActive)
  const tracked = pods.filter(isTracked)
  const wanted = isIndexed(job) ? tracked.filter((pod) => indexOf(pod, completions) !== undefined) : tracked
  const succeeded = wanted.filter((pod) => pod.status?.phase === 'Succeeded' && !asFailed.has(pod.metadata.uid!))
  const lost = wanted.filter((pod) => isLost(job, pod))
  const isNew = (pod: Pod) => !written.has(pod.metadata.uid!)
  const newlySucceeded = succeeded.filter(isNew)
  const newlyFailed = lost.filter(isNew)
  const standing = isIndexed(job) ? standingOf(job, active, succeeded, lost) : noStanding
  const kept = new Set(standing.predecessors.values())
  const fates = new Map<Pod, Fate>()
  for (const pod of tracked) {
    const fate = fateOf(job, pod, kept)
    if (fate) fates.set(pod, fate)
  }
  return {
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodGoing).length,
    fates,
    written,
    newlySucceeded,
    newlyFailed,
    succeeded: isIndexed(job) ? standing.succeededIndexes.size : (status?.succeeded ?? 0) + newlySucceeded.length + writtenSucceeded.length,
    failed: (status?.failed ?? 0) + newlyFailed.filter((pod) => !isIgnored(job, pod)).length + writtenFailed.length,
    ...standing,
  }
}

/** Whether a pod is being deleted and has not ended. */
export const isPodGoing = (pod: Pod): boolean => isPodTerminating(pod) && !isPodFinished(pod)

/** The indexes of pods, as far as they are wanted. */
export const indexesOf = (pods: readonly Pod[], completions: number): IndexSet =>
  IndexSet.of(pods.map((pod) => indexOf(pod, completions)).filter((index) => index !== undefined))

type Standing = Pick<Tally, 'succeededIndexes' | 'failedIndexes' | 'predecessors'>

const noStanding: Standing = { succeededIndexes: IndexSet.empty, failedIndexes: undefined, predecessors: new Map() }

/** What has become of each index. */
function standingOf(job: Job, active: readonly Pod[], succeeded: readonly Pod[], lost: readonly Pod[]): Standing {
  const { status, spec } = job
  const completions = completionsOf(job)
  const succeededIndexes = IndexSet.parse(status?.completedIndexes, completions).union(indexesOf(succeeded, completions))
  if (spec.backoffLimitPerIndex === undefined) return { ...noStanding, succeededIndexes }
  // Pods that a Job takes along when it fails say nothing about their indexes.
  const isOwnEnd = (pod: Pod) => !isPodTerminating(pod) || !isConditionTrue(status?.conditions, 'FailureTarget')
  const ended = lost.filter((pod) => isOwnEnd(pod) && endsIndex(job, pod) && !succeededIndexes.has(indexOf(pod, completions)!))
  const failedIndexes = IndexSet.parse(status?.failedIndexes, completions).union(indexesOf(ended, completions))
  const closed = succeededIndexes.union(failedIndexes).union(indexesOf(active, completions))
  return { succeededIndexes, failedIndexes, predecessors: predecessorsOf(lost, (pod) => indexOf(pod, completions)!, closed) }
}

const isWanted = (job: Job, pod: Pod): boolean => !isIndexed(job) || indexOf(pod, completionsOf(job)) !== undefined

/** The fate of a pod that has failed, or that its Job takes along when it fails: whatever it would have come to, it counts as failed. */
export const fateInFailure = (job: Job, pod: Pod): Fate => (isWanted(job, pod) && !isIgnored(job, pod) ? 'failed' : 'passed over')

function fateOf(job: Job, pod: Pod, kept: ReadonlySet<Pod>): Fate | undefined {
  const { status, metadata } = job
  const isDeleted = metadata.deletionTimestamp !== undefined
  const hasSucceeded = isConditionTrue(status?.conditions, 'SuccessCriteriaMet')
  const hasFailed = isConditionTrue(status?.conditions, 'FailureTarget')
  if (pod.status?.phase === 'Succeeded') return isWanted(job, pod) ? 'succeeded' : 'passed over'
  if (isLost(job, pod) || (hasFailed && isPodTerminating(pod))) {
    return kept.has(pod) && !isDeleted && !hasFailed && !hasSucceeded ? undefined : fateInFailure(job, pod)
  }
  return isDeleted || (hasSucceeded && isPodTerminating(pod)) ? 'passed over' : undefined
}

function predecessorsOf(lost: readonly Pod[], indexIn: (pod: Pod) => number, closed: IndexSet): Map<number, Pod> {
  const failures = (pod: Pod) => failuresBefore(pod).counted + failuresBefore(pod).ignored
  const predecessors = new Map<number, Pod>()
  for (const pod of lost) {
    const index = indexIn(pod)
    if (closed.has(index)) continue
    const other = predecessors.get(index)
    if (!other || (failures(other) <= failures(pod) && endedAtMs(other) <= endedAtMs(pod))) predecessors.set(index, pod)
  }
  return predecessors
}
