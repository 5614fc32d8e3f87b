import { CompactedError } from './store.ts'
import type { Store, StoreEvent, Watch } from './store.ts'

/** The events under `prefix` of `after` < … ≤ `upTo`, and further to the end of that commit, which it returns. */
export type EventsBetween = (after: number, upTo: number, prefix: string) => { events: StoreEvent[]; upTo: number }

type Revisions = Pick<Store, 'revision' | 'compactedRevision'>

interface Watcher {
  readonly prefix: string
  readonly onEvents: (events: readonly StoreEvent[]) => void
  readonly onEnd: ((why: Error) => void) | undefined
  readonly onProgress: ((revision: number) => void) | undefined
  /** Everything up to this revision has been delivered or is not wanted. */
  position: number
  open: boolean
}

// Long enough to be quick, short enough (about 2 ms of reading) not to hold up anybody else.
const revisionsAtATime = 500

/** Hands every commit's events to the watches that are up to date, and brings the others up to date from history. */
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

  /** Whether anybody would see an event of the next commit at once. */
  get hasLive(): boolean {
    return this.#live.size > 0
  }

  add(prefix: string, fromRevision: number, onEvents: Watcher['onEvents'], onEnd: Watcher['onEnd'], onProgress?: Watcher['onProgress']): Watch {
    const { revision, compactedRevision } = this.#store
    if (fromRevision < compactedRevision) throw new CompactedError(compactedRevision)
    const watcher: Watcher = { prefix, onEvents, onEnd, onProgress, position: fromRevision, open: true }
    if (fromRevision >= revision) this.#live.add(watcher)
    else {
      this.#catchingUp.add(watcher)
      // Who asked has its handle by then, if it awaited it directly.
      queueMicrotask(() => queueMicrotask(() => this.#catchUp(watcher).catch((why: Error) => this.#end(watcher, why))))
    }
    return { close: () => this.#drop(watcher) }
  }

  /** The events of one commit, in order. */
  publish(events: readonly StoreEvent[]): void {
    for (const watcher of this.#live) this.#deliver(watcher, events.filter((event) => isWanted(watcher, event)))
  }

  /** Nothing more has happened up to `revision`. */
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
      // Nothing is committed between this look and the next line, so there is neither gap nor repetition.
      if (watcher.position >= store.revision) {
        this.#catchingUp.delete(watcher)
        this.#live.add(watcher)
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
      // A watcher that fails must not take the commit, or the other watchers, with it.
      this.#end(watcher, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #end(watcher: Watcher, why: Error): void {
    if (!watcher.open) return
    this.#drop(watcher)
    // Apart, so that an error in it is the caller's own and not the store's.
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
