/** A scheduled event. */
export interface Happening {
  readonly atMs: number
  /** Events at the same time happen in the order in which they were scheduled. */
  readonly order: number
  run: (() => void) | undefined
}

/** A process that reads the time more often than this between two events loops. */
const mostQuestions = 100_000

/** The true time of a simulated world. It changes only between events and never goes back. */
export class Timeline {
  #nowMs: number
  #order = 0
  /** The number of reads since the last event. */
  #questions = 0
  /** A binary heap: no event is later than those at 2i+1 and 2i+2. Cancelled ones remain until they are reached. */
  readonly #heap: Happening[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** The time for simulated processes. An endless loop in which no time passes ends with an error. */
  ask(): number {
    if (++this.#questions <= mostQuestions) return this.#nowMs
    throw new Error(`the time was asked for ${mostQuestions} times while it stood still`)
  }

  after(delayMs: number, run: () => void): Happening {
    const happening: Happening = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run }
    const heap = this.#heap
    let at = heap.length
    heap.push(happening)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(happening, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = happening
    return happening
  }

  cancel(happening: Happening): void {
    happening.run = undefined
  }

  /** Advances the time to the next event and runs it. False if there is none. */
  runNext(): boolean {
    for (;;) {
      const next = this.#pop()
      if (!next) return false
      if (!next.run) continue
      this.#nowMs = next.atMs
      this.#questions = 0
      const { run } = next
      next.run = undefined
      run()
      return true
    }
  }

  #pop(): Happening | undefined {
    const heap = this.#heap
    const top = heap[0]
    const last = heap.pop()
    if (!top || !last || top === last) return top
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= heap.length) break
      const right = left + 1
      const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return top
  }
}

const isBefore = (a: Happening, b: Happening): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
