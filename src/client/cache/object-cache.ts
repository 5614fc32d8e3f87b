import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { keyOf } from '../resource-type.ts'
import type { ChangeType } from '../watcher/index.ts'
import { IndexSet } from './index-set.ts'
import { PartSharing } from './share-parts.ts'

/** What happened to one object in a cache. */
export type CacheChange<T extends KubeObject> =
  | { kind: 'add'; object: T }
  | { kind: 'update'; old: T; object: T }
  /** `isFinal` is false where the deletion itself was missed. */
  | { kind: 'delete'; object: T; isFinal: boolean }

/** The newest known state of all objects. No object ever goes back in time: what is not newer than what is known is passed over. */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly indexes: IndexSet<T>
  readonly #sharing = new PartSharing()
  /**
   * The versions at which objects went, by key: an older event that comes late must not bring one back. Two generations, of which the
   * older is forgotten with every bookmark, as a server sends nothing older than one.
   */
  #gone = new Map<string, string>()
  #goneBefore = new Map<string, string>()

  constructor(onIndexError: (index: string, error: unknown) => void) {
    this.indexes = new IndexSet(this.#objects, onIndexError)
  }

  get all(): ReadonlyMap<string, T> {
    return this.#objects
  }

  /** Takes in one event. Nothing comes back where it was known already. */
  apply(type: ChangeType, object: T): CacheChange<T>[] {
    const key = keyOf(object)
    const old = this.#objects.get(key)
    const version = versionOf(object)
    const known = old ? versionOf(old) : (this.#gone.get(key) ?? this.#goneBefore.get(key))
    if (known !== undefined && !isNewer(version, known)) return []
    if (type === 'DELETED') {
      this.#gone.set(key, version)
      if (!old) return []
      this.#set(key, old, undefined)
      return [{ kind: 'delete', object, isFinal: true }]
    }
    this.#sharing.share(old, object)
    this.#set(key, old, object)
    return this.#changesOf(old, object)
  }

  /** Takes in all there is. */
  replace(objects: ReadonlyMap<string, T>): CacheChange<T>[] {
    const changes = this.keysToReplace(objects).flatMap((key) => this.replaceOne(key, objects.get(key)))
    this.replaced()
    return changes
  }

  /** For who takes in all there is step by step: the keys for each of which `replaceOne` is to be called, those that are gone first. `within` is how the keys of a part begin, where `objects` are all there is of that part. */
  keysToReplace(objects: ReadonlyMap<string, T>, within = ''): string[] {
    const keys: string[] = []
    for (const key of this.#objects.keys()) if (!objects.has(key) && key.startsWith(within)) keys.push(key)
    for (const key of objects.keys()) keys.push(key)
    return keys
  }

  /** Takes in what there is of one key; undefined if it is gone. */
  replaceOne(key: string, object: T | undefined): CacheChange<T>[] {
    const old = this.#objects.get(key)
    if (!object) {
      if (!old) return []
      this.#set(key, old, undefined)
      return [{ kind: 'delete', object: old, isFinal: false }]
    }
    if (old && !isNewer(versionOf(object), versionOf(old))) return []
    this.#sharing.share(old, object)
    this.#set(key, old, object)
    return this.#changesOf(old, object)
  }

  /** All has been taken in. */
  replaced(): void {
    this.#gone.clear()
    this.#goneBefore.clear()
  }

  /** The server has sent everything up to a point. */
  bookmark(): void {
    if (this.#gone.size === 0 && this.#goneBefore.size === 0) return
    this.#goneBefore = this.#gone
    this.#gone = new Map()
  }

  #set(key: string, old: T | undefined, object: T | undefined): void {
    if (object) this.#objects.set(key, object)
    else this.#objects.delete(key)
    this.indexes.update(key, old, object)
  }

  /** An object made anew under an old name is another object. */
  #changesOf(old: T | undefined, object: T): CacheChange<T>[] {
    if (!old) return [{ kind: 'add', object }]
    if (old.metadata.uid === object.metadata.uid) return [{ kind: 'update', old, object }]
    return [
      { kind: 'delete', object: old, isFinal: false },
      { kind: 'add', object },
    ]
  }
}

const versionOf = (object: KubeObject): string => object.metadata.resourceVersion ?? ''

/** What has no version that can be compared is taken as it comes. */
const isNewer = (version: string, known: string): boolean => version === '' || known === '' || compareResourceVersions(version, known) > 0
