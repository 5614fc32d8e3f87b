import { assert, isAsserting } from './assert.ts'

/** A heap of values by key. Each key is in it once, and any key can be removed. */
export class KeyedHeap<K, V> {
  readonly #isBefore: (a: V, b: V) => boolean
  /** A binary heap: no entry sorts after its children at 2i+1 and 2i+2. */
  readonly #keys: K[] = []
  readonly #values: V[] = []
  readonly #indexes = new Map<K, number>()

  constructor(isBefore: (a: V, b: V) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#keys.length
  }

  has(key: K): boolean {
    return this.#indexes.has(key)
  }

  get(key: K): V | undefined {
    const at = this.#indexes.get(key)
    return at === undefined ? undefined : this.#values[at]
  }

  peek(): V | undefined {
    return this.#values[0]
  }

  /** Returns all values in unspecified order. */
  values(): V[] {
    return [...this.#values]
  }

  /** Adds a value or replaces the value of its key. */
  set(key: K, value: V): void {
    const at = this.#indexes.get(key) ?? this.#keys.length
    this.#put(at, key, value)
    this.#settle(at)
  }

  /** Returns up to `count` of the first values in order, without removing them. */
  first(count: number): V[] {
    const values: V[] = []
    if (count <= 0) return values
    for (const value of this.inOrder()) if (values.push(value) >= count) break
    return values
  }

  /**
   * Iterates over the values in order, lazily and without removing them. The heap must not change during the iteration.
   */
  *inOrder(): Generator<V> {
    // An entry can only follow its parent.
    const next = new KeyedHeap<number, number>((a, b) => this.#isBefore(this.#values[a]!, this.#values[b]!))
    if (this.size > 0) next.set(0, 0)
    while (next.size > 0) {
      const at = next.pop()!
      yield this.#values[at]!
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < this.size) next.set(child, child)
    }
  }

  pop(): V | undefined {
    const [key] = this.#keys
    return this.#keys.length === 0 ? undefined : this.delete(key as K)
  }

  delete(key: K): V | undefined {
    const at = this.#indexes.get(key)
    if (at === undefined) return undefined
    const value = this.#values[at]!
    this.#indexes.delete(key)
    const lastKey = this.#keys.pop()!
    const lastValue = this.#values.pop()!
    if (at < this.#keys.length) {
      this.#put(at, lastKey, lastValue)
      this.#settle(at)
    }
    return value
  }

  clear(): void {
    this.#keys.length = 0
    this.#values.length = 0
    this.#indexes.clear()
  }

  #put(at: number, key: K, value: V): void {
    this.#keys[at] = key
    this.#values[at] = value
    this.#indexes.set(key, at)
  }

  /** Restores the order after the entry at an index has changed. */
  #settle(at: number): void {
    const up = this.#up(at)
    const down = this.#down(up)
    if (isAsserting)
      assert(
        () => this.#isSettled(at) && this.#isSettled(up) && this.#isSettled(down),
        'no entry sorts after its children',
      )
  }

  /** True if the entry at an index is not before its parent, and its children are not before it. */
  #isSettled(at: number): boolean {
    const { size } = this
    const isAfterParent = (child: number) =>
      child === 0 || child >= size || !this.#isBefore(this.#values[child]!, this.#values[(child - 1) >> 1]!)
    return isAfterParent(at) && isAfterParent(2 * at + 1) && isAfterParent(2 * at + 2)
  }

  #swap(a: number, b: number): void {
    const key = this.#keys[a]!
    const value = this.#values[a]!
    this.#put(a, this.#keys[b]!, this.#values[b]!)
    this.#put(b, key, value)
  }

  /** Returns the entry's new index. */
  #up(from: number): number {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(this.#values[at]!, this.#values[parent]!)) break
      this.#swap(at, parent)
      at = parent
    }
    return at
  }

  /** Returns the entry's new index. */
  #down(from: number): number {
    for (let at = from; ;) {
      const left = 2 * at + 1
      const right = left + 1
      if (left >= this.#keys.length) return at
      const child =
        right < this.#keys.length && this.#isBefore(this.#values[right]!, this.#values[left]!) ? right : left
      if (!this.#isBefore(this.#values[child]!, this.#values[at]!)) return at
      this.#swap(at, child)
      at = child
    }
  }
}
