import { deepFreeze } from '../../api/json/index.ts'
import { OrderedMap } from '../../base/ordered-map.ts'
import type { StoreEvent, Versioned } from '../../store/index.ts'
import { type CacheEvent, type CacheListener, CacheListeners, type WantedField } from './cache-listeners.ts'
import type { Encoded } from './encode-object.ts'
import { type Head, type ReadValue, StoredObject } from './stored-object.ts'

/** Decoding of versions that another program has stored, which may lack defaults that this one sets. */
interface Foreign {
  /** Revisions up to this one were written before this process started. */
  upTo: number
  /** The store's mark of versions written by this program, in this or an earlier process. */
  ownMark: number | undefined
  read: ReadValue
  /**
   * The head of a version's bytes, for kinds that are stored in several versions. Default: the head of the cache's
   * kind.
   */
  headOf?: ((value: Buffer) => Head) | undefined
}

interface ResourceCacheOptions {
  /** Objects are frozen before they are shared. */
  freezes?: boolean | undefined
  /** The store keeps values in memory, so versions share them. */
  sharesValues?: boolean | undefined
}

type StoredVersion = Pick<Versioned, 'key' | 'revision' | 'value' | 'mark'>

/** The current objects of one resource. Store events update it before their writes are acknowledged. */
export class ResourceCache {
  readonly prefix: string
  readonly head: Head
  readonly #objects = new OrderedMap<StoredObject>()
  readonly #listeners = new CacheListeners()
  readonly #ends = new Set<() => void>()
  #isEnded = false
  /** Objects that writers have encoded, by their bytes, so that their own commits are not parsed again. */
  readonly #encoded: WeakMap<Buffer, Encoded>

  readonly #options: ResourceCacheOptions
  readonly #foreign: Foreign

  constructor(
    prefix: string,
    head: Head,
    encoded: WeakMap<Buffer, Encoded>,
    foreign: Foreign,
    options: ResourceCacheOptions = {},
  ) {
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

  /** The objects whose keys start with `prefix`, in order. The cache must not change during the iteration. */
  range(prefix: string): IterableIterator<StoredObject> {
    return this.#objects.rangePrefix(prefix)
  }

  /** A copy of that range, for iteration over several turns: objects after the key `after`, at most `limit`. */
  snapshot(prefix: string, after?: string, limit?: number): { values: StoredObject[]; behind: number } {
    return this.#objects.snapshot(prefix, after, limit)
  }

  /** The number of objects under a prefix, without iteration. */
  count(prefix: string): number {
    return this.#objects.snapshot(prefix, undefined, 0).behind
  }

  /** The head of a version's bytes. */
  headFor(value: Buffer): Head {
    return this.#foreign.headOf?.(value) ?? this.head
  }

  load(stored: StoredVersion): void {
    this.#objects.set(stored.key, this.#past(stored))
  }

  /** A version from the store's history. The cached object is reused if it is still current. */
  version(stored: StoredVersion): StoredObject {
    const current = this.#objects.get(stored.key)
    return current?.revision === stored.revision ? current : this.#past(stored)
  }

  /** Applies the store events of one commit and calls the listeners. */
  apply(events: readonly StoreEvent[], revision: number): void {
    const told: CacheEvent[] = []
    for (const event of events) told.push(this.#applyOne(event))
    this.#listeners.tell(told, revision)
  }

  /** With `wanted`, the listener is not called for objects that never had that value. */
  listen(listener: CacheListener, wanted?: WantedField): () => void {
    return this.#listeners.add(listener, wanted)
  }

  /**
   * Calls `fn` once when the kind is removed, or immediately if it has been. The returned function removes the
   * callback.
   */
  whenEnded(fn: () => void): () => void {
    if (this.#isEnded) fn()
    else this.#ends.add(fn)
    return () => this.#ends.delete(fn)
  }

  /** Ends the cache after its kind was removed. */
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
    // The bytes live as long as the version, and would keep the decoded object alive.
    this.#encoded.delete(event.value)
    const object = encoded
      ? StoredObject.fromEncoded(
          event.key,
          event.revision,
          this.headFor(event.value),
          encoded,
          type,
          this.#options.sharesValues,
        )
      : StoredObject.unread(
          event.key,
          event.revision,
          event.value,
          this.headFor(event.value),
          this.#readerOf(event),
          type,
        )
    if (this.#options.freezes) deepFreeze(object.object)
    this.#objects.set(event.key, object)
    return { type, object, previous }
  }

  /** Converts an event from the store's history into a cache event. */
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

  /** Undefined for a version of this program, which is served as stored. */
  #readerOf({ mark }: StoredVersion): ReadValue | undefined {
    const { ownMark, read } = this.#foreign
    return mark !== undefined && mark === ownMark ? undefined : read
  }
}
