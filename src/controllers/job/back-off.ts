import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { secondsInMs } from '../../api/int64.ts'
import { isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'
import { failuresBefore, isTracked } from './tracking.ts'

const firstWaitMs = 10_000
const longestWaitMs = 600_000

/** How pods of a Job have fared of late. */
export interface BackOff {
  /** Failures in a row: since a pod has last succeeded. */
  failures: number
  lastFailureMs: number
}

export const noBackOff: BackOff = { failures: 0, lastFailureMs: 0 }

/** What follows from pods that have ended since. One that failed before the last success is forgiven. */
export function backOffAfter(before: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const failedMs = failed.map(endedAtMs)
  if (succeeded.length === 0) {
    return failed.length === 0 ? before : { failures: before.failures + failed.length, lastFailureMs: Math.max(...failedMs) }
  }
  const lastSuccessMs = Math.max(...succeeded.map(endedAtMs))
  const since = failedMs.filter((ms) => ms > lastSuccessMs)
  return since.length === 0 ? noBackOff : { failures: since.length, lastFailureMs: Math.max(...since) }
}

/** What pods that are still there tell of failures that were counted before this process began. Those that were deleted may have been unwanted. */
export function recoverBackOff(pods: readonly Pod[], isCounted: (pod: Pod) => boolean): BackOff {
  const ended = pods.filter((pod) => !isPodTerminating(pod) && (!isTracked(pod) || isCounted(pod)))
  return backOffAfter(noBackOff, ended.filter((p) => p.status?.phase === 'Succeeded'), ended.filter((p) => p.status?.phase === 'Failed'))
}

/**
 * How long no pod is to be made: 10 s after the first failure, twice as long after each further one, 10 minutes at most. A failure that lies further
 * ahead than that was timed by a clock that cannot be compared with ours; nobody waits for it.
 */
export function waitMs({ failures, lastFailureMs }: BackOff, nowMs: number): number {
  if (failures === 0) return 0
  const longMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 10))
  const leftMs = lastFailureMs + longMs - nowMs
  return leftMs > 2 * longMs ? 0 : Math.max(0, leftMs)
}

/** The same for one index, by the last of its pods that failed. */
export function indexWaitMs(lastFailed: Pod | undefined, nowMs: number): number {
  if (!lastFailed) return 0
  const { counted, ignored } = failuresBefore(lastFailed)
  return waitMs({ failures: counted + ignored + 1, lastFailureMs: endedAtMs(lastFailed) }, nowMs)
}

/** When a pod has ended: by its containers, else when it stopped being ready, else when its deletion was asked for. */
export function endedAtMs({ metadata, spec, status }: Pod): number {
  const sidecars = new Set(spec?.initContainers?.filter((c) => c.restartPolicy === 'Always').map((c) => c.name))
  const byContainers = lastEndMs([...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? []).filter((s) => sidecars.has(s.name))])
  if (byContainers !== undefined) return byContainers
  const ready = status?.conditions?.find((c) => c.type === 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return millisecondsOf(ready.lastTransitionTime)
  if (metadata.deletionTimestamp) return millisecondsOf(metadata.deletionTimestamp) - secondsInMs(metadata.deletionGracePeriodSeconds ?? 0)
  return millisecondsOf(metadata.creationTimestamp)
}

/** When the last of these containers has ended; undefined if one has not, or there are none. */
function lastEndMs(statuses: readonly ContainerStatus[]): number | undefined {
  if (statuses.length === 0) return undefined
  const ends = statuses.map(({ state }) => millisecondsOf(state?.terminated?.finishedAt ?? undefined))
  return ends.some(Number.isNaN) ? undefined : Math.max(...ends)
}
