import { CompactedError } from './store.ts'
import type { Store, StoreEvent, Watch } from './store.ts'

/**
 * Returns the events under `prefix` with `after` < revision ≤ `upTo`, extended to the end of the last commit, and the
 * revision of that end.
 */
export type EventsBetween = (after: number, upTo: number, prefix: string) => { events: StoreEvent[]; upTo: number }

type Revisions = Pick<Store, 'revision' | 'compactedRevision'>

interface Watcher {
  readonly prefix: string
  readonly onEvents: (events: readonly StoreEvent[]) => void
  readonly onEnd: ((why: Error) => void) | undefined
  readonly onProgress: ((revision: number) => void) | undefined
  /** Every wanted event up to this revision has been delivered. */
  position: number
  open: boolean
}

// Few slices, each of about 2 ms of reading, so that other requests are not delayed.
const revisionsAtATime = 500

/** Delivers the events of each commit to the watches that are up to date, and reads the history for the others. */
export class WatchHub {
  #store: Revisions
  #eventsBetween: EventsBetween
  #yield: (() => Promise<void>) | undefined
  #live = new Set<Watcher>()
  #catchingUp = new Set<Watcher>()

  constructor(store: Revisions, eventsBetween: EventsBetween, yieldTurn?: () => Promise<void>) {
    this.#store = store
    this.#eventsBetween = eventsBetween
    this.#yield = yieldTurn
  }

  /** True if any watch is up to date. */
  get hasLive(): boolean {
    return this.#live.size > 0
  }

  add(
    prefix: string,
    fromRevision: number,
    onEvents: Watcher['onEvents'],
    onEnd: Watcher['onEnd'],
    onProgress?: Watcher['onProgress'],
  ): Watch {
    const { revision, compactedRevision } = this.#store
    if (fromRevision < compactedRevision) throw new CompactedError(compactedRevision)
    const watcher: Watcher = { prefix, onEvents, onEnd, onProgress, position: fromRevision, open: true }
    if (fromRevision >= revision) this.#live.add(watcher)
    else {
      this.#catchingUp.add(watcher)
      // Two microtasks later, a caller that awaited the watch directly has its handle.
      queueMicrotask(() => queueMicrotask(() => this.#catchUp(watcher).catch((why: Error) => this.#end(watcher, why))))
    }
    return { close: () => this.#drop(watcher) }
  }

  /** Delivers the events of one commit, in order. */
  publish(events: readonly StoreEvent[]): void {
    for (const watcher of this.#live)
      this.#deliver(
        watcher,
        events.filter((event) => isWanted(watcher, event)),
      )
  }

  /** Reports that there are no further events up to `revision`. */
  progressed(revision: number): void {
    for (const watcher of this.#live) if (revision > watcher.position) watcher.onProgress?.(revision)
  }

  endAll(why: Error): void {
    for (const watcher of [...this.#live, ...this.#catchingUp]) this.#end(watcher, why)
  }

  async #catchUp(watcher: Watcher): Promise<void> {
    const store = this.#store
    while (watcher.open) {
      if (watcher.position < store.compactedRevision) {
        this.#end(watcher, new CompactedError(store.compactedRevision))
        return
      }
      const wanted = Math.min(store.revision, watcher.position + revisionsAtATime)
      const { events, upTo } = this.#eventsBetween(watcher.position, wanted, watcher.prefix)
      watcher.position = upTo
      this.#deliver(watcher, events)
      if (!watcher.open) return
      // No commit can happen between this check and the next line, so there is neither a gap nor a duplicate.
      if (watcher.position >= store.revision) {
        this.#catchingUp.delete(watcher)
        this.#live.add(watcher)
        // The last revisions may have had no event for this watch.
        watcher.onProgress?.(watcher.position)
        return
      }
      await this.#yield?.()
    }
  }

  #deliver(watcher: Watcher, events: readonly StoreEvent[]): void {
    if (!watcher.open || events.length === 0) return
    try {
      watcher.onEvents(events)
    } catch (error) {
      // An error of one watcher must not affect the commit or other watchers.
      this.#end(watcher, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(watcher: Watcher, why: Error): void {
    if (!watcher.open) return
    this.#drop(watcher)
    // In a separate microtask, so that an error in it does not surface in the store.
    queueMicrotask(() => watcher.onEnd?.(why))
  }

  #drop(watcher: Watcher): void {
    watcher.open = false
    this.#live.delete(watcher)
    this.#catchingUp.delete(watcher)
  }
}

function isWanted(watcher: Watcher, event: StoreEvent): boolean {
  return event.revision > watcher.position && event.key.startsWith(watcher.prefix)
}
