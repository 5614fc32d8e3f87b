import { compareResourceVersions } from '../../api/resource-version.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'

interface Waiting {
  key: string
  wanted: string
}

const isBefore = (a: Waiting, b: Waiting): boolean => compareResourceVersions(a.wanted, b.wanted) < 0

/**
 * Keys that wait until a cache has seen what was written for them. Their back-off may have grown to minutes, and the
 * write itself may never come as an event: after a relist, an object that was deleted meanwhile is not told of. So they
 * are handed out as soon as the cache has come that far.
 */
export class StaleKeys {
  readonly #byResource = new Map<string, KeyedHeap<string, Waiting>>()

  /** A key waits for a version of a resource. What is no version, such as a departure, comes as an event of its own. */
  add(key: string, resource: string, wanted: string): void {
    if (!/^[0-9]+$/.test(wanted)) return
    let heap = this.#byResource.get(resource)
    if (!heap) this.#byResource.set(resource, (heap = new KeyedHeap(isBefore)))
    heap.set(key, { key, wanted })
  }

  /** Takes out the keys whose version the cache of a resource has seen now. */
  takeSeen(resource: string, version: string): string[] {
    const heap = this.#byResource.get(resource)
    const keys: string[] = []
    for (let next = heap?.peek(); next && compareResourceVersions(next.wanted, version) <= 0; next = heap!.peek()) {
      keys.push(heap!.pop()!.key)
    }
    return keys
  }
}
