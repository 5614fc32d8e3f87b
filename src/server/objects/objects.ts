import type { Int64 } from '../../api/numbers/int64.ts'
import type { KubeObject } from '../../api/object.ts'

/** The parts of a resource that determine where its objects are stored. */
export interface StoredKind {
  group: string
  plural: string
  storedAs?: { group: string; plural: string }
}

/** The authenticated user of a request. */
export interface UserInfo {
  name: string
  uid?: string
  groups: readonly string[]
  extra?: Record<string, string[]>
}

/** Reads current objects synchronously, from memory. Returned objects are shared and must not be changed. */
export interface ObjectReader {
  get<T extends KubeObject>(group: string, plural: string, namespace: string, name: string): T | undefined
  /** All objects, of one namespace unless `namespace` is ''. */
  list<T extends KubeObject>(group: string, plural: string, namespace: string): T[]
  /** A snapshot whose objects are decoded on access, for callers that may stop early. */
  listLazily?<T extends KubeObject>(group: string, plural: string, namespace: string): (() => T)[]
}

/** A stored change. Objects are decoded on access. */
export interface ObjectChange {
  namespace: string
  name: string
  /** Undefined if the object was removed. */
  object(): KubeObject | undefined
  /** Undefined if the object was created. */
  previous(): KubeObject | undefined
}

/** Reads and writes of stored objects for subresources and admission, without the checks of a request. */
export interface Objects extends ObjectReader {
  /**
   * Updates an object. `change` gets a copy and returns the new object, or the stored one to write nothing; it may
   * throw an ApiError. It is called again after a conflict. Throws NotFound for a missing object.
   */
  update<T extends KubeObject>(
    kind: StoredKind,
    namespace: string,
    name: string,
    change: (copy: T, stored: T) => T,
    options?: OwnUpdateOptions,
  ): Promise<T>
  /** Calls `tell` for every change of a kind, before the write is acknowledged. */
  follow(group: string, plural: string, tell: (change: ObjectChange) => void): void
  /** Deletes like a DELETE request, with finalizers, grace periods and preconditions. */
  delete(
    kind: StoredKind,
    namespace: string,
    name: string,
    options: DeleteOptions,
    how?: OwnDeleteOptions,
  ): Promise<KubeObject>
}

export interface OwnDeleteOptions {
  dryRun?: boolean
  /** Admission does not apply: the request that led here has been admitted. */
  skipsAdmission?: boolean
}

export interface OwnUpdateOptions {
  dryRun?: boolean
  /**
   * The change is to the status: `kube-apiserver` becomes the manager of its fields, through the status subresource.
   */
  isStatus?: boolean
}

/** An object that is not decoded. */
export interface Glimpse {
  namespace: string
  name: string
  /**
   * The text of the only member with the given name that has one, at any depth: '' if there is none, undefined if only
   * the decoded object tells.
   */
  text: string | undefined
}

/** Additional access for objects that the server itself maintains, such as the allocated addresses of Services. */
export interface ServerObjects extends Objects {
  /** True if the object exists. It is not decoded. */
  has(group: string, plural: string, namespace: string, name: string): boolean
  /**
   * All objects of a kind, with the text of one member. None is decoded. Objects that change during the iteration are
   * left out from then on.
   */
  glimpse(group: string, plural: string, member: string): Iterable<Glimpse>
  /** Creates like a POST request by the server itself. */
  create<T extends KubeObject>(kind: StoredKind, object: T): Promise<T>
}

export interface DeleteOptions {
  gracePeriodSeconds?: Int64
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}

/** The maximum size of an object: the default limit of etcd requests. */
export const maxObjectBytes = 1536 * 1024
