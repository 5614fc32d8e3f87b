import type { KubeObject } from '../../api/object.ts'
import type { IndexFunction, ResourceType } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { RosterKind } from './roster/roster.ts'

/** Another kind of object whose changes cause a reconcile of an owner. */
export interface Watch<T extends KubeObject = KubeObject> {
  type: ResourceType<T>
  /** The keys of the owners to reconcile. Called for the old and the new state of an object that changed. */
  toKeys(object: T, caches: Caches): Iterable<string>
  /** Reports whether a change can make a difference. Default: every change can. */
  concerns?(before: T, after: T): boolean
  /** Reports whether both states certainly lead to the same owners, so that one call is enough. Default: unknown. */
  hasSameKeys?(before: T, after: T): boolean
}

/** Declares a watch for a specific object type. */
export const watching = <T extends KubeObject>(
  type: ResourceType<T>,
  toKeys: Watch<T>['toKeys'],
  concerns?: Watch<T>['concerns'],
): Watch => ({ type, toKeys, ...(concerns ? { concerns } : {}) }) as unknown as Watch

/** An index of a cache, read by `caches.byIndex`. */
export interface CacheIndex<T extends KubeObject = KubeObject> {
  type: ResourceType<T>
  name: string
  valuesOf: IndexFunction<T>
}

/** Declares an index for a specific object type. Controllers that share an index share the function. */
export const indexing = <T extends KubeObject>(
  type: ResourceType<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): CacheIndex => ({ type, name, valuesOf }) as unknown as CacheIndex

const inNamespace = 'in-namespace'
const namespaceOf = ({ metadata }: KubeObject): string[] => [metadata.namespace ?? '']

/** The index that `allIn` reads. */
export const indexByNamespace = (type: ResourceType): CacheIndex => indexing(type, inNamespace, namespaceOf)

/** All objects of a type in a namespace. Requires `indexByNamespace` for the type. */
export const allIn = <T extends KubeObject>(caches: Caches, type: ResourceType<T>, namespace: string): T[] =>
  caches.byIndex(type, inNamespace, namespace)

/** The objects that a controller reads, and the changes that cause a reconcile. */
export interface Sources<Owner extends KubeObject> {
  /** Kinds that the owner manages. They are created with an owner reference, and their changes reconcile the owner. */
  owns?: readonly ResourceType[]
  /** Reports whether a change of an owned object can make a difference. Default: every change can. */
  ownedConcern?(before: KubeObject, after: KubeObject): boolean
  watches?: readonly Watch[]
  /** Kinds that are only cached: their changes cause no reconcile. */
  reads?: readonly ResourceType[]
  /** The kinds among these that a cluster may lack. The controller runs without them, and uses them once served. */
  dispensable?: readonly ResourceType[]
  indexes?: readonly CacheIndex[]
  /** Selects the objects of the owner's type that are reconciled. Default: all. */
  looksAt?(owner: Owner, caches: Caches): boolean
  /** Rosters of members: each version of a member is read once, not once per reconcile. */
  rosters?: RosterKind
}
