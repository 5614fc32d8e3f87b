import { type Cause, type Surroundings, byWeight, causeOfPod } from '../../../api/explain/index.ts'
import type { Pod } from '../../../api/generated/types.ts'
import { KeyedHeap } from '../../../base/keyed-heap.ts'
import type { RosterReader } from '../roster.ts'

/** Causes by the key of their pod, the worst on top. */
export type Causes = KeyedHeap<string, Cause>

export const noCauses = (): Causes => new KeyedHeap((a, b) => byWeight(a, b) < 0)

/** Reads of the pods of an owner only why they are not available. */
export const causeReader = (around: Omit<Surroundings, 'nowMs'>): RosterReader<Pod, { cause: Cause }, Causes> => ({
  basis: String(around.minReadySeconds ?? 0),
  read: (pod, nowMs) => {
    const cause = causeOfPod(pod, { ...around, nowMs })
    return cause && { cause }
  },
  empty: noCauses,
  add: (causes, key, { cause }) => causes.set(key, cause),
  remove: (causes, key) => void causes.delete(key),
  sumOf: (causes) => [causes.size, causes.peek()],
  changesAtMs: ({ cause }) => cause.changesAtMs,
})
