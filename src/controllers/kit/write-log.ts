import type { KubeObject } from '../../api/object.ts'
import { type ConsistencyStore, type ResourceType, keyOf, resourceName } from '../../client/index.ts'
import type { Caches } from './caches.ts'

/** Whose sake something is written for. */
export interface Subject {
  key: string
  uid: string
}

/** Told of every write of a controller, so that nobody has to remember to tell. */
export class WriteLog {
  readonly #store: ConsistencyStore
  readonly #caches: Caches

  constructor(store: ConsistencyStore, caches: Caches) {
    this.#store = store
    this.#caches = caches
  }

  /** The server has this version now. */
  wrote({ key, uid }: Subject, type: ResourceType, resourceVersion: string | undefined): void {
    // What is not cached is never read back, and nothing would ever say that it was seen.
    if (!resourceVersion || !this.#caches.has(type)) return
    if (this.#store.wroteAt(key, uid, resourceName(type), resourceVersion)) this.#caches.of(type).noteWrite(resourceVersion)
  }

  /** The server no longer has this object; `object` is how it was last known. */
  removed({ key, uid }: Subject, type: ResourceType, object: KubeObject): void {
    if (!this.#caches.has(type)) return
    const resource = resourceName(type)
    // The cache must first have come as far as the object itself.
    if (object.metadata.resourceVersion) this.#store.wroteAt(key, uid, resource, object.metadata.resourceVersion)
    if (object.metadata.uid) this.#store.expectGone(key, uid, resource, keyOf(object), object.metadata.uid)
  }
}
