import type { Pod } from '../generated/types.ts'
import { podDeletionGracePeriod } from './pod-deletion.ts'
import { millisecondsOf } from '../timestamp.ts'

const readyCondition = (pod: Pod) => pod.status?.conditions?.find((c) => c.type === 'Ready')

export const isPodReady = (pod: Pod): boolean => readyCondition(pod)?.status === 'True'

export const isPodTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

/** Whether a pod has ended by itself, well or not. */
export const isPodFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** Whether a pod counts as a replica: it has not ended and is not going. */
export const isPodActive = (pod: Pod): boolean => !isPodFinished(pod) && !isPodTerminating(pod)

/** Whether a pod that is deleted is there for a while: somebody has to end it, or to let it go. */
export const staysWhenDeleted = (pod: Pod): boolean => podDeletionGracePeriod(pod, undefined) > 0 || Boolean(pod.metadata.finalizers?.length)

/**
 * When a pod is available if nothing happens to it: it must have been ready for that many seconds. Undefined while it is not ready. A ready pod that
 * does not say since when is not available where that matters.
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

/** How long until the next of these pods is available; undefined if none is on its way. */
export function msUntilAvailable(pods: Iterable<Pod>, minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  let next = Number.POSITIVE_INFINITY
  for (const pod of pods) {
    const atMs = availableAtMs(pod, minReadySeconds)
    if (atMs !== undefined && atMs > nowMs && atMs < next) next = atMs
  }
  return next === Number.POSITIVE_INFINITY ? undefined : next - nowMs
}
