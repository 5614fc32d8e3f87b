import { deepFreeze } from '../api/json/index.ts'
import { OrderedMap } from '../base/ordered-map.ts'
import type { StoreEvent } from '../store/index.ts'
import type { Encoded } from './encode-object.ts'
import { type Head, type LineType, StoredObject } from './stored-object.ts'

export type CacheEventType = LineType

/** A change to one object. `previous` is what it was before, absent for a new one; a deletion's `object` is the last state at the deletion's revision. */
export interface CacheEvent {
  type: CacheEventType
  object: StoredObject
  previous: StoredObject | undefined
}

/** Called with the events of one commit, in order. */
export type CacheListener = (events: readonly CacheEvent[], revision: number) => void

/** The current state of all objects of one resource, kept up to date by the store's events before their writers are answered. */
export class ResourceCache {
  readonly prefix: string
  readonly head: Head
  readonly #objects = new OrderedMap<StoredObject>()
  readonly #listeners = new Set<CacheListener>()
  /** What writers have encoded, so that their own commit need not be parsed again. */
  readonly #encoded: WeakMap<Buffer, Encoded>

  /** Whether objects are frozen before anybody gets them. */
  readonly #freezes: boolean

  constructor(prefix: string, head: Head, encoded: WeakMap<Buffer, Encoded>, freezes = false) {
    this.prefix = prefix
    this.head = head
    this.#encoded = encoded
    this.#freezes = freezes
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

  /** Objects whose key starts with `prefix` (which starts with the cache's own), in order; those behind `after` only. */
  range(prefix: string, after?: string): IterableIterator<StoredObject> {
    return this.#objects.rangePrefix(prefix, after)
  }

  load(key: string, revision: number, value: Buffer): void {
    this.#objects.set(key, StoredObject.fromStore(key, revision, value, this.head))
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

  #applyOne(event: StoreEvent): CacheEvent {
    const previous = this.#objects.get(event.key)
    if (event.type === 'delete') {
      this.#objects.delete(event.key)
      return { type: 'DELETED', object: previous!.at(event.revision), previous }
    }
    const type = previous ? 'MODIFIED' : 'ADDED'
    const object = StoredObject.fromStore(event.key, event.revision, event.value, this.head, this.#encoded.get(event.value), type)
    if (this.#freezes) deepFreeze(object.object)
    this.#objects.set(event.key, object)
    return { type, object, previous }
  }

  /** An event out of the store's history, as the cache would have told it. */
  fromHistory(event: StoreEvent): CacheEvent {
    const version = (v: { key: string; revision: number; value: Buffer }) => {
      const current = this.#objects.get(v.key)
      return current?.revision === v.revision ? current : StoredObject.fromStore(v.key, v.revision, v.value, this.head)
    }
    const previous = event.previous && version(event.previous)
    if (event.type === 'delete') return { type: 'DELETED', object: previous!.at(event.revision), previous }
    return { type: previous ? 'MODIFIED' : 'ADDED', object: version(event), previous }
  }
}
