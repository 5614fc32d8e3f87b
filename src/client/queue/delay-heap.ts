interface Delayed<K> {
  readonly key: K
  atMs: number
  priority: number
  /** Keys of one time come out in the order in which they were given that time. */
  order: number
  /** Where it is in the heap. */
  index: number
}

/** Keys that wait for a time, the earliest on top. A key is in it once. */
export class DelayHeap<K> {
  /** A binary heap: no element is later than those at 2i+1 and 2i+2. */
  readonly #heap: Delayed<K>[] = []
  readonly #byKey = new Map<K, Delayed<K>>()
  #order = 0

  get size(): number {
    return this.#heap.length
  }

  /** When the earliest is due. */
  get nextAtMs(): number | undefined {
    return this.#heap[0]?.atMs
  }

  /** When a key is due; undefined if it is not in it. */
  atMs(key: K): number | undefined {
    return this.#byKey.get(key)?.atMs
  }

  /** Adds a key. One that waits already keeps the earlier of both times and the higher of both priorities. */
  add(key: K, atMs: number, priority: number): void {
    const there = this.#byKey.get(key)
    if (there) {
      there.priority = Math.max(there.priority, priority)
      if (atMs >= there.atMs) return
      there.atMs = atMs
      there.order = this.#order++
      this.#up(there)
      return
    }
    const delayed: Delayed<K> = { key, atMs, priority, order: this.#order++, index: this.#heap.length }
    this.#heap.push(delayed)
    this.#byKey.set(key, delayed)
    this.#up(delayed)
  }

  /** Takes the earliest if it is due by `nowMs`. */
  takeDue(nowMs: number): { key: K; priority: number } | undefined {
    const top = this.#heap[0]
    if (!top || top.atMs > nowMs) return undefined
    this.#byKey.delete(top.key)
    const last = this.#heap.pop()!
    if (last !== top) {
      this.#place(last, 0)
      this.#down(last)
    }
    return top
  }

  clear(): void {
    this.#heap.length = 0
    this.#byKey.clear()
  }

  #place(delayed: Delayed<K>, index: number): void {
    this.#heap[index] = delayed
    delayed.index = index
  }

  #up(delayed: Delayed<K>): void {
    while (delayed.index > 0) {
      const at = delayed.index
      const parent = this.#heap[(at - 1) >> 1]!
      if (!isBefore(delayed, parent)) return
      this.#place(delayed, parent.index)
      this.#place(parent, at)
    }
  }

  #down(delayed: Delayed<K>): void {
    for (;;) {
      const at = delayed.index
      const left = this.#heap[2 * at + 1]
      const right = this.#heap[2 * at + 2]
      const child = left && right && isBefore(right, left) ? right : left
      if (!child || !isBefore(child, delayed)) return
      this.#place(delayed, child.index)
      this.#place(child, at)
    }
  }
}

const isBefore = (a: Delayed<unknown>, b: Delayed<unknown>): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
