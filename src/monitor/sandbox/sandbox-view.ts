import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { type Int64, secondsInMs } from '../../api/int64.ts'
import { isFinished } from '../../api/kinds/pod-deletion.ts'
import { isUserError, sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'

/** What a pod says of its sandbox at one moment. */
export interface SandboxView {
  readonly scheduledAtMs: number | undefined
  /** PodReadyToStartContainers, and since when; undefined where nobody has said anything. */
  readonly ready: { readonly is: boolean; readonly sinceMs: number } | undefined
  /** Its node says that it waits for a config map or secret, which its owner provides. A kubelet never says so. */
  readonly isUserError: boolean
  /** When its deletion was asked for. */
  readonly deletedAtMs: number | undefined
  /** It has run to its end, and needs no sandbox any more. */
  readonly isFinished: boolean
  /** A node has taken it. */
  readonly isTaken: boolean
  readonly past: Past
  /** Containers of it have been there and are gone: so was a sandbox. */
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
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return {
    scheduledAtMs: scheduled?.status === 'True' ? timeOf(scheduled.lastTransitionTime) : undefined,
    ready: ready && sinceMs !== undefined ? { is: ready.status === 'True', sinceMs } : undefined,
    isUserError: isUserError(ready),
    deletedAtMs: deletedAt(timeOf(metadata.deletionTimestamp), metadata.deletionGracePeriodSeconds),
    isFinished: isFinished(pod),
    isTaken: status?.startTime !== undefined,
    past: pastOf(containers, sinceMs),
    hasRun: containers.some(hasEnded) && !containers.some(({ state }) => state?.running),
  }
}

function timeOf(text: string | null | undefined): number | undefined {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** The timestamp is the end of the grace period. */
const deletedAt = (timestampMs: number | undefined, graceSeconds: Int64 = 0): number | undefined =>
  timestampMs === undefined ? undefined : timestampMs - secondsInMs(graceSeconds)

const hasEnded = ({ restartCount, state, lastState }: ContainerStatus): boolean => restartCount > 0 || state?.terminated !== undefined || lastState?.terminated !== undefined

/** Of several runs only the last is told: the first of more than two may have been in a sandbox that nobody knows of. */
function pastOf(containers: readonly ContainerStatus[], readySinceMs: number | undefined): Past {
  let past: Past = 'first'
  for (const { restartCount, lastState } of containers) {
    if (restartCount === 0) continue
    const startedAtMs = timeOf(lastState?.terminated?.startedAt)
    if (startedAtMs !== undefined && readySinceMs !== undefined && startedAtMs < readySinceMs - lateWordMs) return 'later'
    if (startedAtMs === undefined || restartCount > 1) past = 'unknown'
  }
  return past
}
