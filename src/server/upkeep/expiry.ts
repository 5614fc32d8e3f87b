import { type Clock, turnsOf } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { Logger } from '../../base/logger.ts'
import { inSlices } from '../../base/turns.ts'
import { isConflict } from '../../api/errors.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { TimeToLive } from '../registry/resource.ts'
import type { CacheEvent } from '../objects/cache-listeners.ts'
import type { StoredObject } from '../objects/stored-object.ts'

/** Maximum number of concurrent removals, which the store commits together. */
const batchSize = 256
/** Minimum interval of passes, as in etcd, so that objects with close deadlines share a pass. */
const passEveryMs = 500

interface Entry {
  key: string
  deadlineMs: number
}

interface ExpiryOptions {
  objects: ObjectStore
  clock: Clock
  logger: Logger
}

/**
 * Removes the objects of one kind a fixed time after their last write, as etcd leases do. Every write restarts the
 * time. Finalizers and admission do not apply, and watchers get a DELETED event.
 */
class Expiry {
  readonly #place: Registered
  readonly #timeToLive: TimeToLive
  readonly #o: ExpiryOptions
  /** One entry per object, the earliest deadline first. */
  readonly #entries = new KeyedHeap<string, Entry>((a, b) => a.deadlineMs < b.deadlineMs)
  #isClosed = false
  #isRunning = false
  #cancel: () => void = () => {}
  #unlisten: () => void = () => {}
  /** The time of the next pass; Infinity if none is due. */
  #nextMs = Infinity

  private constructor(place: Registered, timeToLive: TimeToLive, options: ExpiryOptions) {
    this.#place = place
    this.#timeToLive = timeToLive
    this.#o = options
  }

  /** Starts with all stored objects, each from the latest timestamp in it. */
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

  /** Sets the timer for the first deadline, unless an earlier one is set. */
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
      if (!this.#isClosed)
        this.#o.logger.warn('failed to delete expired objects', { resource: this.#place.resource.plural, error })
    } finally {
      this.#isRunning = false
      this.#schedule(passEveryMs)
    }
  }

  /** Expired entries in order, at most one batch. */
  #due(): Entry[] {
    const now = this.#o.clock.now()
    const due: Entry[] = []
    for (const entry of this.#entries.inOrder()) {
      if (entry.deadlineMs > now || due.length === batchSize) break
      due.push(entry)
    }
    return due
  }

  /** The DELETED event removes the entry. A concurrent write has restarted its time. */
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

/**
 * Starts the expiry of every stored kind with a time to live, including kinds added later. The returned function stops
 * it.
 */
export function startExpiry(registry: Registry, options: ExpiryOptions): () => void {
  const started = new Map<Registered, Expiry>()
  const begin = (place: Registered) => {
    const { timeToLive } = place.resource
    if (place.storage === place && timeToLive && timeToLive.ms > 0)
      started.set(place, Expiry.start(place, timeToLive, options))
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
