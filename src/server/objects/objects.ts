import type { Int64 } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Resource } from '../registry/resource.ts'

/** Who sent a request. */
export interface UserInfo {
  name: string
  uid?: string
  groups: readonly string[]
  extra?: Record<string, string[]>
}

/** Reads what is stored, at once and without I/O. What it hands out is shared: it must not be changed. */
export interface ObjectReader {
  get<T extends KubeObject>(group: string, plural: string, namespace: string, name: string): T | undefined
  /** All objects, of one namespace if `namespace` is not ''. */
  list<T extends KubeObject>(group: string, plural: string, namespace: string): T[]
  /** The same as it is now, each to be decoded when it is asked for: for who may stop before the end. */
  listLazily?<T extends KubeObject>(group: string, plural: string, namespace: string): (() => T)[]
}

/** An object was stored, changed or removed. What it is and was is decoded when it is asked for. */
export interface ObjectChange {
  namespace: string
  name: string
  /** Undefined if it is gone. */
  object(): KubeObject | undefined
  /** Undefined if it is new. */
  previous(): KubeObject | undefined
}

/** Reads and writes stored objects below the level of verbs: for subresources and admission. */
export interface Objects extends ObjectReader {
  /**
   * Changes one object: `change` gets a copy of its own and returns the new object, the same one (nothing is written), or
   * throws an ApiError. Called again with the newer object if another writer was faster. A missing object is a NotFound error.
   */
  update<T extends KubeObject>(resource: Resource, namespace: string, name: string, change: (copy: T, stored: T) => T, options?: { dryRun?: boolean }): Promise<T>
  /** Tells of every change of a kind, before its writer is answered. */
  follow(group: string, plural: string, tell: (change: ObjectChange) => void): void
  /** What a delete request does, with finalizers, grace periods and preconditions. */
  delete(resource: Resource, namespace: string, name: string, options: DeleteOptions, dryRun: boolean): Promise<KubeObject>
}

/** What the server needs besides to keep objects of its own, such as the addresses that Services have taken. */
export interface ServerObjects extends Objects {
  /** True if there is such an object: as get, without reading it. */
  has(group: string, plural: string, namespace: string, name: string): boolean
  /** What a create request does, as the server itself. */
  create<T extends KubeObject>(resource: Resource, object: T): Promise<T>
}

export interface DeleteOptions {
  gracePeriodSeconds?: Int64
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}
