import { type Clock, turnsOf } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { Logger } from '../../base/logger.ts'
import { inSlices } from '../../base/turns.ts'
import { isConflict } from '../../api/errors.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { TimeToLive } from '../registry/resource.ts'
import type { CacheEvent } from '../objects/resource-cache.ts'
import type { StoredObject } from '../objects/stored-object.ts'

/** Removals that are under way at once; the store commits them together. */
const batchSize = 256
/** Passes are at least this far apart, so that objects which expire one after the other share a pass. etcd looks as often. */
const passEveryMs = 500

interface Entry {
  key: string
  deadlineMs: number
}

export interface ExpiryOptions {
  objects: ObjectStore
  clock: Clock
  logger: Logger
}

/**
 * Removes the objects of one kind a fixed time after their last write, as a lease of etcd does: every write begins the time anew,
 * finalizers and admission are not asked, and watchers see an ordinary DELETED event.
 */
export class Expiry {
  readonly #place: Registered
  readonly #timeToLive: TimeToLive
  readonly #o: ExpiryOptions
  /** One entry for each object that exists, the first to expire on top. */
  readonly #entries = new KeyedHeap<string, Entry>((a, b) => a.deadlineMs < b.deadlineMs)
  #isClosed = false
  #isRunning = false
  #cancel: () => void = () => {}
  #unlisten: () => void = () => {}
  /** When the next pass is due; Infinity while none is. */
  #nextMs = Infinity

  private constructor(place: Registered, timeToLive: TimeToLive, options: ExpiryOptions) {
    this.#place = place
    this.#timeToLive = timeToLive
    this.#o = options
  }

  /** Begins with all objects that are stored. Their time counts from the latest time that they themselves state. */
  static start(place: Registered, timeToLive: TimeToLive, options: ExpiryOptions): Expiry {
    const expiry = new Expiry(place, timeToLive, options)
    const cache = options.objects.cache(place)
    expiry.#unlisten = cache.listen((events) => expiry.#take(events))
    void expiry.#load(cache.snapshot(place.prefix).values)
    return expiry
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#unlisten()
  }

  async #load(stored: readonly StoredObject[]): Promise<void> {
    const now = this.#o.clock.now()
    const { ms, lastWritten } = this.#timeToLive
    const cache = this.#o.objects.cache(this.#place)
    await inSlices(turnsOf(this.#o.clock), stored, (one) => {
      if (this.#entries.has(one.key) || cache.get(one.key) !== one) return
      const written = Math.max(0, ...lastWritten(one.object).map((time) => Date.parse(time ?? '') || 0))
      this.#entries.set(one.key, { key: one.key, deadlineMs: Math.min(written, now) + ms })
    })
    this.#schedule()
  }

  #take(events: readonly CacheEvent[]): void {
    const deadlineMs = this.#o.clock.now() + this.#timeToLive.ms
    for (const { type, object } of events) {
      if (type === 'DELETED') this.#entries.delete(object.key)
      else this.#entries.set(object.key, { key: object.key, deadlineMs })
    }
    this.#schedule()
  }

  /** Sets the timer for the first deadline, unless one is set that runs no later. */
  #schedule(notBeforeMs = 0): void {
    const first = this.#entries.peek()
    if (this.#isClosed || this.#isRunning || !first) return
    const now = this.#o.clock.now()
    const atMs = Math.max(first.deadlineMs, now + notBeforeMs)
    if (atMs >= this.#nextMs) return
    this.#cancel()
    this.#nextMs = atMs
    this.#cancel = this.#o.clock.after(atMs - now, () => {
      this.#nextMs = Infinity
      void this.#pass()
    })
  }

  async #pass(): Promise<void> {
    this.#isRunning = true
    try {
      for (let batch = this.#due(); batch.length > 0 && !this.#isClosed; batch = this.#due()) {
        await Promise.all(batch.map((entry) => this.#remove(entry)))
        await turnsOf(this.#o.clock).next()
      }
    } catch (error) {
      if (!this.#isClosed) this.#o.logger.warn('expired objects could not be removed', { resource: this.#place.resource.plural, error })
    } finally {
      this.#isRunning = false
      this.#schedule(passEveryMs)
    }
  }

  /** Entries whose time is up, in their order, no more than one batch. */
  #due(): Entry[] {
    const now = this.#o.clock.now()
    const due: Entry[] = []
    for (const entry of this.#entries.inOrder()) {
      if (entry.deadlineMs > now || due.length === batchSize) break
      due.push(entry)
    }
    return due
  }

  /** The removal's own event takes the entry out; a write that came first has begun its time anew. */
  async #remove({ key }: Entry): Promise<void> {
    const { objects } = this.#o
    const stored = objects.cache(this.#place).get(key)
    if (!stored) return void this.#entries.delete(key)
    try {
      await objects.remove(this.#place, stored)
    } catch (e) {
      if (!isConflict(e)) throw e
    }
  }
}

/** Starts the expiry of every stored kind that has a time to live, also of those that come later. The returned function ends them all. */
export function startExpiry(registry: Registry, options: ExpiryOptions): () => void {
  const started = new Map<Registered, Expiry>()
  const begin = (place: Registered) => {
    const { timeToLive } = place.resource
    if (place.storage === place && timeToLive && timeToLive.ms > 0) started.set(place, Expiry.start(place, timeToLive, options))
  }
  const end = (place: Registered) => {
    started.get(place)?.close()
    started.delete(place)
  }
  registry.storages().forEach(begin)
  const unlisten = registry.listen((added, removed) => {
    added.forEach(begin)
    removed.forEach(end)
  })
  return () => {
    unlisten()
    for (const place of started.keys()) end(place)
  }
}
