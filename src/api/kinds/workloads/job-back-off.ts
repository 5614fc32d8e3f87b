import type { ContainerStatus, Pod } from '../../generated/types.ts'
import { secondsInMs } from '../../numbers/int64.ts'
import { millisecondsOf } from '../../object.ts'

const firstWaitMs = 10_000
const longestWaitMs = 600_000

/** The back-off state of a Job's pods. */
export interface BackOff {
  /** Consecutive failures since a pod last succeeded. */
  failures: number
  lastFailureMs: number
}

export const noBackOff: BackOff = { failures: 0, lastFailureMs: 0 }

/** The maximum of any number of times. */
const latest = (times: readonly number[]): number => times.reduce((last, ms) => Math.max(last, ms), -Infinity)

/** The back-off after pods that have ended since. Failures before the last success are ignored. */
export function backOffAfter(before: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const failedMs = failed.map(endedAtMs)
  if (succeeded.length === 0) {
    if (failed.length === 0) return before
    return { failures: before.failures + failed.length, lastFailureMs: latest(failedMs) }
  }
  const lastSuccessMs = latest(succeeded.map(endedAtMs))
  const since = failedMs.filter((ms) => ms > lastSuccessMs)
  return since.length === 0 ? noBackOff : { failures: since.length, lastFailureMs: latest(since) }
}

/**
 * The remaining back-off: 10 s after the first failure, doubled for each further one, at most 10 minutes. A failure
 * further in the future than that was recorded by a clock that is not comparable with ours, and is ignored.
 */
export function waitMs({ failures, lastFailureMs }: BackOff, nowMs: number): number {
  if (failures === 0) return 0
  const longMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 10))
  const leftMs = lastFailureMs + longMs - nowMs
  return leftMs > 2 * longMs ? 0 : Math.max(0, leftMs)
}

/**
 * The time at which a pod ended: by its containers, otherwise when it stopped being ready, otherwise when its deletion
 * was requested.
 */
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

/** The time at which the last of these containers ended; undefined if one is running or there are none. */
function lastEndMs(statuses: readonly ContainerStatus[]): number | undefined {
  if (statuses.length === 0) return undefined
  const ends = statuses.map(({ state }) => millisecondsOf(state?.terminated?.finishedAt ?? undefined))
  return ends.some(Number.isNaN) ? undefined : Math.max(...ends)
}

/** The earlier failures of a pod's index: those that count, and those that the pod failure policy ignored. */
export const failuresBefore = (pod: Pod): { counted: number; ignored: number } => ({
  counted: failuresIn(pod, indexFailuresAnnotation),
  ignored: failuresIn(pod, indexIgnoredFailuresAnnotation),
})

/** Counted failures of earlier pods of the index. */
export const indexFailuresAnnotation = 'batch.kubernetes.io/job-index-failure-count'
/** Failures that the policy ignored. */
export const indexIgnoredFailuresAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'

const naturalNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\+?[0-9]+$/.test(text) ? Number(text) : undefined

const failuresIn = (pod: Pod, annotation: string): number => {
  const count = naturalNumber(pod.metadata.annotations?.[annotation]) ?? 0
  return count < 2 ** 31 ? count : 0
}

/** The completion index of a pod; undefined if it has none or the index is not wanted. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const index = naturalNumber(pod.metadata.annotations?.[indexAnnotation])
  return index !== undefined && index < completions ? index : undefined
}

/** The back-off of one index, from its last failed pod. */
export function indexBackOff(lastFailed: Pod): BackOff {
  const { counted, ignored } = failuresBefore(lastFailed)
  return { failures: counted + ignored + 1, lastFailureMs: endedAtMs(lastFailed) }
}
