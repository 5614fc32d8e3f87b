/** A map that keeps what was used last, and forgets the rest. */
export class LruMap<K, V> {
  /** The least recently used first. */
  readonly #map = new Map<K, V>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#map.size
  }

  get(key: K): V | undefined {
    const value = this.#map.get(key)
    if (value === undefined) return undefined
    this.#map.delete(key)
    this.#map.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#map.delete(key)
    this.#map.set(key, value)
    if (this.#map.size > this.#max) this.#map.delete(this.#map.keys().next().value!)
  }
}
