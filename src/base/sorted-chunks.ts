/**
 * A sorted list in chunks, so that an insert moves at most the slots of one chunk. The keys of all chunks ascend, and no
 * chunk is empty while there is another.
 */
export interface SortedChunk {
  readonly keys: string[]
}

/** Returns the index of the last chunk whose first key is not after `key`, or 0. */
export function chunkOf(chunks: readonly SortedChunk[], key: string): number {
  let low = 0
  let high = chunks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (chunks[middle]!.keys[0]! <= key) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns the index of the first key that is not before `key`. */
export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Checks the order of a changed chunk and of those beside it. */
export function isOrdered(chunks: readonly SortedChunk[], changed: number): boolean {
  const around = chunks.slice(Math.max(0, changed - 1), changed + 3)
  const ends = around.flatMap(({ keys }) => (keys.length > 1 ? [keys[0]!, keys.at(-1)!] : keys))
  const isFilled = chunks.length === 1 || around.every(({ keys }) => keys.length > 0)
  return isFilled && ends.every((key, i) => i === 0 || ends[i - 1]! < key)
}
