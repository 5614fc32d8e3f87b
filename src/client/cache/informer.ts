import type { KubeObject } from '../../api/object.ts'
import type { ResourceType } from '../resource-type.ts'

/** Receives every change of a cache, in order, after the cache has applied it. */
export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `isInitial` is true for objects that existed when the handler was added or the cache was filled. */
  add?(object: T, isInitial: boolean): void
  /** A resync calls it with the same object as old and new. */
  update?(old: T, object: T): void
  /**
   * Receives the last known state. `isFinal` is false if the deletion event was missed and a later list lacked the
   * object.
   */
  delete?(object: T, isFinal: boolean): void
  /**
   * The cache is complete up to this resource version. `namespace` names the namespace if the informer follows several
   * separately, and is '' otherwise. Raised by bookmarks, lists and events, in order with the other callbacks.
   */
  bookmark?(resourceVersion: string, namespace: string): void
}

/**
 * A cache of the objects of a resource (in a namespace, matching a selector), kept up to date by list and watch.
 * Objects are shared and must not be changed.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>
  /** Returns an object by its key `namespace/name`. */
  get(key: string): T | undefined
  list(): T[]
  /** Returns the objects with this value in an index. */
  byIndex(index: string, value: string): T[]
  /** Adds a handler; the returned function removes it. Cached objects are reported as adds first. */
  addHandler(handler: InformerHandler<T>): () => void
  /** The version up to which the cache is complete; '' before the first list. Compared as a decimal integer. */
  readonly lastSyncResourceVersion: string
  /** True once the first list is cached. */
  readonly hasSynced: boolean
  /** Resolves when the first list is cached; rejects if the signal is aborted first. */
  synced(signal?: AbortSignal): Promise<void>
  readonly lag: InformerLag
}

/** The lag of a cache. */
export interface InformerLag {
  /** Age in seconds of the oldest noted write that the cache has not seen; 0 if there is none. */
  unseenWriteSeconds(): number
  /** Seconds since the last list, event or bookmark. */
  silentSeconds(): number
  /** Returns the reason why readiness should fail: not synced, or behind its limit. Undefined otherwise. */
  problem(): string | undefined
}
