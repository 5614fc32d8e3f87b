import type { Conversion } from '../registry/resource.ts'
import type { CacheEvent } from './resource-cache.ts'

type Deliver = (events: readonly CacheEvent[]) => void

/** Shows the events of a watch in its version of the kind, in the order in which they happened. */
export class EventConverter {
  readonly #conversion: Conversion
  readonly #deliver: Deliver
  readonly #fail: (error: unknown) => void
  /** True if a watch chooses objects, so that it has to know what they were before. */
  readonly #needsPrevious: boolean
  /** Settles when everything up to now has been delivered. Undefined while nothing is being converted. */
  #last: Promise<void> | undefined

  constructor(conversion: Conversion, needsPrevious: boolean, deliver: Deliver, fail: (error: unknown) => void) {
    this.#conversion = conversion
    this.#needsPrevious = needsPrevious
    this.#deliver = deliver
    this.#fail = fail
  }

  /** Events are converted at once, several at the same time, and delivered one after the other. */
  events(events: readonly CacheEvent[]): void {
    const shown = this.#show(events)
    if (!(shown instanceof Promise)) return this.after(() => this.#deliver(shown))
    const before = this.#last ?? Promise.resolve()
    // Whoever waits below hears of a failure; until then nobody else has to.
    shown.catch(() => {})
    this.#follow(before.then(() => shown).then((ready) => this.#deliver(ready)))
  }

  /** Does something once all events up to now have been delivered. */
  after(fn: () => void): void {
    if (this.#last) this.#follow(this.#last.then(fn))
    else fn()
  }

  #follow(next: Promise<void>): void {
    const last = next.catch((e: unknown) => this.#fail(e)).then(() => {
      if (this.#last === last) this.#last = undefined
    })
    this.#last = last
  }

  #show(events: readonly CacheEvent[]): readonly CacheEvent[] | Promise<readonly CacheEvent[]> {
    const asked = events.flatMap(({ type, object, previous }) =>
      type === 'DELETED' ? [previous!] : this.#needsPrevious && previous ? [object, previous] : [object])
    const shown = this.#conversion.show(asked)
    const put = (all: typeof asked | readonly (typeof asked)[number][]): CacheEvent[] => {
      let at = 0
      return events.map((event) => {
        const first = all[at++]!
        // A deletion shows what was there last.
        if (event.type === 'DELETED') return { ...event, object: first.at(event.object.revision), previous: first }
        return { ...event, object: first, previous: this.#needsPrevious && event.previous ? all[at++]! : event.previous }
      })
    }
    return shown instanceof Promise ? shown.then(put) : put(shown)
  }
}
