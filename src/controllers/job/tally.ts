import type { Job } from '../../api/generated/types.ts'
import { IndexSet } from './index-set.ts'
import type { JobPods } from './job-pods.ts'
import { type Member, hasLimitPerIndex } from './member.ts'
import { isIndexed } from './tracking.ts'

/** The state of a Job: what its status says, and what its pods say that the status does not know yet. */
export interface Tally {
  /** Uids that the status names already. */
  written: ReadonlySet<string>
  /** Pods that have ended and of which the status does not know yet, whether their failure counts or not. */
  newlySucceeded: readonly Member[]
  /** Empty with a limit for each index: there each index waits by itself. */
  newlyFailed: readonly Member[]
  /** With those that the status does not know yet. */
  succeeded: number
  failed: number
  /** Empty without indexes. */
  succeededIndexes: IndexSet
  /** Undefined without a limit for each index. */
  failedIndexes: IndexSet | undefined
}

/** Adds up status and pods. Costs as much as pods have ended and are not counted yet. */
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

/** A pod that was written down as failed does not count as succeeded, whatever has become of it. */
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
