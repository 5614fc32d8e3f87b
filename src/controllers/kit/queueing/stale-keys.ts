import { compareResourceVersions } from '../../../api/resource-version.ts'
import { KeyedHeap } from '../../../base/keyed-heap.ts'

interface Waiting {
  key: string
  wanted: string
}

const isBefore = (a: Waiting, b: Waiting): boolean => compareResourceVersions(a.wanted, b.wanted) < 0

/**
 * Keys that wait until a cache contains the writes for them. Their back-off may have grown to minutes, and no event may
 * arrive for the write: after a relist, a deleted object is not reported. These keys are therefore returned as soon as
 * the cache has reached the version.
 */
export class StaleKeys {
  readonly #byResource = new Map<string, KeyedHeap<string, Waiting>>()

  /** Registers a key that waits for a version of a resource. A deletion has no version, and arrives as an event. */
  add(key: string, resource: string, wanted: string): void {
    if (!/^[0-9]+$/.test(wanted)) return
    let heap = this.#byResource.get(resource)
    if (!heap) this.#byResource.set(resource, (heap = new KeyedHeap(isBefore)))
    heap.set(key, { key, wanted })
  }

  /** Removes and returns the keys whose version the cache of a resource has reached. */
  takeSeen(resource: string, version: string): string[] {
    const heap = this.#byResource.get(resource)
    const keys: string[] = []
    for (let next = heap?.peek(); next && compareResourceVersions(next.wanted, version) <= 0; next = heap!.peek()) {
      keys.push(heap!.pop()!.key)
    }
    return keys
  }
}
