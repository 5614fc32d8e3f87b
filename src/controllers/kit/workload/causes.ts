import { type Cause, type Surroundings, byWeight, causeOfPod } from '../../../api/explain/index.ts'
import type { Node, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { isPodFinished, isPodTerminating } from '../../../api/kinds/pods/pod-availability.ts'
import { KeyedHeap } from '../../../base/keyed-heap.ts'
import { nodes, persistentvolumeclaims } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import type { RosterReader } from '../roster/roster.ts'

/** Causes by pod key, the most severe first: of pods that are to stay, and of pods that are terminating. */
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
 * Reads only why the pods of an owner are not available. Finished pods are kept for users to inspect and are not waited
 * for.
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

/** Finds the cached objects around a workload's pods, which explanations name if they are the cause. */
export interface Finders {
  nodeOf?: ((name: string) => Node | undefined) | undefined
  claimOf?: ((name: string) => PersistentVolumeClaim | undefined) | undefined
}

/**
 * Finds nodes and claims if a controller of the manager caches them. A controller that needs them only for explanations
 * does not request them: a manager of one namespace may not be allowed to read nodes. A claim that is newer than its
 * pod is found when the scheduler next updates the pod, which reconciles the owner.
 */
export function findersOf(caches: Caches, namespace: string): Finders {
  const claimOf = (name: string) => caches.get(persistentvolumeclaims, namespace, name)
  return { nodeOf: nodeFinder(caches), claimOf: caches.covers(persistentvolumeclaims, namespace) ? claimOf : undefined }
}

/** Finds nodes if they are cached. A node that the cache lacks may just be newer than the cache. */
export function nodeFinder(caches: Caches): ((name: string) => Node | undefined) | undefined {
  return caches.covers(nodes, undefined) ? (name) => caches.get(nodes, '', name) : undefined
}
