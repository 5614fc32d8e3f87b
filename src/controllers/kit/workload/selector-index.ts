import { deepEqual } from '../../../api/deep-equal.ts'
import type { LabelSelector } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type ResourceType, compileLabelSelector, controllerOf, keyOf, resourceName } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type CacheIndex, type Watch, indexing, watching } from '../definition.ts'

/** A way to find the owners whose selector selects an object, without asking every owner. */
export interface SelectorIndex<Owner extends KubeObject> {
  readonly type: ResourceType<Owner>
  readonly index: CacheIndex
  selectorOf(owner: Owner): LabelSelector | undefined
}

/** Owners whose selector wants no label of a certain value are looked at for every object of their namespace. */
const anything = '*'

/**
 * Files owners under one label that their selector wants: an object has few labels, and each leads to few owners. An owner that goes by
 * expressions alone is found by all.
 */
export function selectorIndex<Owner extends KubeObject>(type: ResourceType<Owner>, selectorOf: (owner: Owner) => LabelSelector | undefined): SelectorIndex<Owner> {
  const valuesOf = (owner: Owner): string[] => {
    const selector = selectorOf(owner)
    if (!selector) return []
    // Any label would do. The last is often the one that tells owners apart: pod-template-hash comes after app.
    const [wanted] = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? 1 : -1))
    return [`${owner.metadata.namespace}/${wanted ? wanted.join('=') : anything}`]
  }
  return { type, selectorOf, index: indexing(type, `selecting-${resourceName(type)}`, valuesOf) }
}

/** Keys of the owners whose selector selects this object. */
export function* keysSelecting<Owner extends KubeObject>({ type, index, selectorOf }: SelectorIndex<Owner>, caches: Caches, object: KubeObject): Generator<string> {
  const owners = caches.of(type)
  if (owners.size === 0) return
  const { namespace, labels = {} } = object.metadata
  for (const value of [...Object.entries(labels).map((label) => label.join('=')), anything]) {
    for (const owner of owners.byIndex(index.name, `${namespace}/${value}`)) {
      if (compileLabelSelector(selectorOf(owner))(labels)) yield keyOf(owner)
    }
  }
}

/** Has owners looked at whose selector selects an object, as it is or as it was. */
export const selected = <Owner extends KubeObject, T extends KubeObject>(selecting: SelectorIndex<Owner>, type: ResourceType<T>, concerns: NonNullable<Watch<T>['concerns']>): Watch => ({
  ...watching(type, (object, caches) => keysSelecting(selecting, caches, object), concerns),
  // Caches keep what has not changed of an object.
  hasSameKeys: (before, after) => before.metadata.labels === after.metadata.labels,
})

/** Has owners looked at whose selector selects an object that nobody manages: they may adopt it. */
export const selectedOrphans = <Owner extends KubeObject>(selecting: SelectorIndex<Owner>, type: ResourceType): Watch =>
  watching(type, (object, caches) => (controllerOf(object) ? [] : keysSelecting(selecting, caches, object)), mayBeAdopted)

/** Whether an object is to be had that was not, or by others. */
const mayBeAdopted = (before: KubeObject, after: KubeObject): boolean =>
  !controllerOf(after) && (controllerOf(before) !== undefined || !deepEqual(before.metadata.labels, after.metadata.labels))
