import type { Pod } from '../../generated/types.ts'
import { millisecondsOf } from '../../object.ts'
import type { Int64 } from '../../numbers/int64.ts'

/** True for a phase that never changes again. */
export const isFinalPhase = (phase: string | undefined): phase is 'Succeeded' | 'Failed' =>
  phase === 'Succeeded' || phase === 'Failed'

/** True if a pod has succeeded or failed. */
export const isPodFinished = (pod: Pod): boolean => isFinalPhase(pod.status?.phase)

/**
 * The grace period of a pod in seconds: the requested one, otherwise that of its spec. Pods without a node and finished
 * pods are not running, so they are deleted at once. A negative value becomes one second.
 */
export function podDeletionGracePeriod(pod: Pod, requested: Int64 | undefined): Int64 {
  if (!pod.spec?.nodeName || isPodFinished(pod)) return 0
  const seconds = requested ?? pod.spec.terminationGracePeriodSeconds ?? 0
  return seconds < 0 ? 1 : seconds
}

const readyCondition = (pod: Pod) => pod.status?.conditions?.find((c) => c.type === 'Ready')

export const isPodReady = (pod: Pod): boolean => readyCondition(pod)?.status === 'True'

export const isPodTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

/** True if a pod counts as a replica: it is neither finished nor terminating. */
export const isPodActive = (pod: Pod): boolean => !isPodFinished(pod) && !isPodTerminating(pod)

/** True if a deleted pod stays for some time, until its node stops it or its finalizers are removed. */
export const staysWhenDeleted = (pod: Pod): boolean =>
  podDeletionGracePeriod(pod, undefined) > 0 || Boolean(pod.metadata.finalizers?.length)

/**
 * The time at which a pod becomes available: it must have been ready for `minReadySeconds`. Undefined while it is not
 * ready. A ready pod without a transition time is not available if minReadySeconds is above 0.
 */
export function availableAtMs(pod: Pod, minReadySeconds: number): number | undefined {
  const condition = readyCondition(pod)
  if (condition?.status !== 'True') return undefined
  if (minReadySeconds === 0) return 0
  const sinceMs = millisecondsOf(condition.lastTransitionTime)
  return Number.isNaN(sinceMs) ? undefined : sinceMs + minReadySeconds * 1000
}

export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const atMs = availableAtMs(pod, minReadySeconds)
  return atMs !== undefined && atMs <= nowMs
}
