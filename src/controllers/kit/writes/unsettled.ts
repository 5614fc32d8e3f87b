import { isNotFound } from '../../../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../../../api/object.ts'
import { type Client, type ConsistencyStore, type ResourceType, keyOf, resourceName } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'

/** The owner on whose behalf an object is written. */
export interface Subject {
  key: string
  uid: string
}

/** Records every write of a controller in the consistency store. */
export class WriteLog {
  readonly #store: ConsistencyStore
  readonly #caches: Caches

  constructor(store: ConsistencyStore, caches: Caches) {
    this.#store = store
    this.#caches = caches
  }

  /** The server has this version now. */
  wrote({ key, uid }: Subject, type: ResourceType, { namespace, resourceVersion }: ObjectMeta): void {
    // No cache receives a write outside of its scope. A cache of one namespace passes such versions with the next
    // bookmark, up to a minute later.
    if (!resourceVersion || !this.#caches.covers(type, namespace)) return
    if (this.#store.wroteAt(key, uid, this.#caches.partOf(type, namespace), resourceVersion)) {
      this.#caches.of(type).noteWrite(resourceVersion, namespace)
    }
  }

  /** The server no longer has this object. `object` is its last known state. */
  removed({ key, uid }: Subject, type: ResourceType, object: KubeObject): void {
    const { namespace, resourceVersion, uid: removedUid } = object.metadata
    if (!this.#caches.covers(type, namespace)) return
    const resource = this.#caches.partOf(type, namespace)
    // The cache must first reach the version of the object itself.
    if (resourceVersion) this.#store.wroteAt(key, uid, resource, resourceVersion)
    if (removedUid) this.#store.expectGone(key, uid, resource, keyOf(object), removedUid)
  }
}

/** A write that was sent and whose response was lost. */
export interface UnsettledWrite {
  verb: 'create' | 'change' | 'delete'
  type: ResourceType
  namespace: string
  name: string
  /** The last known state of the object, if any. */
  last?: KubeObject
  /** The prefix of a generated name. */
  generateName?: string
}

/** Names for objects of one type in one namespace. */
interface KeptNames {
  type: ResourceType
  namespace: string
  names: string[]
}

interface Pending {
  uid: string
  writes: UnsettledWrite[]
  /** Requested names that no known object has, by resource, namespace and prefix. */
  readonly names: Map<string, KeptNames>
}

const prefixKey = (type: ResourceType, namespace: string, generateName: string) =>
  `${resourceName(type)} ${namespace}/${generateName}`

/**
 * Writes with an unknown result, by owner. Before the next reconcile of an owner, the server is asked for the result,
 * which is a version that the cache must reach. A name without an object is reused for the next object of its kind: if
 * the lost request still arrives, one of the two fails, so there are never two objects. A name is dropped once a
 * reconcile has seen its object.
 */
export class UnsettledWrites {
  readonly #owners = new Map<string, Pending>()

  add({ key, uid }: Subject, write: UnsettledWrite): void {
    this.#of(key, uid).writes.push(write)
  }

  /**
   * Asks the server about every write of this owner whose response was lost. Rejects if the server does not answer: the
   * owner then has to wait.
   */
  async settle(subject: Subject, client: Client, log: WriteLog, signal: AbortSignal): Promise<void> {
    const pending = this.#owners.get(subject.key)
    if (!pending) return
    if (pending.uid !== subject.uid) return this.clear(subject.key)
    while (pending.writes.length > 0) {
      const write = pending.writes[0]!
      this.#settleOne(subject, write, log, await currentOf(write, client, signal))
      pending.writes.shift()
    }
    if (pending.names.size === 0) this.#owners.delete(subject.key)
  }

  /**
   * Drops names whose objects the cache contains. Must be called right before a reconcile reads the cache: a later
   * object is not counted by its plan, and its name must still be taken.
   */
  dropSeenNames({ key, uid }: Subject, caches: Caches): void {
    const pending = this.#owners.get(key)
    if (pending?.uid !== uid) return
    for (const [at, { type, namespace, names }] of pending.names) {
      if (!caches.covers(type, namespace)) continue
      const left = names.filter((name) => !caches.get(type, namespace, name))
      if (left.length === 0) pending.names.delete(at)
      else pending.names.set(at, { type, namespace, names: left })
    }
  }

  /** Returns a name that was sent before and never seen. */
  takeName({ key, uid }: Subject, type: ResourceType, namespace: string, generateName: string): string | undefined {
    const pending = this.#owners.get(key)
    if (pending?.uid !== uid) return undefined
    const at = prefixKey(type, namespace, generateName)
    const kept = pending.names.get(at)
    const name = kept?.names.shift()
    if (kept?.names.length === 0) pending.names.delete(at)
    return name
  }

  /** Keeps a name for the next object with this prefix. */
  keepName(
    { key, uid }: Subject,
    type: ResourceType,
    { namespace = '', name = '', generateName = '' }: ObjectMeta,
  ): void {
    const { names } = this.#of(key, uid)
    const at = prefixKey(type, namespace, generateName)
    names.set(at, { type, namespace, names: [...(names.get(at)?.names ?? []), name] })
  }

  clear(key: string): void {
    this.#owners.delete(key)
  }

  #settleOne(
    subject: Subject,
    { verb, type, namespace, name, last, generateName }: UnsettledWrite,
    log: WriteLog,
    current: KubeObject | undefined,
  ): void {
    if (current) {
      log.wrote(subject, type, current.metadata)
      if (verb === 'delete' && last && current.metadata.uid !== last.metadata.uid) log.removed(subject, type, last)
      return
    }
    if (last) log.removed(subject, type, last)
    if (verb === 'create' && generateName !== undefined) this.keepName(subject, type, { namespace, name, generateName })
  }

  #of(key: string, uid: string): Pending {
    let pending = this.#owners.get(key)
    if (pending?.uid !== uid) this.#owners.set(key, (pending = { uid, writes: [], names: new Map() }))
    return pending
  }
}

/** The object of a write as the server has it. Undefined if it does not exist. */
async function currentOf(
  { type, namespace, name }: UnsettledWrite,
  client: Client,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(type, namespace, name, { signal })
  } catch (e) {
    if (isNotFound(e)) return undefined
    throw e
  }
}
