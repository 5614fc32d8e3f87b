import { RecentEvents } from '../src/store/drivers/etcd/recent-events.ts'
import type { RangeOptions, RangeResult, Store, StoreEvent, Versioned, Watch, Write, WriteResult } from '../src/store/index.ts'
import { WatchHub } from '../src/store/watch-hub.ts'

/** Runs `deliver` when the next events of a store have arrived; calls are carried out in their order. */
export type Arrival = (deliver: () => void) => void

/**
 * A store in memory as one of several servers sees it: its events arrive late, by a lag of its own. Reads and writes
 * are those of the store.
 */
export class LaggingStore implements Store {
  readonly #store: Store
  readonly #hub: WatchHub
  readonly #recent: RecentEvents
  readonly #waiters = new Set<{ revision: number; resolve(): void }>()
  #revision: number
  #feed: Watch | undefined

  private constructor(store: Store) {
    this.#store = store
    this.#revision = store.revision
    const recent = new RecentEvents(store.revision)
    this.#recent = recent
    const seen = {
      revision: () => this.#revision,
      compacted: () => Math.max(recent.start, Math.min(store.compactedRevision, this.#revision)),
    }
    const revisions = {
      get revision() { return seen.revision() },
      get compactedRevision() { return seen.compacted() },
    }
    this.#hub = new WatchHub(revisions, (after, upTo, prefix) => ({ events: recent.between(after, upTo, prefix), upTo }))
  }

  static async open(store: Store, arrive: Arrival): Promise<LaggingStore> {
    const view = new LaggingStore(store)
    // The earlier versions may have been compacted when the events arrive.
    const taken = (events: readonly StoreEvent[]) => events.map((event) => ({ ...event, previous: event.previous }) as StoreEvent)
    view.#feed = await store.watch('', store.revision, (events) => {
      const kept = taken(events)
      arrive(() => view.#take(kept))
    })
    return view
  }

  get revision(): number {
    return this.#revision
  }

  get compactedRevision(): number {
    return this.#store.compactedRevision
  }

  currentRevision = async (): Promise<number> => this.#store.revision

  waitUntilSeen = async (revision: number): Promise<void> => {
    if (revision > this.#revision) await new Promise<void>((resolve) => this.#waiters.add({ revision, resolve }))
  }

  get(key: string): Promise<Versioned | undefined> {
    return this.#store.get(key)
  }

  range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.#store.range(prefix, options)
  }

  async write(op: Write): Promise<WriteResult> {
    const result = await this.#store.write(op)
    await this.waitUntilSeen(result.ok ? result.revision : this.#store.revision)
    return result
  }

  async watch(prefix: string, fromRevision: number, onEvents: (events: readonly StoreEvent[]) => void, onEnd?: (why: Error) => void, onProgress?: (revision: number) => void): Promise<Watch> {
    return this.#hub.add(prefix, fromRevision, onEvents, onEnd, onProgress)
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision)
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#store.revisionAt(timeMs)
  }

  size(): number {
    return this.#store.size()
  }

  /** Stops to follow the store, which stays open. */
  async close(): Promise<void> {
    this.#feed?.close()
  }

  #take(events: readonly StoreEvent[]): void {
    this.#revision = events.at(-1)!.revision
    for (const event of events) this.#recent.add(event)
    this.#hub.publish(events)
    for (const waiter of Array.from(this.#waiters)) {
      if (waiter.revision > this.#revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
