import { deepFreeze } from '../../api/json/index.ts'
import { OrderedMap } from '../../base/ordered-map.ts'
import type { StoreEvent, Versioned } from '../../store/index.ts'
import type { Encoded } from './encode-object.ts'
import { type Head, type LineType, type ReadValue, StoredObject } from './stored-object.ts'

export type CacheEventType = LineType

/** A change to one object. `previous` is what it was before, absent for a new one; a deletion's `object` is the last state at the deletion's revision. */
export interface CacheEvent {
  type: CacheEventType
  object: StoredObject
  previous: StoredObject | undefined
}

/** How versions are read that another program has written: they may lack what this one would have added. */
export interface Foreign {
  /** All revisions up to this one were written before this process. */
  upTo: number
  /** The store's mark of versions that this program has written, in this process or before. */
  ownMark: number | undefined
  read: ReadValue
  /** Says how a version's bytes begin, where versions of a kind are stored side by side. Absent: as those of the cache's kind. */
  headOf?: ((value: Buffer) => Head) | undefined
}

export interface ResourceCacheOptions {
  /** Objects are frozen before anybody gets them. */
  freezes?: boolean | undefined
  /** The store keeps values in memory, so versions share them. */
  sharesValues?: boolean | undefined
}

/** Called with the events of one commit, in order. */
export type CacheListener = (events: readonly CacheEvent[], revision: number) => void

type StoredVersion = Pick<Versioned, 'key' | 'revision' | 'value' | 'mark'>

/** The current state of all objects of one resource, kept up to date by the store's events before their writers are answered. */
export class ResourceCache {
  readonly prefix: string
  readonly head: Head
  readonly #objects = new OrderedMap<StoredObject>()
  readonly #listeners = new Set<CacheListener>()
  readonly #ends = new Set<() => void>()
  #isEnded = false
  /** What writers have encoded, so that their own commit need not be parsed again. */
  readonly #encoded: WeakMap<Buffer, Encoded>

  readonly #options: ResourceCacheOptions
  readonly #foreign: Foreign

  constructor(prefix: string, head: Head, encoded: WeakMap<Buffer, Encoded>, foreign: Foreign, options: ResourceCacheOptions = {}) {
    this.prefix = prefix
    this.head = head
    this.#encoded = encoded
    this.#foreign = foreign
    this.#options = options
  }

  get size(): number {
    return this.#objects.size
  }

  get listeners(): number {
    return this.#listeners.size
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  /** Objects whose key starts with `prefix` (which starts with the cache's own), in order. The cache must not change meanwhile. */
  range(prefix: string): IterableIterator<StoredObject> {
    return this.#objects.rangePrefix(prefix)
  }

  /** The same objects as they are now, for who goes through them in several turns; those behind `after` only, `limit` at most. */
  snapshot(prefix: string, after?: string, limit?: number): { values: StoredObject[]; behind: number } {
    return this.#objects.snapshot(prefix, after, limit)
  }

  /** How many objects there are below a prefix. Costs next to nothing, however many. */
  count(prefix: string): number {
    return this.#objects.snapshot(prefix, undefined, 0).behind
  }

  /** How the bytes of a version begin. */
  headFor(value: Buffer): Head {
    return this.#foreign.headOf?.(value) ?? this.head
  }

  load(stored: StoredVersion): void {
    this.#objects.set(stored.key, this.#past(stored))
  }

  /** A version out of the store's history: the cache's own where it is still the current one. */
  version(stored: StoredVersion): StoredObject {
    const current = this.#objects.get(stored.key)
    return current?.revision === stored.revision ? current : this.#past(stored)
  }

  /** Takes in the store's events of one commit and tells the listeners. */
  apply(events: readonly StoreEvent[], revision: number): void {
    const told: CacheEvent[] = []
    for (const event of events) told.push(this.#applyOne(event))
    for (const listener of this.#listeners) listener(told, revision)
  }

  listen(listener: CacheListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls `fn` once when the kind is served no more, at once if that is so already. The returned function takes that back. */
  whenEnded(fn: () => void): () => void {
    if (this.#isEnded) fn()
    else this.#ends.add(fn)
    return () => this.#ends.delete(fn)
  }

  /** The kind is served no more: nobody hears of it again. */
  end(): void {
    this.#isEnded = true
    for (const fn of this.#ends) fn()
    this.#listeners.clear()
  }

  #applyOne(event: StoreEvent): CacheEvent {
    const previous = this.#objects.get(event.key)
    if (event.type === 'delete') {
      this.#objects.delete(event.key)
      return { type: 'DELETED', object: previous!.at(event.revision), previous }
    }
    const type = previous ? 'MODIFIED' : 'ADDED'
    const encoded = this.#encoded.get(event.value)
    // The bytes stay for as long as the version does, and would keep the decoded object with them.
    this.#encoded.delete(event.value)
    const object = encoded
      ? StoredObject.fromEncoded(event.key, event.revision, this.headFor(event.value), encoded, type, this.#options.sharesValues)
      : StoredObject.unread(event.key, event.revision, event.value, this.headFor(event.value), this.#readerOf(event), type)
    if (this.#options.freezes) deepFreeze(object.object)
    this.#objects.set(event.key, object)
    return { type, object, previous }
  }

  /** An event out of the store's history, as the cache would have told it. */
  fromHistory(event: StoreEvent): CacheEvent {
    const previous = event.previous && this.version(event.previous)
    if (event.type === 'delete') return { type: 'DELETED', object: previous!.at(event.revision), previous }
    return { type: previous ? 'MODIFIED' : 'ADDED', object: this.version(event), previous }
  }

  #past(stored: StoredVersion): StoredObject {
    const { key, revision, value } = stored
    const read = revision <= this.#foreign.upTo ? this.#readerOf(stored) : undefined
    return StoredObject.unread(key, revision, value, this.headFor(value), read)
  }

  /** Undefined for a version of this program, which is served as it is stored. */
  #readerOf({ mark }: StoredVersion): ReadValue | undefined {
    const { ownMark, read } = this.#foreign
    return mark !== undefined && mark === ownMark ? undefined : read
  }
}
