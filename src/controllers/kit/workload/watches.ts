import { deepEqual } from '../../../api/deep-equal.ts'
import type { LabelSelector, Pod, ResourceQuota } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import {
  type ResourceType,
  compileLabelSelector,
  controllerOf,
  keyOf,
  resourceName,
  resourcequotas,
} from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type CacheIndex, type Watch, indexing, watching } from '../sources.ts'
import { type Condition, isConditionTrue } from './conditions.ts'

/** An index that finds the owners whose selector matches an object, without traversing all owners. */
export interface SelectorIndex<Owner extends KubeObject> {
  readonly type: ResourceType<Owner>
  readonly index: CacheIndex
  selectorOf(owner: Owner): LabelSelector | undefined
}

/**
 * The index value of owners whose selector requires no exact label. They are checked for every object of their
 * namespace.
 */
const anything = '*'

/**
 * Indexes owners under one label that their selector requires. An object has few labels, and each leads to few owners.
 * Every object leads to an owner that has expressions only.
 */
export function selectorIndex<Owner extends KubeObject>(
  type: ResourceType<Owner>,
  selectorOf: (owner: Owner) => LabelSelector | undefined,
): SelectorIndex<Owner> {
  const valuesOf = (owner: Owner): string[] => {
    const selector = selectorOf(owner)
    if (!selector) return []
    // Any label is correct. The last one is often the most specific: pod-template-hash sorts after app.
    const [wanted] = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? 1 : -1))
    return [`${owner.metadata.namespace}/${wanted ? wanted.join('=') : anything}`]
  }
  return { type, selectorOf, index: indexing(type, `selecting-${resourceName(type)}`, valuesOf) }
}

/** The keys of the owners whose selector matches this object. */
export function* keysSelecting<Owner extends KubeObject>(
  { type, index, selectorOf }: SelectorIndex<Owner>,
  caches: Caches,
  object: KubeObject,
): Generator<string> {
  const owners = caches.of(type)
  if (owners.size === 0) return
  const { namespace, labels = {} } = object.metadata
  for (const value of [...Object.entries(labels).map((label) => label.join('=')), anything]) {
    for (const owner of owners.byIndex(index.name, `${namespace}/${value}`)) {
      if (compileLabelSelector(selectorOf(owner))(labels)) yield keyOf(owner)
    }
  }
}

/** Reconciles the owners whose selector matches the old or the new state of an object. */
export const selected = <Owner extends KubeObject, T extends KubeObject>(
  selecting: SelectorIndex<Owner>,
  type: ResourceType<T>,
  concerns: NonNullable<Watch<T>['concerns']>,
): Watch => ({
  ...watching(type, (object, caches) => keysSelecting(selecting, caches, object), concerns),
  // Caches share the unchanged parts of an object between versions.
  hasSameKeys: (before, after) => before.metadata.labels === after.metadata.labels,
})

/** Reconciles the owners whose selector matches an object without a controller, because they may adopt it. */
export const selectedOrphans = <Owner extends KubeObject>(selecting: SelectorIndex<Owner>, type: ResourceType): Watch =>
  watching(
    type,
    (object, caches) => (controllerOf(object) ? [] : keysSelecting(selecting, caches, object)),
    mayBeAdopted,
  )

/** Reports whether an object can be adopted that could not before, or by other owners. */
const mayBeAdopted = (before: KubeObject, after: KubeObject): boolean =>
  !controllerOf(after) &&
  (controllerOf(before) !== undefined || !deepEqual(before.metadata.labels, after.metadata.labels))

/** An owner whose conditions report that it cannot create objects. */
interface Failing extends KubeObject {
  status?: { conditions?: readonly Condition[] }
}

const hasReplicaFailure = (conditions: readonly Condition[] | undefined): boolean =>
  isConditionTrue(conditions, 'ReplicaFailure')

/**
 * Reconciles owners that could not create objects when the limits of a quota in their namespace change. Their back-off
 * may have grown to minutes.
 */
export function raisedQuotas<Owner extends Failing>(
  type: ResourceType<Owner>,
  isFailing: (conditions: readonly Condition[] | undefined) => boolean = hasReplicaFailure,
): { watch: Watch; index: CacheIndex } {
  const name = `failing-${resourceName(type)}`
  const index = indexing(type, name, ({ status, metadata }: Owner) =>
    isFailing(status?.conditions) ? [metadata.namespace ?? ''] : [],
  )
  // The used amounts change constantly, also because of failed attempts.
  const isRaised = (before: ResourceQuota, after: ResourceQuota) =>
    !deepEqual(before.status?.hard, after.status?.hard) || !deepEqual(before.spec?.hard, after.spec?.hard)
  const watch = watching(
    resourcequotas,
    ({ metadata }, caches) => caches.byIndex(type, name, metadata.namespace ?? '').map(keyOf),
    isRaised,
  )
  return { index, watch }
}

/** True if a pod was only bound to a node: it is no closer to being ready. */
export function isMereBinding(before: Pod, after: Pod): boolean {
  if (before.spec?.nodeName || !after.spec?.nodeName || before.status?.phase !== after.status?.phase) return false
  const ready = ({ status }: Pod) => status?.conditions?.find((c) => c.type === 'Ready')
  const { metadata: was } = before
  const { metadata: is } = after
  return (
    was.deletionTimestamp === is.deletionTimestamp &&
    deepEqual(ready(before), ready(after)) &&
    deepEqual(was.labels, is.labels) &&
    deepEqual(was.ownerReferences, is.ownerReferences)
  )
}
