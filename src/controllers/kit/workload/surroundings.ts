import { terminationLateAtMs } from '../../../api/explain/index.ts'
import type { Node, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { nodes, persistentvolumeclaims } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'

/**
 * The objects around the pods of a workload, as far as they are cached: an explanation names those that are in the way.
 */
export interface Finders {
  nodeOf?: ((name: string) => Node | undefined) | undefined
  claimOf?: ((name: string) => PersistentVolumeClaim | undefined) | undefined
}

/**
 * Finds nodes and claims where some controller of the manager caches them. A controller that needs them for nothing but
 * its explanations does not ask for them: a manager of one namespace may not be allowed to read nodes. The scheduler's
 * next word about a pod has its owner reconciled, so that a claim that came later than the pod is found then.
 */
export function findersOf(caches: Caches, namespace: string): Finders {
  const claimOf = (name: string) => caches.get(persistentvolumeclaims, namespace, name)
  return { nodeOf: nodeFinder(caches), claimOf: caches.covers(persistentvolumeclaims, namespace) ? claimOf : undefined }
}

/** Finds nodes where they are cached. A node that the cache lacks may only be newer than the cache. */
export function nodeFinder(caches: Caches): ((name: string) => Node | undefined) | undefined {
  return caches.covers(nodes, undefined) ? (name) => caches.get(nodes, '', name) : undefined
}

/** The time until the first of these pods, which are all terminating, is late. */
export function untilLateMs(terminating: Iterable<Pod>, nowMs: number): number | undefined {
  let soonest: number | undefined
  for (const pod of terminating) {
    const leftMs = terminationLateAtMs(pod) - nowMs
    if (leftMs > 0 && leftMs < (soonest ?? Infinity)) soonest = leftMs
  }
  return soonest
}
