import { assert, isAsserting } from './assert.ts'
import { type SortedChunk, chunkOf, isOrdered, lowerBound } from './sorted-chunks.ts'

const chunkLimit = 512

interface Chunk<V> extends SortedChunk {
  readonly values: V[]
}

/**
 * A map with entries in key order. Entries are stored in ordered chunks of at most 512, so an insert moves at most a
 * few hundred slots whatever the size, and a range reads memory sequentially.
 */
export class OrderedMap<V> {
  /** Chunks in order. None is empty, except the only chunk of an empty map. */
  #chunks: Chunk<V>[] = [{ keys: [], values: [] }]
  readonly #byKey = new Map<string, V>()

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key)
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  set(key: string, value: V): void {
    const isNew = !this.#byKey.has(key)
    this.#byKey.set(key, value)
    if (isNew && this.#append(key, value)) return
    const at = chunkOf(this.#chunks, key)
    const chunk = this.#chunks[at]!
    const i = lowerBound(chunk.keys, key)
    if (!isNew) {
      chunk.values[i] = value
      return
    }
    chunk.keys.splice(i, 0, key)
    chunk.values.splice(i, 0, value)
    if (chunk.keys.length > chunkLimit) this.#split(at)
    if (isAsserting) assert(() => isOrdered(this.#chunks, at), 'chunks are in order, and none is empty')
  }

  /** Adds a key behind all others, if it sorts there. Chunks of keys that come in order are full. */
  #append(key: string, value: V): boolean {
    const last = this.#chunks.at(-1)!
    if (last.keys.length > 0 && last.keys.at(-1)! >= key) return false
    if (last.keys.length < chunkLimit) {
      last.keys.push(key)
      last.values.push(value)
    } else this.#chunks.push({ keys: [key], values: [value] })
    if (isAsserting)
      assert(() => isOrdered(this.#chunks, this.#chunks.length - 1), 'chunks are in order, and none is empty')
    return true
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false
    const at = chunkOf(this.#chunks, key)
    const chunk = this.#chunks[at]!
    const i = lowerBound(chunk.keys, key)
    chunk.keys.splice(i, 1)
    chunk.values.splice(i, 1)
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1)
    if (isAsserting) assert(() => isOrdered(this.#chunks, at), 'chunks are in order, and none is empty')
    return true
  }

  /**
   * Iterates over the values whose keys start with `prefix`, in order; with `after`, only those of later keys. The map
   * must not change during the iteration.
   */
  *rangePrefix(prefix: string, after?: string): IterableIterator<V> {
    const isBehind = after !== undefined && after >= prefix
    const from = isBehind ? after : prefix
    let at = chunkOf(this.#chunks, from)
    let i = lowerBound(this.#chunks[at]!.keys, from)
    for (; at < this.#chunks.length; at++, i = 0) {
      const { keys, values } = this.#chunks[at]!
      for (; i < keys.length; i++) {
        const key = keys[i]!
        if (!key.startsWith(prefix)) {
          if (key > prefix) return
          continue
        }
        if (isBehind && key === after) continue
        yield values[i]!
      }
    }
  }

  /**
   * Returns a copy of the values of `rangePrefix`, at most `limit` of them. `behind` is the number of remaining values.
   * The cost depends on the number of values copied, not on `behind`.
   */
  snapshot(prefix: string, after?: string, limit = Infinity): { values: V[]; behind: number } {
    const isBehind = after !== undefined && after >= prefix
    const first = this.#positionOf(isBehind ? after : prefix)
    const end = successor(prefix)
    const last = end === undefined ? { at: this.#chunks.length, i: 0 } : this.#positionOf(end)
    if (isBehind && this.#chunks[first.at]?.keys[first.i] === after) first.i++
    const values: V[] = []
    let behind = 0
    for (let { at, i } = first; at < this.#chunks.length && at <= last.at; at++, i = 0) {
      const chunk = this.#chunks[at]!.values
      const stop = at === last.at ? last.i : chunk.length
      const wanted = Math.min(stop, i + limit - values.length)
      for (; i < wanted; i++) values.push(chunk[i]!)
      behind += Math.max(0, stop - i)
    }
    return { values, behind }
  }

  /** Returns the position of the first key that is not before `key`; it may be one past the end of its chunk. */
  #positionOf(key: string): { at: number; i: number } {
    const at = chunkOf(this.#chunks, key)
    return { at, i: lowerBound(this.#chunks[at]!.keys, key) }
  }

  /** Iterates over all values in key order. */
  values(): IterableIterator<V> {
    return this.rangePrefix('')
  }

  #split(at: number): void {
    const chunk = this.#chunks[at]!
    const half = chunk.keys.length >> 1
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), values: chunk.values.splice(half) })
  }
}

/** Returns the first string after all strings that start with `prefix`; undefined if there is none. */
function successor(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const code = prefix.charCodeAt(length - 1)
    if (code < 0xffff) return prefix.slice(0, length - 1) + String.fromCharCode(code + 1)
  }
  return undefined
}
