import type { KubeObject } from '../../api/object.ts'
import { type IndexFunction, type ResourceType, type SharedInformer, controllerOf, resourceName } from '../../client/index.ts'

/** Objects by the uid of the owner that manages them. */
export const byController = 'controller-uid'
/** Objects that nobody manages, by namespace. */
const byOrphanage = 'orphans-in'

/** The indexes that every cache of the kit has: no reconcile looks at all objects. */
export const kitIndexes: Readonly<Record<string, IndexFunction>> = {
  [byController]: (object) => {
    const controller = controllerOf(object)
    return controller ? [controller.uid] : []
  },
  [byOrphanage]: (object) => (controllerOf(object) ? [] : [object.metadata.namespace ?? '']),
}

/** What is seen as one: a resource, or one namespace of it where a cache follows several, `pods in default`. */
export const partName = (resource: string, namespace: string): string => (namespace ? `${resource} in ${namespace}` : resource)

/** The resource of such a part. */
export const resourceOfPart = (part: string): string => part.split(' ', 1)[0]!

/** Informers by the name of their resource, `deployments.apps`. */
export type Informers = ReadonlyMap<string, SharedInformer>

/** What a controller may read: nothing here asks the server. Objects are shared and must not be changed. */
export class Caches {
  readonly #informers: Informers
  /** The same by type, as far as they were asked for. */
  readonly #byType = new Map<ResourceType, SharedInformer>()

  constructor(informers: Informers) {
    this.#informers = informers
  }

  get<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): T | undefined {
    return this.of(type).get(namespace ? `${namespace}/${name}` : name)
  }

  /** Objects that this owner manages. */
  owned<T extends KubeObject>(type: ResourceType<T>, owner: KubeObject): T[] {
    return this.of(type).byIndex(byController, owner.metadata.uid ?? '')
  }

  /** Objects in a namespace that nobody manages: those that may be adopted. */
  orphans<T extends KubeObject>(type: ResourceType<T>, namespace: string): T[] {
    return this.of(type).byIndex(byOrphanage, namespace)
  }

  /** Every object of the type. Costs as much as there are: better an index. */
  list<T extends KubeObject>(type: ResourceType<T>): T[] {
    return this.of(type).list()
  }

  byIndex<T extends KubeObject>(type: ResourceType<T>, index: string, value: string): T[] {
    return this.of(type).byIndex(index, value)
  }

  /** Whether objects of this type in this namespace are cached, if there are any. */
  covers(type: ResourceType, namespace: string | undefined): boolean {
    return this.#informers.get(resourceName(type))?.covers(namespace) ?? false
  }

  /** The part of a cache that is told of objects in this namespace. */
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
