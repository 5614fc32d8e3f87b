import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { availableAtMs, isPodTerminating } from '../kit/workload/index.ts'
import { ordinalOf, startOrdinal } from './identity.ts'

/** A place in the set, with the pod that has it. */
export interface Slot {
  ordinal: number
  pod: Pod | undefined
}

export interface Slots {
  /** One for every replica, by ordinal. */
  replicas: Slot[]
  /** Pods outside of the range, from the highest ordinal. */
  condemned: (Slot & { pod: Pod })[]
}

/** Sorts a set's pods into its places. */
export function slotsOf(set: StatefulSet, pods: readonly Pod[]): Slots {
  const start = startOrdinal(set)
  const replicas: Slot[] = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => ({ ordinal: start + i, pod: undefined }))
  const condemned: Slots['condemned'] = []
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod.metadata.name!)!
    const slot = replicas[ordinal - start]
    if (slot) slot.pod = pod
    else condemned.push({ ordinal, pod })
  }
  return { replicas, condemned: condemned.sort((a, b) => b.ordinal - a.ordinal) }
}

/** Whether a pod runs and has been ready for long enough, even if it is on its way out. */
export function isRunningAndAvailable(set: StatefulSet, pod: Pod, nowMs: number): boolean {
  const atMs = pod.status?.phase === 'Running' ? availableAtMs(pod, set.spec.minReadySeconds ?? 0) : undefined
  return atMs !== undefined && atMs <= nowMs
}

/** What counts against maxUnavailable: missing, going, or not ready for long enough. */
export const isUnavailable = (set: StatefulSet, pod: Pod | undefined, nowMs: number): boolean =>
  !pod || isPodTerminating(pod) || !isRunningAndAvailable(set, pod, nowMs)
