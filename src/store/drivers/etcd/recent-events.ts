import { CompactedError } from '../../store.ts'
import type { StoreEvent, Versioned } from '../../store.ts'

/** Maximum size of the kept values, of new versions and of those that they replaced. */
const mostBytes = 64 << 20
const mostEvents = 100_000

/** The newest events in revision order, for watches that start in the past. */
export class RecentEvents {
  #events: (StoreEvent | undefined)[] = []
  /** The bytes that each event keeps. */
  #sizes: number[] = []
  /** Events before this index are dropped and undefined; the array is trimmed from time to time. */
  #first = 0
  #bytes = 0
  /** Every event after this revision is kept. */
  #start: number

  constructor(start: number) {
    this.#start = start
  }

  get start(): number {
    return this.#start
  }

  add(event: StoreEvent): void {
    const bytes = bytesOf(event)
    this.#events.push(event)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    while (this.#bytes > mostBytes || this.#events.length - this.#first > mostEvents) this.#forgetOldest()
  }

  /** Drops events up to a revision. */
  forget(revision: number): void {
    while (this.#first < this.#events.length && this.#events[this.#first]!.revision <= revision) this.#forgetOldest()
    this.#start = Math.max(this.#start, revision)
  }

  /** The events under `prefix` with `after` < revision ≤ `upTo`. */
  between(after: number, upTo: number, prefix: string): StoreEvent[] {
    const found: StoreEvent[] = []
    for (let i = this.#after(after); i < this.#events.length; i++) {
      const event = this.#events[i]!
      if (event.revision > upTo) break
      if (event.key.startsWith(prefix)) found.push(event)
    }
    return found
  }

  #after(revision: number): number {
    let low = this.#first
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  #forgetOldest(): void {
    this.#bytes -= this.#sizes[this.#first]!
    this.#start = this.#events[this.#first]!.revision
    this.#events[this.#first] = undefined
    this.#first++
    if (this.#first < 1000 || this.#first < this.#events.length / 2) return
    this.#events.splice(0, this.#first)
    this.#sizes.splice(0, this.#first)
    this.#first = 0
  }
}

/** The size of an event itself. */
const eventBytes = 100

function bytesOf(event: StoreEvent): number {
  const value = event.type === 'put' ? event.value.length : 0
  return eventBytes + value + (previousOf(event)?.value.length ?? 0)
}

function previousOf(event: StoreEvent): Versioned | undefined {
  try {
    return event.previous
  } catch (e) {
    // The replaced version was compacted before the event arrived.
    if (e instanceof CompactedError) return undefined
    throw e
  }
}
