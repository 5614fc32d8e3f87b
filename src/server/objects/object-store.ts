import { alreadyExists, conflictModified, entityTooLarge } from '../../api/errors.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { type PackedOwners, isSameButForTimes, noOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  type Store,
  type StoreEvent,
  StoreUnavailableError,
  type Versioned,
  type Watch,
  loadAll,
} from '../../store/index.ts'
import { TransformError, isEncrypted } from '../encryption/index.ts'
import { type Encoded, encodeForStore } from './encode-object.ts'
import { maxObjectBytes } from './objects.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { CacheEvent } from './cache-listeners.ts'
import { ResourceCache } from './resource-cache.ts'
import { findByKey, registryPrefix } from './stored-keys.ts'
import { type ReadValue, StoredObject, parseObject } from './stored-object.ts'

interface ObjectStoreOptions {
  /** The decoder of objects that another program has stored. Default: they are served as stored. */
  reader?(place: Registered): ReadValue
  /** Marks this program's writes in the store. Without it, all writes by other processes count as foreign. */
  mark?: number | undefined
  /** Freezes each written object before it is shared. */
  freezes?: boolean
}

interface Waiting {
  revision: number
  resolve(): void
  reject(why: Error): void
}

/** The object layer over the log of revisions: a cache of all current objects, and conditional writes. */
export class ObjectStore {
  /** True if other servers write to the same store, so that the cache may be older than their responses. */
  readonly isShared: boolean
  readonly #store: Store
  /** Includes removed kinds that are still in use. */
  readonly #caches = new WeakMap<Registered, ResourceCache>()
  /** Caches by key prefix, to dispatch store events. */
  readonly #byPrefix = new Map<string, ResourceCache>()
  readonly #encoded = new WeakMap<Buffer, Encoded>()
  readonly #options: ObjectStoreOptions
  readonly #mark: number | undefined
  /** Events of kinds that are being loaded, by key prefix. */
  readonly #loading = new Map<string, StoreEvent[]>()
  #revision: number
  #feed: Watch | undefined
  /** Callers that wait for a revision. */
  readonly #waiting = new Set<Waiting>()

  private constructor(store: Store, registry: Registry, revision: number, options: ObjectStoreOptions) {
    this.#store = store
    this.#options = options
    this.#mark = options.mark
    this.isShared = store.currentRevision !== undefined
    this.#revision = revision
    for (const registered of registry.storages())
      this.#byPrefix.set(registered.prefix, this.#newCache(registered, revision))
  }

  #newCache(registered: Registered, revision: number): ResourceCache {
    const { reader = () => parseObject, mark, freezes } = this.#options
    const ownMark = registered.resource.isCustom ? undefined : mark
    const headOf = registered.resource.conversion?.headOf
    const foreign = { upTo: revision, ownMark, read: reader(registered), headOf }
    const cache = new ResourceCache(registered.prefix, registered.head, this.#encoded, foreign, {
      freezes,
      sharesValues: this.#store.keepsValues,
    })
    this.#caches.set(registered, cache)
    return cache
  }

  /**
   * Loads all current objects. `onLost` is called if the watch on the store fails: the process must stop serving then.
   */
  static async open(
    store: Store,
    registry: Registry,
    onLost: (why: Error) => void,
    options: ObjectStoreOptions = {},
  ): Promise<ObjectStore> {
    let loaded: ObjectStore | undefined
    const at = (revision: number) => (loaded ??= new ObjectStore(store, registry, revision, options))
    const revision = await loadAll(store, registryPrefix, (items, read) => at(read).#loadPage(items))
    const objects = at(revision)
    objects.#feed = await store.watch(
      registryPrefix,
      revision,
      (events) => objects.#take(events),
      (why) => {
        objects.#rejectWaiting(why)
        onLost(why)
      },
      (seen) => objects.#saw(seen),
    )
    // Meanwhile other servers may have written more than the watch delivers at once.
    await objects.waitForEvents(store.revision)
    return objects
  }

  #loadPage(items: readonly Versioned[]): void {
    let cache: ResourceCache | undefined
    for (const item of items) {
      if (isEncrypted(item.value))
        throw new TransformError(item.key, 'identity transformer tried to read encrypted data')
      // The keys of a kind follow each other.
      if (!cache || !item.key.startsWith(cache.prefix)) cache = this.#cacheOf(item.key)
      cache?.load(item)
    }
  }

  /** Loads the objects of a kind and keeps its cache current. */
  async openKind(registered: Registered): Promise<void> {
    const { prefix } = registered
    if (this.#byPrefix.has(prefix)) throw new Error(`${prefix} is open already`)
    await this.#load(registered)
  }

  /** Reloads a kind after its declaration has changed, and ends its watches, because objects may look different. */
  async reopenKind(registered: Registered): Promise<void> {
    const before = this.#byPrefix.get(registered.prefix)
    await this.#load(registered)
    before?.end()
  }

  /** Keeps the cache of a kind whose new declaration reads objects in the same way. */
  adoptKind(registered: Registered): void {
    this.#caches.set(registered, this.#byPrefix.get(registered.prefix)!)
  }

  async #load(registered: Registered): Promise<void> {
    const { prefix } = registered
    if (this.#loading.has(prefix)) throw new Error(`${prefix} is being opened`)
    const meanwhile: StoreEvent[] = []
    this.#loading.set(prefix, meanwhile)
    try {
      const { items, revision } = await this.#store.range(prefix)
      // Otherwise older events that are still to arrive would be taken for newer ones.
      if (this.isShared) await this.waitUntilSeen(revision)
      const cache = this.#newCache(registered, revision)
      for (const item of items) cache.load(item)
      const missed = meanwhile.filter((event) => event.revision > revision)
      if (missed.length) cache.apply(missed, missed.at(-1)!.revision)
      this.#byPrefix.set(prefix, cache)
    } finally {
      this.#loading.delete(prefix)
    }
  }

  /** Removes the cache of a kind and ends its watches. */
  closeKind(registered: Registered): void {
    const cache = this.#byPrefix.get(registered.prefix)
    this.#byPrefix.delete(registered.prefix)
    cache?.end()
  }

  /** The newest revision that readers can see. */
  get revision(): number {
    return this.#revision
  }

  /** Resolves once the cache contains every write that was committed anywhere before the call. */
  async catchUp(): Promise<void> {
    const revision = await this.#store.currentRevision?.()
    if (revision !== undefined) await this.waitUntilSeen(revision)
  }

  /**
   * Resolves once the cache has reached `revision`, which must exist. Rejects with StoreUnavailableError if the store
   * does not deliver it in time.
   */
  async waitUntilSeen(revision: number): Promise<void> {
    if (revision <= this.#revision) return
    await this.#store.waitUntilSeen?.(revision)
    await this.waitForEvents(revision)
  }

  /**
   * Resolves once events have brought the cache to `revision`, which need not exist, or when the signal is aborted. The
   * store is not asked for it.
   */
  async waitForEvents(revision: number, signal?: AbortSignal): Promise<void> {
    if (revision <= this.#revision || signal?.aborted) return
    await new Promise<void>((resolve, reject) => {
      const waiting = { revision, resolve, reject }
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', () => {
        this.#waiting.delete(waiting)
        resolve()
      })
    })
  }

  get store(): Store {
    return this.#store
  }

  cache(registered: Registered): ResourceCache {
    return this.#caches.get(registered.storage)!
  }

  key(registered: Registered, namespace: string, name: string): string {
    const { prefix, resource } = registered.storage
    return resource.namespaced ? `${prefix}${namespace}/${name}` : prefix + name
  }

  get(registered: Registered, namespace: string, name: string): StoredObject | undefined {
    return this.cache(registered).get(this.key(registered, namespace, name))
  }

  /** Creates an object. The caller must not change it afterwards. */
  async create(registered: Registered, object: KubeObject, owners = noOwners): Promise<StoredObject> {
    const { namespace = '', name = '' } = object.metadata
    const key = this.key(registered, namespace, name)
    const encoded = this.#encode(object, owners)
    const result = await this.#store.write({ key, expected: 0, value: encoded.value, mark: this.#mark })
    const { group, plural } = registered.resource
    if (!result.ok) throw alreadyExists({ group, resource: plural }, name)
    return this.#written(registered, key, result.revision, encoded)
  }

  /**
   * Replaces `stored` with `object`, or throws a conflict if `stored` is not current. Writes nothing if only timestamps
   * of owners differ.
   */
  async update(
    registered: Registered,
    stored: StoredObject,
    object: KubeObject,
    owners = stored.owners,
  ): Promise<StoredObject> {
    object.metadata.resourceVersion = stored.object.metadata.resourceVersion!
    const isSame = deepEqual(object, stored.object) && isSameButForTimes(owners, stored.owners)
    if (isSame && !(await this.#isStale(stored))) return stored
    const encoded = this.#encode(object, isSame ? stored.owners : owners, stored)
    const result = await this.#store.write({
      key: stored.key,
      expected: stored.revision,
      value: encoded.value,
      mark: this.#mark,
    })
    if (!result.ok) throw this.#conflict(registered, object)
    return this.#written(registered, stored.key, result.revision, encoded)
  }

  #isStale({ key }: StoredObject): Promise<boolean> | boolean {
    return this.#store.isStale?.(key) ?? false
  }

  /** Removes `stored`, or throws a conflict if it is not current. Returns the revision of the removal. */
  async remove(registered: Registered, stored: StoredObject): Promise<number> {
    const result = await this.#store.write({ key: stored.key, expected: stored.revision, value: undefined })
    if (!result.ok) throw this.#conflict(registered, stored.object)
    return result.revision
  }

  /** The objects under `prefix` at an old revision. */
  async rangeAt(
    registered: Registered,
    prefix: string,
    revision: number,
    after: string | undefined,
    limit: number | undefined,
  ) {
    const result = await this.#store.range(prefix, { revision, after, limit })
    const cache = this.cache(registered)
    return { ...result, items: result.items.map((item) => cache.version(item)) }
  }

  /** The events under `prefix` after an old revision, and all later ones. */
  watchFrom(
    registered: Registered,
    prefix: string,
    revision: number,
    onEvents: (events: readonly CacheEvent[], revision: number) => void,
    onEnd: (why: Error) => void,
  ): Promise<Watch> {
    const cache = this.cache(registered)
    return this.#store.watch(
      prefix,
      revision,
      (events) =>
        onEvents(
          events.map((e) => cache.fromHistory(e)),
          events.at(-1)!.revision,
        ),
      onEnd,
    )
  }

  close(): void {
    this.#feed?.close()
  }

  #written(registered: Registered, key: string, revision: number, encoded: Encoded): StoredObject {
    const cache = this.cache(registered)
    const current = cache.get(key)
    // Another commit may have followed before this writer resumed; its own version is still what it wrote.
    return current?.revision === revision
      ? current
      : StoredObject.fromEncoded(key, revision, cache.headFor(encoded.value), encoded)
  }

  #encode(object: KubeObject, owners: PackedOwners, before?: StoredObject): Encoded {
    const encoded = encodeForStore(object, owners, before, this.#store.keepsValues)
    const { value } = encoded
    if (value.length > maxObjectBytes) throw entityTooLarge(`Request entity too large: limit is ${maxObjectBytes}`)
    this.#encoded.set(value, encoded)
    return encoded
  }

  #conflict(registered: Registered, object: KubeObject) {
    const { group, plural } = registered.resource
    return conflictModified({ group, resource: plural }, object.metadata.name ?? '')
  }

  #cacheOf(key: string): ResourceCache | undefined {
    return findByKey(this.#byPrefix, key)
  }

  /** Dispatches the events of one commit to their caches, in order. */
  #take(events: readonly StoreEvent[]): void {
    const last = events.at(-1)!
    this.#revision = last.revision
    let from = 0
    for (let i = 1; i <= events.length; i++) {
      const cache = this.#cacheOf(events[from]!.key)
      if (i < events.length && this.#cacheOf(events[i]!.key) === cache) continue
      if (cache) cache.apply(events.slice(from, i), events[i - 1]!.revision)
      if (this.#loading.size) this.#keep(events.slice(from, i))
      from = i
    }
    if (this.#waiting.size > 0) this.#wake()
  }

  /** Records that the store has no more events up to `revision`. */
  #saw(revision: number): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    this.#wake()
  }

  #wake(): void {
    for (const waiting of Array.from(this.#waiting)) {
      if (waiting.revision > this.#revision) continue
      this.#waiting.delete(waiting)
      waiting.resolve()
    }
  }

  #rejectWaiting(why: Error): void {
    for (const { reject } of this.#waiting)
      reject(new StoreUnavailableError(`the store can no longer be followed: ${why.message}`))
    this.#waiting.clear()
  }

  /** Buffers events of kinds that are being loaded. */
  #keep(events: readonly StoreEvent[]): void {
    for (const event of events) findByKey(this.#loading, event.key)?.push(event)
  }
}
