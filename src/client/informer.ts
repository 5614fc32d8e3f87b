import type { KubeObject } from '../api/object.ts'
import type { ResourceType } from './resource-type.ts'

/** Gets every change of a cache, in order, after the cache has it. */
export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `isInitial` marks objects that were there when the handler was added or the cache was filled. */
  add?(object: T, isInitial: boolean): void
  /** Also called with the same object twice on a resync. */
  update?(old: T, object: T): void
  /** The last state that was seen; `isFinal` is false where the deletion itself was missed and a later list did not have it any more. */
  delete?(object: T, isFinal: boolean): void
  /**
   * The cache has seen everything up to this resource version, of one namespace where it follows several, each on its own; '' otherwise. Raised by
   * bookmarks, lists and every event, in order with the others.
   */
  bookmark?(resourceVersion: string, namespace: string): void
}

/** A cache of all objects of a resource (in a namespace, by a selector), kept up to date by list and watch. Objects are shared: read only. */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>
  /** By `namespace/name`. */
  get(key: string): T | undefined
  list(): T[]
  /** Objects under one value of an index. */
  byIndex(index: string, value: string): T[]
  /** The returned function removes it again. What is cached is told as adds first. */
  addHandler(handler: InformerHandler<T>): () => void
  /** Everything up to here has been seen; '' before the first list. Compares as a decimal integer. */
  readonly lastSyncResourceVersion: string
  /** Whether the first list is in the cache. */
  readonly hasSynced: boolean
  /** Resolves when it is; rejects when the signal is aborted first. */
  synced(signal?: AbortSignal): Promise<void>
  readonly lag: InformerLag
}

/** How far a cache is behind. */
export interface InformerLag {
  /** Seconds since the oldest write that somebody told the informer about and that it has not seen yet; 0 if there is none. */
  unseenWriteSeconds(): number
  /** Seconds since the last list, event or bookmark. */
  silentSeconds(): number
  /** Why readiness should fail: not synced, or behind its limit. Undefined while all is well. */
  problem(): string | undefined
}
