import { isNotFound } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Client, type ResourceType, resourceName } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { Subject, WriteLog } from './write-log.ts'

/** A write that was sent and not answered. */
export interface UnsettledWrite {
  verb: 'create' | 'change' | 'delete'
  type: ResourceType
  namespace: string
  name: string
  /** As far as it was known, for what was there. */
  last?: KubeObject
  /** What a new name was made from. */
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
  /** Names that were asked for and that no object has, as far as anybody knows, by resource, namespace and prefix. */
  readonly names: Map<string, KeptNames>
}

const prefixKey = (type: ResourceType, namespace: string, generateName: string) => `${resourceName(type)} ${namespace}/${generateName}`

/**
 * Writes of unknown fate, by owner. Before an owner is looked at again, the server is asked what became of them; the answer is a version the
 * cache must reach. A name whose object is not there is kept for the next object of its kind: should the lost request still
 * arrive, one of the two fails, and there are never two objects. Once a reconcile has seen an object of that name, the
 * name is dropped.
 */
export class UnsettledWrites {
  readonly #owners = new Map<string, Pending>()

  add({ key, uid }: Subject, write: UnsettledWrite): void {
    this.#of(key, uid).writes.push(write)
  }

  /** Asks the server about every write that was not answered for this owner. Rejects if it cannot say: then the owner has to wait. */
  async settle(subject: Subject, client: Client, log: WriteLog, signal: AbortSignal): Promise<void> {
    const pending = this.#owners.get(subject.key)
    if (!pending) return
    if (pending.uid !== subject.uid) return this.clear(subject.key)
    while (pending.writes.length > 0) {
      const write = pending.writes[0]!
      await this.#settleOne(subject, write, client, log, signal)
      pending.writes.shift()
    }
    if (pending.names.size === 0) this.#owners.delete(subject.key)
  }

  /**
   * Drops names whose objects the cache has. To be called right before a reconcile reads the cache: an object that comes
   * later is not counted by its plan, and its name must still fail.
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

  /** A name that was sent before and never seen, to be used again. */
  takeName({ key, uid }: Subject, type: ResourceType, namespace: string, generateName: string): string | undefined {
    const pending = this.#owners.get(key)
    if (pending?.uid !== uid) return undefined
    const at = prefixKey(type, namespace, generateName)
    const kept = pending.names.get(at)
    const name = kept?.names.shift()
    if (kept?.names.length === 0) pending.names.delete(at)
    return name
  }

  /** Has a name used again by the next object that is made from this prefix. */
  keepName({ key, uid }: Subject, type: ResourceType, namespace: string, generateName: string, name: string): void {
    const { names } = this.#of(key, uid)
    const at = prefixKey(type, namespace, generateName)
    names.set(at, { type, namespace, names: [...(names.get(at)?.names ?? []), name] })
  }

  clear(key: string): void {
    this.#owners.delete(key)
  }

  async #settleOne(subject: Subject, write: UnsettledWrite, client: Client, log: WriteLog, signal: AbortSignal): Promise<void> {
    const { verb, type, namespace, name, last, generateName } = write
    try {
      const there = await client.get(type, namespace, name, { signal })
      log.wrote(subject, type, there.metadata)
      if (verb === 'delete' && last && there.metadata.uid !== last.metadata.uid) log.removed(subject, type, last)
    } catch (e) {
      if (!isNotFound(e)) throw e
      if (last) log.removed(subject, type, last)
      if (verb === 'create' && generateName !== undefined) this.keepName(subject, type, namespace, generateName, name)
    }
  }

  #of(key: string, uid: string): Pending {
    let pending = this.#owners.get(key)
    if (pending?.uid !== uid) this.#owners.set(key, (pending = { uid, writes: [], names: new Map() }))
    return pending
  }
}
