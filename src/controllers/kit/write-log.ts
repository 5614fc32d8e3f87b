import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { type ConsistencyStore, type ResourceType, keyOf } from '../../client/index.ts'
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
  wrote({ key, uid }: Subject, type: ResourceType, { namespace, resourceVersion }: ObjectMeta): void {
    // No cache will contain a write outside its scope. A cache of one namespace is not told of the others. It passes
    // their versions with the next bookmark, up to a minute later.
    if (!resourceVersion || !this.#caches.covers(type, namespace)) return
    if (this.#store.wroteAt(key, uid, this.#caches.partOf(type, namespace), resourceVersion)) this.#caches.of(type).noteWrite(resourceVersion, namespace)
  }

  /** The server no longer has this object; `object` is how it was last known. */
  removed({ key, uid }: Subject, type: ResourceType, object: KubeObject): void {
    const { namespace, resourceVersion, uid: removedUid } = object.metadata
    if (!this.#caches.covers(type, namespace)) return
    const resource = this.#caches.partOf(type, namespace)
    // The cache must first have come as far as the object itself.
    if (resourceVersion) this.#store.wroteAt(key, uid, resource, resourceVersion)
    if (removedUid) this.#store.expectGone(key, uid, resource, keyOf(object), removedUid)
  }
}
