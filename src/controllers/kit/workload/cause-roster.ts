import { type Cause, type Surroundings, byWeight, causeOfPod } from '../../../api/explain/index.ts'
import type { Pod } from '../../../api/generated/types.ts'
import { isPodFinished, isPodTerminating } from '../../../api/kinds/pod-availability.ts'
import { KeyedHeap } from '../../../base/keyed-heap.ts'
import type { RosterReader } from '../roster.ts'

/** Causes by the key of their pod, the worst on top: of pods that are to stay, and of those that are going. */
export interface Causes {
  staying: KeyedHeap<string, Cause>
  going: KeyedHeap<string, Cause>
}

export const noCauses = (): Causes => ({ staying: heap(), going: heap() })

const heap = () => new KeyedHeap<string, Cause>((a, b) => byWeight(a, b) < 0)

interface Caused {
  cause: Cause
  isGoing: boolean
}

/**
 * Reads of the pods of an owner only why they are not available. Pods that have ended stay for people to read, and are
 * not waited for.
 */
export const causeReader = (around: Omit<Surroundings, 'nowMs'>): RosterReader<Pod, Caused, Causes> => ({
  basis: String(around.minReadySeconds ?? 0),
  read: (pod, nowMs) => {
    const cause = isPodFinished(pod) ? undefined : causeOfPod(pod, { ...around, nowMs })
    return cause && { cause, isGoing: isPodTerminating(pod) }
  },
  empty: noCauses,
  add: (causes, key, { cause, isGoing }) => (isGoing ? causes.going : causes.staying).set(key, cause),
  remove: (causes, key, { isGoing }) => void (isGoing ? causes.going : causes.staying).delete(key),
  sumOf: ({ staying, going }) => [staying.size, staying.peek(), going.size, going.peek()],
  changesAtMs: ({ cause }) => cause.changesAtMs,
})
