import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { isNotFound } from '../../api/errors.ts'
import type { CoreV1Event, LabelSelector } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { type Client, type ListAllOptions, type ResourceType, events, resourceName } from '../../client/index.ts'
import { isNotReadable, isUnknownPath } from '../failure.ts'

/** An object that was requested by name: it may not exist, and it may not be readable. */
export type Lookup<T> = { kind: 'found'; object: T } | { kind: 'missing' } | { kind: 'unreadable' }

/** The number of concurrent requests of one command. */
const parallelRequests = 8

/** With more names than this, all objects are listed. */
const singleReads = 20

/** Processes the items with limited concurrency, and keeps their order. */
export async function mapSome<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [i, item] of queue) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(parallelRequests, items.length) }, worker))
  return results
}

export interface ReaderMemory {
  clock: Clock
  maxAgeMs: number
}

/**
 * Reads what explains a workload, as far as this user may. Objects that the server refuses or does not serve are
 * recorded in `unread`, and are no error.
 */
export class Reader {
  readonly #client: Client
  readonly #unread = new Map<string, string>()
  readonly #memory: ReaderMemory | undefined
  readonly #known = new Map<string, { atMs: number; answer: Promise<unknown> }>()

  /** A reader that caches responses for a while, for views that are redrawn repeatedly. */
  constructor(client: Client, memory?: ReaderMemory) {
    this.#client = client
    this.#memory = memory
  }

  /** Kinds that could not be read, and the reasons: `nodes (Forbidden)`. */
  get unread(): string[] {
    return [...this.#unread].map(([what, why]) => `${what} (${why})`)
  }

  /** All matching objects of a namespace ('' for all). Undefined if they cannot be read. */
  async list<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    selection: Pick<ListAllOptions, 'labelSelector' | 'fieldSelector' | 'metadataOnly'> = {},
  ): Promise<T[] | undefined> {
    return this.#try(resourceName(type), JSON.stringify([namespace, selection]), async () => {
      const found: T[] = []
      for await (const page of this.#client.listAll(type, namespace, { ...selection, allowInconsistent: true }))
        found.push(...page.items)
      return found
    })
  }

  selected<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    selector: LabelSelector,
  ): Promise<T[] | undefined> {
    return this.list(type, namespace, { labelSelector: labelSelectorText(selector) })
  }

  async find<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Promise<Lookup<T>> {
    // A user who may not read one of them may not read the others: one refusal is enough.
    if (this.#unread.has(resourceName(type))) return { kind: 'unreadable' }
    const found = await this.#try<Lookup<T>>(resourceName(type), `${namespace}/${name}`, async () => {
      try {
        return { kind: 'found', object: await this.#client.get(type, namespace, name) }
      } catch (e) {
        if (isNotFound(e) && !isUnknownPath(e)) return { kind: 'missing' }
        throw e
      }
    })
    return found ?? { kind: 'unreadable' }
  }

  /** Objects by name, null for a missing one. Undefined if they cannot be read. */
  async findAll<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    names: readonly string[],
  ): Promise<Map<string, T | null> | undefined> {
    if (names.length > singleReads) {
      const all = await this.list(type, namespace)
      return all && new Map(names.map((name) => [name, all.find(({ metadata }) => metadata.name === name) ?? null]))
    }
    const found = new Map<string, T | null>()
    const lookups = await mapSome(names, (name) => this.find(type, namespace, name))
    for (const [i, lookup] of lookups.entries()) {
      if (lookup.kind === 'unreadable') return undefined
      found.set(names[i]!, lookup.kind === 'found' ? lookup.object : null)
    }
    return found
  }

  /** The events about one object, the newest first. */
  async eventsOf({ metadata }: KubeObject): Promise<CoreV1Event[]> {
    const found = await this.list(events, metadata.namespace ?? '', {
      fieldSelector: `involvedObject.uid=${metadata.uid}`,
    })
    return (found ?? []).toSorted((a, b) => (eventTime(a) < eventTime(b) ? 1 : -1))
  }

  async #try<T>(what: string, which: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#remembered(`${what} ${which}`, read)
    } catch (e) {
      if (!isNotReadable(e)) throw e
      // A kind that the server does not serve has no objects: nothing is missing.
      if (!isUnknownPath(e)) this.#unread.set(what, e.reason || String(e.code))
      return undefined
    }
  }

  #remembered<T>(key: string, read: () => Promise<T>): Promise<T> {
    if (!this.#memory) return read()
    const { clock, maxAgeMs } = this.#memory
    const nowMs = clock.now()
    for (const [old, { atMs }] of this.#known) if (nowMs - atMs > maxAgeMs) this.#known.delete(old)
    const known = this.#known.get(key)
    if (known) return known.answer as Promise<T>
    const answer = read()
    const made = { atMs: nowMs, answer }
    this.#known.set(key, made)
    // A refusal stays for a while. Other errors may end at once.
    answer.catch((e: unknown) => !isNotReadable(e) && this.#known.get(key) === made && this.#known.delete(key))
    return answer
  }
}

/** The last time at which an event happened, as the API writes it. */
export const eventTime = ({ lastTimestamp, series, eventTime: at, firstTimestamp, metadata }: CoreV1Event): string =>
  lastTimestamp ?? series?.lastObservedTime ?? at ?? firstTimestamp ?? metadata.creationTimestamp ?? ''
