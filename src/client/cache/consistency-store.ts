import { compareResourceVersions } from '../../api/resource-version.ts'

/** Tells whether the caches contain all of an owner's own writes; if not, names the first missing one. */
export type Readiness = { ready: true } | { ready: false; resource: string; wanted: string; seen: string }

export interface ConsistencyStoreOptions {
  /**
   * Returns the uid of the cached object `namespace/name` of a resource, if there is one. It shows when a deletion has
   * been seen.
   */
  cachedUid?(resource: string, key: string): string | undefined
}

interface Departure {
  resource: string
  key: string
  uid: string
}

interface Owner {
  uid: string
  /** The newest version written, by resource. Versions only rise; an entry is removed once it has been seen. */
  readonly written: Map<string, string>
  /** Deleted objects that may still be cached, in order of deletion: caches usually drop them in that order. */
  readonly departures: Map<string, Departure>
}

const ready: Readiness = { ready: true }

/** Returns true for a version that can be compared. */
const isVersion = (text: string): boolean => /^[0-9]+$/.test(text)

/**
 * Compares the writes made for each owner with what the caches have seen, so that no decision is based on a cache that
 * lacks the owner's own writes. Each call takes constant time, regardless of the number of owners.
 */
export class ConsistencyStore {
  readonly #owners = new Map<string, Owner>()
  /** The version up to which each cache is complete, by resource. Only rises. */
  readonly #seen = new Map<string, string>()
  readonly #cachedUid: (resource: string, key: string) => string | undefined

  constructor({ cachedUid = () => undefined }: ConsistencyStoreOptions = {}) {
    this.#cachedUid = cachedUid
  }

  /** Number of owners with writes that have not been seen. */
  get size(): number {
    return this.#owners.size
  }

  /** Records a write. Returns false for a value that is not a version: it cannot be waited for. */
  wroteAt(owner: string, ownerUid: string, resource: string, resourceVersion: string): boolean {
    if (!isVersion(resourceVersion)) return false
    if (this.#hasSeen(resource, resourceVersion)) return true
    const { written } = this.#recordOf(owner, ownerUid)
    const before = written.get(resource)
    if (before === undefined || compareResourceVersions(resourceVersion, before) > 0)
      written.set(resource, resourceVersion)
    return true
  }

  /**
   * Records a delete whose response had no version: the owner is ready once the cache no longer holds the object. A
   * cache that has not seen the object yet looks the same, so a caller that deletes a new object must also call
   * `wroteAt` with its last version.
   */
  expectGone(owner: string, ownerUid: string, resource: string, key: string, uid: string): void {
    this.#recordOf(owner, ownerUid).departures.set(uid, { resource, key, uid })
  }

  /** Records that the cache of a resource is complete up to this version. */
  bookmark(resource: string, resourceVersion: string): void {
    if (!isVersion(resourceVersion) || this.#hasSeen(resource, resourceVersion)) return
    this.#seen.set(resource, resourceVersion)
  }

  /**
   * Checks whether the caches contain every write for this owner. With a uid, writes for another owner of the same name
   * do not count.
   */
  ensureReady(owner: string, ownerUid?: string): Readiness {
    const record = this.#owners.get(owner)
    if (!record) return ready
    if (ownerUid === undefined || record.uid === ownerUid) {
      for (const [resource, wanted] of record.written) {
        if (!this.#hasSeen(resource, wanted)) return this.#missing(resource, wanted)
        record.written.delete(resource)
      }
      // Stops at the first object that is still cached: objects before it are not checked again.
      for (const { resource, key, uid } of record.departures.values()) {
        if (this.#cachedUid(resource, key) === uid) return this.#missing(resource, `${key} gone`)
        record.departures.delete(uid)
      }
    }
    this.#owners.delete(owner)
    return ready
  }

  /** Removes an owner; with a uid, only if the uid matches. */
  clear(owner: string, ownerUid?: string): void {
    if (ownerUid === undefined || this.#owners.get(owner)?.uid === ownerUid) this.#owners.delete(owner)
  }

  #missing(resource: string, wanted: string): Readiness {
    return { ready: false, resource, wanted, seen: this.#seen.get(resource) ?? '' }
  }

  #hasSeen(resource: string, version: string): boolean {
    const seen = this.#seen.get(resource)
    return seen !== undefined && compareResourceVersions(seen, version) >= 0
  }

  #recordOf(owner: string, uid: string): Owner {
    let record = this.#owners.get(owner)
    if (record?.uid !== uid) this.#owners.set(owner, (record = { uid, written: new Map(), departures: new Map() }))
    return record
  }
}
