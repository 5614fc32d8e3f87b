import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { assert, isAsserting } from '../../base/assert.ts'
import { keyOf } from '../resource-type.ts'
import type { ChangeType } from '../watcher/index.ts'
import { IndexSet } from './index-set.ts'
import { PartSharing } from './share-parts.ts'

/** A change of one object in a cache. */
export type CacheChange<T extends KubeObject> =
  | { kind: 'add'; object: T }
  | { kind: 'update'; old: T; object: T }
  /** `isFinal` is false where the deletion itself was missed. */
  | { kind: 'delete'; object: T; isFinal: boolean }

/**
 * The newest known state of all objects. Objects never go back in time: a state that is not newer than the known one is
 * ignored.
 */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly indexes: IndexSet<T>
  readonly #sharing = new PartSharing()
  /**
   * Versions at which objects were deleted, by key, so that a late event does not restore them. Two generations: each
   * bookmark drops the older one, because a server sends nothing older than a bookmark.
   */
  #gone = new Map<string, string>()
  #goneBefore = new Map<string, string>()

  constructor(onIndexError: (index: string, error: unknown) => void) {
    this.indexes = new IndexSet(this.#objects, onIndexError)
  }

  get all(): ReadonlyMap<string, T> {
    return this.#objects
  }

  /** Applies one event. Returns no changes if it was already known. */
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

  /** Applies a complete list. */
  replace(objects: ReadonlyMap<string, T>): CacheChange<T>[] {
    const changes = this.keysToReplace(objects).flatMap((key) => this.replaceOne(key, objects.get(key)))
    this.replaced()
    return changes
  }

  /**
   * For applying a list in steps: returns the keys to call `replaceOne` for, deleted ones first. `within` is the key
   * prefix of the part that `objects` is the complete list of.
   */
  keysToReplace(objects: ReadonlyMap<string, T>, within = ''): string[] {
    const keys: string[] = []
    for (const key of this.#objects.keys()) if (!objects.has(key) && key.startsWith(within)) keys.push(key)
    for (const key of objects.keys()) keys.push(key)
    return keys
  }

  /** Applies the listed state of one key; undefined if it is not in the list. */
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

  /** Ends the application of a list. */
  replaced(): void {
    this.#gone.clear()
    this.#goneBefore.clear()
  }

  /** Records a bookmark. */
  bookmark(): void {
    if (this.#gone.size === 0 && this.#goneBefore.size === 0) return
    this.#goneBefore = this.#gone
    this.#gone = new Map()
  }

  #set(key: string, old: T | undefined, object: T | undefined): void {
    if (isAsserting) assert(() => old === this.#objects.get(key), 'the replaced state is the known one')
    if (isAsserting)
      assert(() => !old || !object || isNewer(versionOf(object), versionOf(old)), 'an object never becomes older')
    if (object) this.#objects.set(key, object)
    else this.#objects.delete(key)
    this.indexes.update(key, old, object)
  }

  /** Reports an object that was recreated under the same name as a delete and an add. */
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

/** A state without a comparable version always counts as newer. */
const isNewer = (version: string, known: string): boolean =>
  version === '' || known === '' || compareResourceVersions(version, known) > 0
