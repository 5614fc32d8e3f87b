import type { Conversion } from '../registry/resource.ts'
import type { CacheEvent } from './cache-listeners.ts'

type Deliver = (events: readonly CacheEvent[]) => void

/** Converts the events of a watch to its version of the kind, and keeps their order. */
export class EventConverter {
  readonly #conversion: Conversion
  readonly #deliver: Deliver
  readonly #fail: (error: unknown) => void
  /** True if the watch has a selector, which also needs the previous version. */
  readonly #needsPrevious: boolean
  /** Resolves when all earlier events have been delivered. Undefined while no conversion is pending. */
  #last: Promise<void> | undefined

  constructor(conversion: Conversion, needsPrevious: boolean, deliver: Deliver, fail: (error: unknown) => void) {
    this.#conversion = conversion
    this.#needsPrevious = needsPrevious
    this.#deliver = deliver
    this.#fail = fail
  }

  /** Starts conversions at once, concurrently, and delivers the results in order. */
  events(events: readonly CacheEvent[]): void {
    const shown = this.#show(events)
    if (!(shown instanceof Promise)) return this.after(() => this.#deliver(shown))
    const before = this.#last ?? Promise.resolve()
    // The await below handles a failure; this avoids an unhandled rejection until then.
    shown.catch(() => {})
    this.#follow(before.then(() => shown).then((ready) => this.#deliver(ready)))
  }

  /** Calls `fn` once all earlier events have been delivered. */
  after(fn: () => void): void {
    if (this.#last) this.#follow(this.#last.then(fn))
    else fn()
  }

  #follow(next: Promise<void>): void {
    const last = next
      .catch((e: unknown) => this.#fail(e))
      .then(() => {
        if (this.#last === last) this.#last = undefined
      })
    this.#last = last
  }

  #show(events: readonly CacheEvent[]): readonly CacheEvent[] | Promise<readonly CacheEvent[]> {
    const asked = events.flatMap(({ type, object, previous }) =>
      type === 'DELETED' ? [previous!] : this.#needsPrevious && previous ? [object, previous] : [object],
    )
    const shown = this.#conversion.show(asked)
    const put = (all: typeof asked | readonly (typeof asked)[number][]): CacheEvent[] => {
      let at = 0
      return events.map((event) => {
        const first = all[at++]!
        // A deletion event contains the last version.
        if (event.type === 'DELETED') return { ...event, object: first.at(event.object.revision), previous: first }
        return {
          ...event,
          object: first,
          previous: this.#needsPrevious && event.previous ? all[at++]! : event.previous,
        }
      })
    }
    return shown instanceof Promise ? shown.then(put) : put(shown)
  }
}
