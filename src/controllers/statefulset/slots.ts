import type { Pod, StatefulSet } from '../../api/generated/types.ts'
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
