const chunkLimit = 512

interface Chunk<V> {
  keys: string[]
  values: V[]
}

/**
 * A map whose entries come in order of their keys. Entries live in chunks of at most 512, in order, so that an insert moves a few
 * hundred slots at most, whatever the size; ranges run straight through memory.
 */
export class OrderedMap<V> {
  /** In order; none is empty, except the only one of an empty map. */
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
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]!
    const i = lowerBound(chunk.keys, key)
    if (!isNew) {
      chunk.values[i] = value
      return
    }
    chunk.keys.splice(i, 0, key)
    chunk.values.splice(i, 0, value)
    if (chunk.keys.length > chunkLimit) this.#split(at)
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]!
    const i = lowerBound(chunk.keys, key)
    chunk.keys.splice(i, 1)
    chunk.values.splice(i, 1)
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1)
    return true
  }

  /** Values whose key starts with `prefix`, in order; with `after`, only those of keys behind it. The map must not change meanwhile. */
  *rangePrefix(prefix: string, after?: string): IterableIterator<V> {
    const isBehind = after !== undefined && after >= prefix
    const from = isBehind ? after : prefix
    let at = this.#chunkOf(from)
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
   * The same values as `rangePrefix`, at most `limit` of them, as they are now: the map may change afterwards. `behind`
   * is how many more there are. Costs what is copied, not what is behind.
   */
  snapshot(prefix: string, after?: string, limit = Infinity): { values: V[]; behind: number } {
    const isBehind = after !== undefined && after >= prefix
    const first = this.#placeOf(isBehind ? after : prefix)
    const end = successor(prefix)
    const last = end === undefined ? { at: this.#chunks.length, i: 0 } : this.#placeOf(end)
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

  /** Where the first key is that is not before `key`; the place may be one behind the last of its chunk. */
  #placeOf(key: string): { at: number; i: number } {
    const at = this.#chunkOf(key)
    return { at, i: lowerBound(this.#chunks[at]!.keys, key) }
  }

  /** All values, in order of their keys. */
  values(): IterableIterator<V> {
    return this.rangePrefix('')
  }

  /** The last chunk whose first key is not behind `key`. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle
      else high = middle - 1
    }
    return low
  }

  #split(at: number): void {
    const chunk = this.#chunks[at]!
    const half = chunk.keys.length >> 1
    this.#chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), values: chunk.values.splice(half) })
  }
}

/** The first text that is behind all that start with `prefix`; undefined where none is. */
function successor(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const code = prefix.charCodeAt(length - 1)
    if (code < 0xffff) return prefix.slice(0, length - 1) + String.fromCharCode(code + 1)
  }
  return undefined
}

/** The first index whose key is not before `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}
