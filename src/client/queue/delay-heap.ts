import { KeyedHeap } from '../../base/keyed-heap.ts'

interface Delayed<K> {
  readonly key: K
  readonly atMs: number
  priority: number
  /** Keys with equal times are returned in order of insertion. */
  readonly order: number
}

/** Keys with a due time, the earliest first. Each key is in the heap once. */
export class DelayHeap<K> {
  readonly #heap = new KeyedHeap<K, Delayed<K>>(isBefore)
  #order = 0

  get size(): number {
    return this.#heap.size
  }

  /** The time of the earliest key. */
  get nextAtMs(): number | undefined {
    return this.#heap.peek()?.atMs
  }

  /** Returns the due time of a key; undefined if it is not in the heap. */
  atMs(key: K): number | undefined {
    return this.#heap.get(key)?.atMs
  }

  /** Adds a key. A key that is already present keeps the earlier time and the higher priority. */
  add(key: K, atMs: number, priority: number): void {
    const waiting = this.#heap.get(key)
    if (waiting && waiting.atMs <= atMs) {
      waiting.priority = Math.max(waiting.priority, priority)
      return
    }
    const highest = Math.max(waiting?.priority ?? priority, priority)
    this.#heap.set(key, { key, atMs, priority: highest, order: this.#order++ })
  }

  /** Removes the earliest key if it is due by `nowMs`. */
  takeDue(nowMs: number): { key: K; priority: number } | undefined {
    const first = this.#heap.peek()
    return first && first.atMs <= nowMs ? this.#heap.pop() : undefined
  }

  clear(): void {
    this.#heap.clear()
  }
}

const isBefore = (a: Delayed<unknown>, b: Delayed<unknown>): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
