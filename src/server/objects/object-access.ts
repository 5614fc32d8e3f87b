import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ObjectStore } from './object-store.ts'
import type {
  DeleteOptions,
  Glimpse,
  ObjectChange,
  OwnDeleteOptions,
  OwnUpdateOptions,
  ServerObjects,
  StoredKind,
} from './objects.ts'
import type { StoredObject } from './stored-object.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { ServerParts } from '../requests/request.ts'
import { createObject } from '../verbs/create.ts'
import { deleteObject } from '../verbs/delete.ts'
import { systemRequest } from '../requests/system-request.ts'
import { ownRules, ownStatusRules } from '../write/rules.ts'
import { write } from '../write/stages.ts'

/** Access to stored objects for the server's own components. */
export class ObjectAccess implements ServerObjects {
  readonly #registry: Registry
  readonly #objects: ObjectStore
  readonly #parts: () => ServerParts

  /** `parts` is a function because the parts contain this object. */
  constructor(registry: Registry, objects: ObjectStore, parts: () => ServerParts) {
    this.#registry = registry
    this.#objects = objects
    this.#parts = parts
  }

  get<T extends KubeObject>(group: string, plural: string, namespace: string, name: string): T | undefined {
    const place = this.#registry.stored(group, plural)
    return place && (this.#objects.get(place, namespace, name)?.object as T | undefined)
  }

  has(group: string, plural: string, namespace: string, name: string): boolean {
    const place = this.#registry.stored(group, plural)
    return place !== undefined && this.#objects.get(place, namespace, name) !== undefined
  }

  list<T extends KubeObject>(group: string, plural: string, namespace: string): T[] {
    const found: T[] = []
    for (const stored of this.#range(group, plural, namespace)) found.push(stored.object as T)
    return found
  }

  listLazily<T extends KubeObject>(group: string, plural: string, namespace: string): (() => T)[] {
    return Array.from(this.#range(group, plural, namespace), (stored) => () => stored.object as T)
  }

  *glimpse(group: string, plural: string, member: string): Iterable<Glimpse> {
    const place = this.#registry.stored(group, plural)
    if (!place) return
    const opening = Buffer.from(`${JSON.stringify(member)}:"`)
    const cache = this.#objects.cache(place)
    for (const stored of cache.snapshot(place.prefix).values) {
      if (cache.get(stored.key) !== stored) continue
      const [namespace, name] = namesOf(place, stored.key)
      yield { namespace, name, text: stored.textBehind(opening) }
    }
  }

  #range(group: string, plural: string, namespace: string): Iterable<StoredObject> {
    const place = this.#registry.stored(group, plural)
    if (!place) return []
    return this.#objects.cache(place).range(namespace ? `${place.prefix}${namespace}/` : place.prefix)
  }

  async update<T extends KubeObject>(
    kind: StoredKind,
    namespace: string,
    name: string,
    change: (copy: T, stored: T) => T,
    { dryRun = false, isStatus = false }: OwnUpdateOptions = {},
  ): Promise<T> {
    const request = {
      ...systemRequest(this.#parts(), this.#place(kind), namespace, name),
      subresource: isStatus ? 'status' : '',
    }
    const next = (stored: KubeObject | undefined) => change(cloneObject(stored!) as T, stored as T)
    const outcome = await write(request, {
      operation: 'UPDATE',
      next,
      rules: isStatus ? ownStatusRules : ownRules,
      isRelative: true,
      dryRun,
    })
    return outcome.stored.object as T
  }

  async create<T extends KubeObject>(kind: StoredKind, object: T): Promise<T> {
    const request = systemRequest(this.#parts(), this.#place(kind), object.metadata.namespace ?? '', '')
    return (await createObject(request, object, false)).object as T
  }

  follow(group: string, plural: string, tell: (change: ObjectChange) => void): void {
    const place = this.#registry.stored(group, plural)
    if (!place) return
    this.#objects.cache(place).listen((events) => {
      for (const { type, object, previous } of events) {
        const [namespace, name] = namesOf(place, object.key)
        const current = type === 'DELETED' ? undefined : object
        tell({ namespace, name, object: () => current?.object, previous: () => previous?.object })
      }
    })
  }

  async delete(
    kind: StoredKind,
    namespace: string,
    name: string,
    options: DeleteOptions,
    { dryRun = false, skipsAdmission = false }: OwnDeleteOptions = {},
  ): Promise<KubeObject> {
    const request = systemRequest(this.#parts(), this.#place(kind), namespace, name)
    const deletion = { ...options, ...(dryRun ? { dryRun: ['All'] } : {}) }
    const outcome = await deleteObject(request, deletion, skipsAdmission ? ownRules : undefined)
    return outcome.stored.object
  }

  #place(kind: StoredKind): Registered {
    return this.#registry.stored(kind.storedAs?.group ?? kind.group, kind.storedAs?.plural ?? kind.plural)!
  }
}

/** The namespace and name in a key. */
function namesOf({ prefix, resource }: Registered, key: string): [namespace: string, name: string] {
  const names = key.slice(prefix.length)
  if (!resource.namespaced) return ['', names]
  const slash = names.indexOf('/')
  return [names.slice(0, slash), names.slice(slash + 1)]
}
