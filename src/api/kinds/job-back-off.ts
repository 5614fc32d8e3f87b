import type { ContainerStatus, Pod } from '../generated/types.ts'
import { secondsInMs } from '../int64.ts'
import { millisecondsOf } from '../timestamp.ts'

const firstWaitMs = 10_000
const longestWaitMs = 600_000

/** How pods of a Job have fared of late. */
export interface BackOff {
  /** Failures in a row: since a pod has last succeeded. */
  failures: number
  lastFailureMs: number
}

export const noBackOff: BackOff = { failures: 0, lastFailureMs: 0 }

/** The back-off after pods that have ended since. One that failed before the last success is forgiven. */
export function backOffAfter(before: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const failedMs = failed.map(endedAtMs)
  if (succeeded.length === 0) {
    if (failed.length === 0) return before
    return { failures: before.failures + failed.length, lastFailureMs: Math.max(...failedMs) }
  }
  const lastSuccessMs = Math.max(...succeeded.map(endedAtMs))
  const since = failedMs.filter((ms) => ms > lastSuccessMs)
  return since.length === 0 ? noBackOff : { failures: since.length, lastFailureMs: Math.max(...since) }
}

/**
 * How long no pod is to be made: 10 s after the first failure, twice as long after each further one, 10 minutes at
 * most. A failure that lies further ahead than that was timed by a clock that cannot be compared with ours; nobody
 * waits for it.
 */
export function waitMs({ failures, lastFailureMs }: BackOff, nowMs: number): number {
  if (failures === 0) return 0
  const longMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 10))
  const leftMs = lastFailureMs + longMs - nowMs
  return leftMs > 2 * longMs ? 0 : Math.max(0, leftMs)
}

/** When a pod has ended: by its containers, else when it stopped being ready, else when its deletion was asked for. */
export function endedAtMs({ metadata, spec, status }: Pod): number {
  const sidecars = new Set(spec?.initContainers?.filter((c) => c.restartPolicy === 'Always').map((c) => c.name))
  const initStatuses = (status?.initContainerStatuses ?? []).filter((s) => sidecars.has(s.name))
  const byContainers = lastEndMs([...(status?.containerStatuses ?? []), ...initStatuses])
  if (byContainers !== undefined) return byContainers
  const ready = status?.conditions?.find((c) => c.type === 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return millisecondsOf(ready.lastTransitionTime)
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata
  if (deletionTimestamp) return millisecondsOf(deletionTimestamp) - secondsInMs(deletionGracePeriodSeconds)
  return millisecondsOf(metadata.creationTimestamp)
}

/** When the last of these containers has ended; undefined if one has not, or there are none. */
function lastEndMs(statuses: readonly ContainerStatus[]): number | undefined {
  if (statuses.length === 0) return undefined
  const ends = statuses.map(({ state }) => millisecondsOf(state?.terminated?.finishedAt ?? undefined))
  return ends.some(Number.isNaN) ? undefined : Math.max(...ends)
}

/** How often the index of a pod had failed before it: failures that count, and those that the policy has let pass. */
export const failuresBefore = (pod: Pod): { counted: number; ignored: number } => ({
  counted: failuresIn(pod, indexFailuresAnnotation),
  ignored: failuresIn(pod, indexIgnoredFailuresAnnotation),
})

/** How often pods of the same index have failed before this one. */
export const indexFailuresAnnotation = 'batch.kubernetes.io/job-index-failure-count'
/** How many more failures the policy has let pass. */
export const indexIgnoredFailuresAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'

const naturalNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\+?[0-9]+$/.test(text) ? Number(text) : undefined

const failuresIn = (pod: Pod, annotation: string): number => {
  const count = naturalNumber(pod.metadata.annotations?.[annotation]) ?? 0
  return count < 2 ** 31 ? count : 0
}

/** The index among the completions that a pod is for; undefined if it does not say, or the index is not wanted. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const index = naturalNumber(pod.metadata.annotations?.[indexAnnotation])
  return index !== undefined && index < completions ? index : undefined
}

/** The back-off of one index, by the last of its pods that failed. */
export function indexBackOff(lastFailed: Pod): BackOff {
  const { counted, ignored } = failuresBefore(lastFailed)
  return { failures: counted + ignored + 1, lastFailureMs: endedAtMs(lastFailed) }
}
