import { type ObjectType, builtInType } from '../../api/object-type.ts'
import { type Resource, type Verb, shownFrom } from './resource.ts'
import type { Action } from '../subresources/action.ts'
import { assertSeparate, keyPrefix } from '../objects/stored-keys.ts'
import { type Head, headOf } from '../objects/stored-object.ts'

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A served resource and what is derived from its declaration. */
export interface Registered {
  readonly resource: Resource
  readonly apiVersion: string
  readonly type: ObjectType
  readonly verbs: ReadonlySet<Verb>
  /** The resource under which its objects are stored: itself, unless it is another version of a stored resource. */
  readonly storage: Registered
  /** The prefix of its keys in the store; see keyPrefix. */
  readonly prefix: string
  readonly head: Head
  readonly actions: ReadonlyMap<string, Action>
}

/** Called when kinds are added or removed. */
type RegistryListener = (added: readonly Registered[], removed: readonly Registered[]) => void

/** The served kinds, by version and plural. Kinds are added and removed at run time. */
export class Registry {
  readonly #byVersion = new Map<string, Map<string, Registered>>()
  /** By group and plural name. */
  readonly #stored = new Map<string, Map<string, Registered>>()
  readonly #actions: readonly Action[]
  readonly #listeners = new Set<RegistryListener>()
  #all: readonly Registered[] = []
  #generation = 0

  constructor(resources: readonly Resource[], actions: readonly Action[]) {
    this.#actions = actions
    this.publish(this.declare(resources))
  }

  /** Incremented by every change of the served kinds. */
  get generation(): number {
    return this.#generation
  }

  find(apiVersion: string, plural: string): Registered | undefined {
    return this.#byVersion.get(apiVersion)?.get(plural)
  }

  hasVersion(apiVersion: string): boolean {
    return this.#byVersion.has(apiVersion)
  }

  /** The resource under which objects of a group and plural are stored. */
  stored(group: string, plural: string): Registered | undefined {
    return this.#stored.get(group)?.get(plural)
  }

  all(): readonly Registered[] {
    return this.#all
  }

  storages(): Registered[] {
    return [...this.#stored.values()].flatMap((group) => [...group.values()])
  }

  /**
   * Derives the registration of more kinds without serving them. A version that is stored as another one must come with
   * it or after it.
   */
  declare(resources: readonly Resource[]): readonly Registered[] {
    const inOrder = [...resources].sort((a, b) => Number(Boolean(shownFrom(a))) - Number(Boolean(shownFrom(b))))
    const declared: Registered[] = []
    for (const resource of inOrder) declared.push(this.#declareOne(resource, declared))
    return declared
  }

  /** Serves declared kinds: all of them, or none if one cannot be served. */
  publish(declared: readonly Registered[]): void {
    this.#checkFree(declared)
    for (const registered of declared) this.#put(registered)
    this.#all = [...this.#all, ...declared.filter(isServed)]
    this.#tell(declared, [])
  }

  #checkFree(declared: readonly Registered[]): void {
    const stored = this.storages()
    for (const registered of declared) {
      const { apiVersion, resource } = registered
      if (this.find(apiVersion, resource.plural))
        throw new Error(`${resource.plural} of ${apiVersion} is served already`)
      if (!isStored(registered)) continue
      assertSeparate(registered, stored)
      stored.push(registered)
    }
  }

  /** Replaces served kinds in one step. If one cannot be served, nothing changes. */
  replace(gone: readonly Registered[], declared: readonly Registered[]): void {
    for (const registered of gone) this.#take(registered)
    try {
      this.#checkFree(declared)
    } catch (e) {
      for (const registered of gone) this.#put(registered)
      throw e
    }
    for (const registered of declared) this.#put(registered)
    const old = new Set(gone)
    this.#all = [...this.#all.filter((registered) => !old.has(registered)), ...declared.filter(isServed)]
    this.#tell(declared, gone)
  }

  #put(registered: Registered): void {
    if (isStored(registered)) put(this.#stored, registered.resource.group, registered)
    if (!registered.resource.isUnserved) put(this.#byVersion, registered.apiVersion, registered)
  }

  #take(registered: Registered): void {
    take(this.#byVersion, registered.apiVersion, registered)
    if (registered.storage === registered) take(this.#stored, registered.resource.group, registered)
  }

  /** Stops serving kinds. Their objects stay in the store. */
  remove(kinds: readonly Registered[]): void {
    const gone = new Set(kinds)
    for (const registered of gone) this.#take(registered)
    this.#all = this.#all.filter((registered) => !gone.has(registered))
    this.#tell([], kinds)
  }

  /** Calls `listener` after every change. The returned function removes it. */
  listen(listener: RegistryListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(added: readonly Registered[], removed: readonly Registered[]): void {
    this.#generation++
    for (const listener of this.#listeners) listener(added, removed)
  }

  #declareOne(resource: Resource, beside: readonly Registered[]): Registered {
    const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version
    const own = this.#actions.filter((a) => a.of.group === resource.group && a.of.plural === resource.plural)
    const registered: { -readonly [K in keyof Registered]: Registered[K] } = {
      resource,
      apiVersion,
      type: resource.objectType ?? builtInType(resource.type ?? resource.kind),
      verbs: new Set(resource.verbs ?? allVerbs),
      storage: undefined as unknown as Registered,
      prefix: keyPrefix(resource.group, resource.plural),
      head: headOf(apiVersion, resource.kind, resource.isCustom),
      actions: new Map(own.map((a) => [a.of.subresource, a])),
    }
    const from = shownFrom(resource)
    registered.storage = from ? this.#mustStore(from, beside) : registered
    return registered
  }

  #mustStore({ group, plural }: { group: string; plural: string }, beside: readonly Registered[]): Registered {
    const found =
      beside.find((r) => isStored(r) && r.resource.group === group && r.resource.plural === plural) ??
      this.stored(group, plural)
    if (!found) throw new Error(`no resource is stored as ${group}/${plural}`)
    return found
  }
}

const isServed = ({ resource }: Registered): boolean => !resource.isUnserved

/** True if the kind has its own objects in the store. */
const isStored = ({ resource }: Registered): boolean => !shownFrom(resource) && !resource.virtual

function put(map: Map<string, Map<string, Registered>>, key: string, registered: Registered): void {
  let inner = map.get(key)
  if (!inner) map.set(key, (inner = new Map()))
  inner.set(registered.resource.plural, registered)
}

function take(map: Map<string, Map<string, Registered>>, key: string, registered: Registered): void {
  const inner = map.get(key)
  if (inner?.get(registered.resource.plural) !== registered) return
  inner.delete(registered.resource.plural)
  if (inner.size === 0) map.delete(key)
}
