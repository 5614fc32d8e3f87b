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

/** Everything that is served, found by how it is asked for. */
export class Registry {
  readonly #byVersion = new Map<string, Map<string, Registered>>()
  /** By group and plural name. */
  readonly #stored = new Map<string, Map<string, Registered>>()
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
      registered.storage = resource.storedAs ? this.#mustStore(resource.storedAs) : registered
      if (!resource.storedAs) put(this.#stored, resource.group, registered)
      put(this.#byVersion, apiVersion, registered)
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
    return this.#stored.get(group)?.get(plural)
  }

  all(): readonly Registered[] {
    return this.#all
  }

  storages(): Registered[] {
    return [...this.#stored.values()].flatMap((group) => [...group.values()])
  }

  #mustStore({ group, plural }: { group: string; plural: string }): Registered {
    const found = this.stored(group, plural)
    if (!found) throw new Error(`no resource is stored as ${group}/${plural}`)
    return found
  }
}

function put(map: Map<string, Map<string, Registered>>, key: string, registered: Registered): void {
  let inner = map.get(key)
  if (!inner) map.set(key, (inner = new Map()))
  inner.set(registered.resource.plural, registered)
}
