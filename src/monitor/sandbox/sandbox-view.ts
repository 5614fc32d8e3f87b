import type { ContainerStatus, Pod, PodCondition } from '../../api/generated/types.ts'
import { type Int64, secondsInMs } from '../../api/int64.ts'
import { isFinished } from '../../api/kinds/pod-deletion.ts'
import { sandboxConditionOf, sandboxReasons } from '../../api/kinds/sandbox-condition.ts'

/** What a pod says of its sandbox at one moment. */
export interface SandboxView {
  readonly scheduledAtMs: number | undefined
  /** PodReadyToStartContainers, and since when; undefined where nobody has said anything. */
  readonly ready: { readonly is: boolean; readonly sinceMs: number } | undefined
  /** When its deletion was asked for. */
  readonly deletedAtMs: number | undefined
  /** It has run to its end, and needs no sandbox any more. */
  readonly isFinished: boolean
  /** When it was evicted or preempted; undefined if it was not, or nobody says so. */
  readonly disruptedAtMs: number | undefined
  /** The latest time that its conditions tell of. */
  readonly lastWordMs: number
  /** A node has taken it. */
  readonly isTaken: boolean
  readonly past: Past
  /** There was a sandbox before: containers of it have ended, its node says that it has lost one, or it says False since later than at first. */
  readonly hasRun: boolean
}

/** Whether the sandbox that a pod has now is the first one, as far as its containers can tell: those of a lost sandbox are started anew. */
export type Past = 'first' | 'later' | 'unknown'

/** A container may have been started for so long before the node says that the sandbox is ready. */
const lateWordMs = 10_000

/** Reads what a pod says of its sandbox. */
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
    isFinished: isFinished(pod),
    disruptedAtMs: disrupted?.status === 'True' ? timeOf(disrupted.lastTransitionTime) : undefined,
    lastWordMs: Math.max(0, ...(status?.conditions ?? []).map(({ lastTransitionTime }) => timeOf(lastTransitionTime) ?? 0)),
    isTaken: status?.startTime !== undefined,
    past: pastOf(containers, sinceMs),
    hasRun: isLoss(ready, sinceMs, timeOf(status?.startTime)) || (containers.some(hasEnded) && !containers.some(({ state }) => state?.running)),
  }
}

/**
 * A reboot leaves no container behind where none had started. Only a node that has had a sandbox says that it is lost;
 * and False since well after the node took the pod, which it says at once, means that it was True in between.
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

const hasEnded = ({ restartCount, state, lastState }: ContainerStatus): boolean => restartCount > 0 || state?.terminated !== undefined || lastState?.terminated !== undefined

/**
 * A run that began well before the sandbox was ready was in another one. Of several runs only the last is told: the
 * first of more than two may have been in a sandbox that nobody knows of.
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
