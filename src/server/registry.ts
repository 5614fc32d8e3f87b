import type { Resource, Verb } from './resource.ts'
import type { Action } from './subresources/action.ts'
import { type Head, headOf } from './stored-object.ts'

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A resource with what follows from its declaration. */
export interface Registered {
  readonly resource: Resource
  readonly apiVersion: string
  readonly type: string
  readonly verbs: ReadonlySet<Verb>
  /** Where its objects are stored: its own place, or that of the resource it is another version of. */
  readonly storage: Registered
  /** `/registry/pods/` */
  readonly prefix: string
  readonly head: Head
  readonly actions: ReadonlyMap<string, Action>
}

const path = (group: string, plural: string) => `${group}/${plural}`

/** Everything that is served, found by how it is asked for. */
export class Registry {
  readonly #byVersion = new Map<string, Map<string, Registered>>()
  readonly #stored = new Map<string, Registered>()
  readonly #all: Registered[] = []

  constructor(resources: readonly Resource[], actions: readonly Action[]) {
    for (const resource of [...resources].sort((a, b) => Number(Boolean(a.storedAs)) - Number(Boolean(b.storedAs)))) {
      const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version
      const own = actions.filter((a) => a.of.group === resource.group && a.of.plural === resource.plural)
      const registered: { -readonly [K in keyof Registered]: Registered[K] } = {
        resource,
        apiVersion,
        type: resource.type ?? resource.kind,
        verbs: new Set(resource.verbs ?? allVerbs),
        storage: undefined as unknown as Registered,
        prefix: `/registry/${resource.plural}/`,
        head: headOf(apiVersion, resource.kind),
        actions: new Map(own.map((a) => [a.of.subresource, a])),
      }
      registered.storage = resource.storedAs ? this.#mustStore(path(resource.storedAs.group, resource.storedAs.plural)) : registered
      if (!resource.storedAs) this.#stored.set(path(resource.group, resource.plural), registered)
      let version = this.#byVersion.get(apiVersion)
      if (!version) this.#byVersion.set(apiVersion, (version = new Map()))
      version.set(resource.plural, registered)
      this.#all.push(registered)
    }
  }

  find(apiVersion: string, plural: string): Registered | undefined {
    return this.#byVersion.get(apiVersion)?.get(plural)
  }

  hasVersion(apiVersion: string): boolean {
    return this.#byVersion.has(apiVersion)
  }

  /** The place where objects of a group and plural name are stored. */
  stored(group: string, plural: string): Registered | undefined {
    return this.#stored.get(path(group, plural))
  }

  all(): readonly Registered[] {
    return this.#all
  }

  storages(): IterableIterator<Registered> {
    return this.#stored.values()
  }

  #mustStore(where: string): Registered {
    const found = this.#stored.get(where)
    if (!found) throw new Error(`no resource is stored as ${where}`)
    return found
  }
}
