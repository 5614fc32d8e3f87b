import type { LabelSelector } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import {
  type IndexFunction,
  type ResourceType,
  type SharedInformer,
  controllerOf,
  resourceName,
} from '../../client/index.ts'

/** Objects by the UID of their controller. */
export const byController = 'controller-uid'
/** Objects without a controller, by namespace and by each of their labels. */
const byOrphanage = 'orphans-in'

const pair = (namespace: string, key: string, value: string) => `${namespace} ${key}=${value}`

/** The values of an index by labels: the namespace, and each label in the namespace. */
export function placesOf(namespace: string, labels: Labels): string[] {
  const places = [namespace]
  for (const key in labels) places.push(pair(namespace, key, labels[key]!))
  return places
}

/** The objects of an index by labels that a selector may match: those with the rarest of the labels that it requires. */
export function candidatesOf<T>(
  find: (place: string) => T[],
  namespace: string,
  selector: LabelSelector | undefined,
): T[] {
  let candidates: T[] | undefined
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    const found = find(pair(namespace, key, value))
    if (!candidates || found.length < candidates.length) candidates = found
    if (candidates.length === 0) break
  }
  return candidates ?? find(namespace)
}

/** The indexes that every cache of the kit has, so that no reconcile traverses all objects. */
export const kitIndexes: Readonly<Record<string, IndexFunction>> = {
  [byController]: (object) => {
    const controller = controllerOf(object)
    return controller ? [controller.uid] : []
  },
  [byOrphanage]: (object) =>
    controllerOf(object) ? [] : placesOf(object.metadata.namespace ?? '', object.metadata.labels),
}

/** The name of a cache part: a resource, or one of its namespaces if the cache follows several (`pods in default`). */
export const partName = (resource: string, namespace: string): string =>
  namespace ? `${resource} in ${namespace}` : resource

/** The resource of a cache part. */
export const resourceOfPart = (part: string): string => part.split(' ', 1)[0]!

/** Informers by resource name, for example `deployments.apps`. */
export type Informers = ReadonlyMap<string, SharedInformer>

/** The caches that a controller may read. No method sends a request. Objects are shared and must not be changed. */
export class Caches {
  readonly #informers: Informers
  /** The informers by type, filled on first use. */
  readonly #byType = new Map<ResourceType, SharedInformer>()

  constructor(informers: Informers) {
    this.#informers = informers
  }

  get<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): T | undefined {
    return this.of(type).get(namespace ? `${namespace}/${name}` : name)
  }

  /** The objects whose controller is this owner. */
  owned<T extends KubeObject>(type: ResourceType<T>, owner: KubeObject): T[] {
    return this.of(type).byIndex(byController, owner.metadata.uid ?? '')
  }

  /**
   * The objects in a namespace that have no controller and may be adopted: at least all that match the selector. The
   * cost depends on the rarest label that it requires, not on the other objects without a controller.
   */
  orphans<T extends KubeObject>(type: ResourceType<T>, namespace: string, selector?: LabelSelector): T[] {
    return candidatesOf((place) => this.of(type).byIndex(byOrphanage, place), namespace, selector)
  }

  /** All objects of the type. The cost is proportional to their number: prefer an index. */
  list<T extends KubeObject>(type: ResourceType<T>): T[] {
    return this.of(type).list()
  }

  byIndex<T extends KubeObject>(type: ResourceType<T>, index: string, value: string): T[] {
    return this.of(type).byIndex(index, value)
  }

  /** Reports whether the cache covers objects of this type in this namespace. */
  covers(type: ResourceType, namespace: string | undefined): boolean {
    return this.#informers.get(resourceName(type))?.covers(namespace) ?? false
  }

  /** The part of a cache that receives events of objects in this namespace. */
  partOf(type: ResourceType, namespace = ''): string {
    const { namespaces } = this.of(type)
    return partName(resourceName(type), namespaces.length > 1 ? namespace : '')
  }

  /** The cache itself. Throws for a type that the controller did not declare. */
  of<T extends KubeObject>(type: ResourceType<T>): SharedInformer<T> {
    let informer = this.#byType.get(type)
    if (!informer) {
      informer = this.#informers.get(resourceName(type))
      if (!informer) throw new Error(`${resourceName(type)} are not cached: name them in owns, watches or reads`)
      this.#byType.set(type, informer)
    }
    return informer as unknown as SharedInformer<T>
  }
}
