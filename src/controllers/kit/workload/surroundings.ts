import { terminationLateAtMs } from '../../../api/explain/index.ts'
import type { Node, Pod } from '../../../api/generated/types.ts'
import { nodes } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'

/**
 * Finds nodes where some controller of the manager caches them. A controller that needs them for nothing but its explanations does not ask for them: a
 * manager of one namespace may not be allowed to read nodes. A node that the cache lacks may only be newer than the cache.
 */
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
