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
  if (chunks.length === 1) return isAscending(chunks[0]!.keys)
  const end = Math.min(chunks.length, changed + 3)
  for (let at = Math.max(0, changed - 1); at < end; at++) {
    const { keys } = chunks[at]!
    if (keys.length === 0 || !isAscending(keys)) return false
    if (at + 1 < end && !(keys.at(-1)! < chunks[at + 1]!.keys[0]!)) return false
  }
  return true
}

/** Compares the ends only: the check runs after each change. */
const isAscending = (keys: readonly string[]): boolean => keys.length < 2 || keys[0]! < keys.at(-1)!
