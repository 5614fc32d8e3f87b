import { toSortKey } from './byte-order.ts'

/** One state of a key. The chain through `older` goes back as far as history is kept. */
export interface Version {
  readonly key: string
  readonly revision: number
  /** 0 says that the key was deleted at `revision`. */
  readonly createRevision: number
  /** Always of a smaller revision. Cut when history is forgotten. */
  older: Version | undefined
}

/** A run of neighbouring keys. */
interface Chunk {
  /** Sort keys, ascending; never empty while the chunk is in the index. */
  keys: string[]
  /** heads[i] is the newest version of keys[i]. */
  heads: Version[]
  /** How many heads are not tombstones. */
  live: number
  /** No head is newer. May be too high after a revert, which only costs time. */
  newest: number
}

/** Where a key is, or would be. */
interface Place {
  readonly sortKey: string
  /** Of the chunk, which is undefined only in an empty index. */
  readonly index: number
  readonly chunk: Chunk | undefined
  /** Within the chunk. */
  readonly at: number
  readonly isThere: boolean
}

// Splicing 256 pointers costs less than the search that found the place; 200,000 keys are then about 1,000 chunks.
const maxKeys = 256

/** The newest version of every key, in byte order. Finding a key is O(log n); a scan is that plus what it returns. */
export class KeyIndex {
  #chunks: Chunk[] = []
  /** Where the last search ended: a write looks its key up before it puts it. Void once keys have moved. */
  #place: Place | undefined

  /** The newest version, a tombstone included. */
  head(key: string): Version | undefined {
    const { chunk, at, isThere } = this.#locate(key)
    return isThere ? chunk!.heads[at] : undefined
  }

  /** Makes `version` the newest of its key. Its `older` must be the head that it replaces. */
  put(version: Version): void {
    const { sortKey, index, chunk, at, isThere } = this.#locate(version.key)
    if (isThere) {
      this.#replace(chunk!, at, version)
      return
    }
    this.#place = undefined
    if (!chunk) {
      this.#chunks.push({ keys: [sortKey], heads: [version], live: liveness(version), newest: version.revision })
      return
    }
    chunk.keys.splice(at, 0, sortKey)
    chunk.heads.splice(at, 0, version)
    chunk.live += liveness(version)
    if (version.revision > chunk.newest) chunk.newest = version.revision
    if (chunk.keys.length > maxKeys) this.#split(index, at)
  }

  /** Undoes the `put` of a version that is still the newest of its key. */
  revert(version: Version): void {
    if (!version.older) {
      this.remove(version)
      return
    }
    const { chunk, at } = this.#locateHead(version)
    this.#replace(chunk!, at, version.older)
  }

  /** Forgets the key whose newest version this is. */
  remove(version: Version): void {
    const { index, chunk, at } = this.#locateHead(version)
    this.#place = undefined
    chunk!.live -= liveness(version)
    chunk!.keys.splice(at, 1)
    chunk!.heads.splice(at, 1)
    if (chunk!.keys.length === 0) this.#chunks.splice(index, 1)
  }

  /** What the keys under `prefix` were at `revision`, at most `limit` of them, and how many more there were behind. */
  scan(prefix: string, revision: number, after: string | undefined, limit: number): { found: Version[]; remaining: number } {
    const start = toSortKey(prefix)
    const behind = after === undefined ? undefined : toSortKey(after)
    const from = behind !== undefined && behind >= start ? behind : start
    const found: Version[] = []
    let remaining = 0
    for (let index = Math.max(0, this.#chunkFor(from)); index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index]!
      const { keys, heads } = chunk
      let at = lowerBound(keys, from)
      if (from === behind && keys[at] === from) at++
      if (at === 0 && found.length >= limit && chunk.newest <= revision && keys[keys.length - 1]!.startsWith(start)) {
        remaining += chunk.live
        continue
      }
      for (; at < keys.length; at++) {
        if (!keys[at]!.startsWith(start)) {
          // A key before the prefix is met only where `after` lies before it, and then the search began at the prefix.
          return { found, remaining }
        }
        const version = stateAt(heads[at], revision)
        if (!version) continue
        if (found.length < limit) found.push(version)
        else remaining++
      }
    }
    return { found, remaining }
  }

  /** The last chunk that starts at or before the key; the first one for a key before all. */
  #chunkFor(sortKey: string): number {
    const chunks = this.#chunks
    let low = 0
    let high = chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (chunks[middle]!.keys[0]! <= sortKey) low = middle
      else high = middle - 1
    }
    return low
  }

  #locate(key: string): Place {
    const sortKey = toSortKey(key)
    if (this.#place?.sortKey === sortKey) return this.#place
    const index = this.#chunkFor(sortKey)
    const chunk = this.#chunks[index]
    const at = chunk ? lowerBound(chunk.keys, sortKey) : 0
    this.#place = { sortKey, index, chunk, at, isThere: chunk?.keys[at] === sortKey }
    return this.#place
  }

  #locateHead(version: Version): Place {
    const place = this.#locate(version.key)
    if (place.chunk?.heads[place.at] !== version) throw new Error(`revision ${version.revision} is not the newest of its key`)
    return place
  }

  #replace(chunk: Chunk, at: number, version: Version): void {
    chunk.live += liveness(version) - liveness(chunk.heads[at]!)
    chunk.heads[at] = version
    if (version.revision > chunk.newest) chunk.newest = version.revision
  }

  #split(index: number, insertedAt: number): void {
    const chunk = this.#chunks[index]!
    // Keys that come in order would leave every chunk half empty if it were split in the middle.
    const middle = insertedAt === maxKeys ? maxKeys : maxKeys >>> 1
    const heads = chunk.heads.splice(middle)
    const right: Chunk = { keys: chunk.keys.splice(middle), heads, live: 0, newest: 0 }
    for (const head of heads) {
      right.live += liveness(head)
      if (head.revision > right.newest) right.newest = head.revision
    }
    chunk.live -= right.live
    this.#chunks.splice(index + 1, 0, right)
  }
}

/** The version of the chain that was current at `revision`, unless the key did not exist then. */
export function stateAt(head: Version | undefined, revision: number): Version | undefined {
  let version = head
  while (version && version.revision > revision) version = version.older
  return version && version.createRevision > 0 ? version : undefined
}

function liveness(version: Version): number {
  return version.createRevision > 0 ? 1 : 0
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}
