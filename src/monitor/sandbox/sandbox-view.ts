import type { ContainerStatus, Pod, PodCondition } from '../../api/generated/types.ts'
import { type Int64, secondsInMs } from '../../api/numbers/int64.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import { sandboxConditionOf, sandboxReasons } from '../../api/kinds/pods/sandbox-condition.ts'

/** The state of a pod's sandbox at one moment. */
export interface SandboxView {
  readonly scheduledAtMs: number | undefined
  /** The condition PodReadyToStartContainers and its time. Undefined if it is not set. */
  readonly ready: { readonly is: boolean; readonly sinceMs: number } | undefined
  /** The time at which its deletion was requested. */
  readonly deletedAtMs: number | undefined
  /** True if the pod has finished, and needs no sandbox. */
  readonly isFinished: boolean
  /** The time at which it was evicted or preempted. Undefined if not, or unknown. */
  readonly disruptedAtMs: number | undefined
  /** The latest time in its conditions. */
  readonly lastWordMs: number
  /** True if a node has accepted the pod. */
  readonly isTaken: boolean
  readonly past: Past
  /**
   * True if there was a sandbox before: its containers have ended, its node reports its loss, or the condition is False
   * since a later time than at first.
   */
  readonly hasRun: boolean
}

/**
 * Reports whether the current sandbox is the first one, according to the containers: those of a lost sandbox are
 * restarted.
 */
type Past = 'first' | 'later' | 'unknown'

/** The maximum time between the start of a container and the condition of the sandbox. */
const lateWordMs = 10_000

/** Reads the state of a pod's sandbox. */
export function viewOf(pod: Pod): SandboxView {
  const { metadata, status } = pod
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const ready = sandboxConditionOf(pod)
  const sinceMs = timeOf(ready?.lastTransitionTime)
  const disrupted = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return {
    scheduledAtMs: scheduled?.status === 'True' ? timeOf(scheduled.lastTransitionTime) : undefined,
    ready: ready && sinceMs !== undefined ? { is: ready.status === 'True', sinceMs } : undefined,
    deletedAtMs: deletedAt(timeOf(metadata.deletionTimestamp), metadata.deletionGracePeriodSeconds),
    isFinished: isPodFinished(pod),
    disruptedAtMs: disrupted?.status === 'True' ? timeOf(disrupted.lastTransitionTime) : undefined,
    lastWordMs: Math.max(
      0,
      ...(status?.conditions ?? []).map(({ lastTransitionTime }) => timeOf(lastTransitionTime) ?? 0),
    ),
    isTaken: status?.startTime !== undefined,
    past: pastOf(containers, sinceMs),
    hasRun:
      isLoss(ready, sinceMs, timeOf(status?.startTime)) ||
      (containers.some(hasEnded) && !containers.some(({ state }) => state?.running)),
  }
}

/**
 * After a reboot no container is left if none had started. Only a node that had a sandbox reports its loss. False since
 * long after the node accepted the pod, which it reports immediately, means that it was True in between.
 */
function isLoss(ready: PodCondition | undefined, sinceMs = 0, takenMs = Infinity): boolean {
  if (ready?.status !== 'False') return false
  const { sandboxLost, sandboxChanged } = sandboxReasons
  return ready.reason === sandboxLost || ready.reason === sandboxChanged || sinceMs > takenMs + lateWordMs
}

function timeOf(text: string | null | undefined): number | undefined {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** The timestamp is the end of the grace period. */
const deletedAt = (timestampMs: number | undefined, graceSeconds: Int64 = 0): number | undefined =>
  timestampMs === undefined ? undefined : timestampMs - secondsInMs(graceSeconds)

const hasEnded = ({ restartCount, state, lastState }: ContainerStatus): boolean =>
  restartCount > 0 || state?.terminated !== undefined || lastState?.terminated !== undefined

/**
 * A run that began long before the sandbox was ready was in another one. Only the last run is known: the first of more
 * than two may have been in an unknown sandbox.
 */
function pastOf(containers: readonly ContainerStatus[], readySinceMs: number | undefined): Past {
  const isEarlier = (startedAtMs: number | undefined) =>
    startedAtMs !== undefined && readySinceMs !== undefined && startedAtMs < readySinceMs - lateWordMs
  let past: Past = 'first'
  for (const { restartCount, state, lastState } of containers) {
    const lastStartedAtMs = timeOf(lastState?.terminated?.startedAt)
    if (isEarlier(lastStartedAtMs) || isEarlier(timeOf(state?.terminated?.startedAt))) return 'later'
    if (restartCount > 1 || (restartCount > 0 && lastStartedAtMs === undefined)) past = 'unknown'
  }
  return past
}
