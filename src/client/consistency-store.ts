import { compareResourceVersions } from '../api/resource-version.ts'

/** Whether an owner's own writes are all in the caches; if not, the first one that is missing. */
export type Readiness = { ready: true } | { ready: false; resource: string; wanted: string; seen: string }

export interface ConsistencyStoreOptions {
  /** The uid under which a cache holds `namespace/name` of a resource, if it does: how a disappearance is noticed. */
  cachedUid?(resource: string, key: string): string | undefined
}

interface Departure {
  resource: string
  key: string
  uid: string
}

interface Owner {
  uid: string
  /** The newest version written, by resource. Grows only; an entry goes when it has been seen. */
  readonly written: Map<string, string>
  /** Objects that were deleted and may still be cached. In the order of deletion: caches usually lose them in it. */
  readonly departures: Map<string, Departure>
}

const ready: Readiness = { ready: true }

/** What compares as a version; anything else is refused. */
const isVersion = (text: string): boolean => /^[0-9]+$/.test(text)

/**
 * Knows what was written on behalf of each owner and what the caches have seen, so that nothing is decided from a cache that lacks
 * one's own writes. Each call costs the same, however many owners there are.
 */
export class ConsistencyStore {
  readonly #owners = new Map<string, Owner>()
  /** Everything up to here is in the cache, by resource. Grows only. */
  readonly #seen = new Map<string, string>()
  readonly #cachedUid: (resource: string, key: string) => string | undefined

  constructor({ cachedUid = () => undefined }: ConsistencyStoreOptions = {}) {
    this.#cachedUid = cachedUid
  }

  /** How many owners have writes that were not found to be seen yet. */
  get size(): number {
    return this.#owners.size
  }

  /** Remembers a write. False for a version that is none: it cannot be waited for, so it is not. */
  wroteAt(owner: string, ownerUid: string, resource: string, resourceVersion: string): boolean {
    if (!isVersion(resourceVersion)) return false
    if (this.#hasSeen(resource, resourceVersion)) return true
    const { written } = this.#recordOf(owner, ownerUid)
    const before = written.get(resource)
    if (before === undefined || compareResourceVersions(resourceVersion, before) > 0) written.set(resource, resourceVersion)
    return true
  }

  /**
   * Remembers a delete that was answered without a version: the owner is ready again when the cache does not hold that object any more.
   * A cache that has yet to see it would pass for one that lost it: who deletes what may be that new says `wroteAt` of its last version, too.
   */
  expectGone(owner: string, ownerUid: string, resource: string, key: string, uid: string): void {
    this.#recordOf(owner, ownerUid).departures.set(uid, { resource, key, uid })
  }

  /** The cache of a resource has everything up to this version. */
  bookmark(resource: string, resourceVersion: string): void {
    if (!isVersion(resourceVersion) || this.#hasSeen(resource, resourceVersion)) return
    this.#seen.set(resource, resourceVersion)
  }

  /** Whether the caches have all that was written for this owner. With a uid, what was written for another one of the same name does not count. */
  ensureReady(owner: string, ownerUid?: string): Readiness {
    const record = this.#owners.get(owner)
    if (!record) return ready
    if (ownerUid === undefined || record.uid === ownerUid) {
      for (const [resource, wanted] of record.written) {
        if (!this.#hasSeen(resource, wanted)) return this.#missing(resource, wanted)
        record.written.delete(resource)
      }
      // Stops at the first that is still there: whatever was gone before it is not looked at again.
      for (const { resource, key, uid } of record.departures.values()) {
        if (this.#cachedUid(resource, key) === uid) return this.#missing(resource, `${key} gone`)
        record.departures.delete(uid)
      }
    }
    this.#owners.delete(owner)
    return ready
  }

  /** Forgets an owner; with a uid only if it is that one. */
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
