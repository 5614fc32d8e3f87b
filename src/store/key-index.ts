import { assert, isAsserting } from '../base/assert.ts'
import { type SortedChunk, chunkOf, isOrdered, lowerBound } from '../base/sorted-chunks.ts'
import { toSortKey } from './byte-order.ts'

/** One version of a key. The chain through `older` reaches back as far as the history. */
export interface Version {
  readonly key: string
  readonly revision: number
  /** 0 if the key was deleted at `revision`. */
  readonly createRevision: number
  /** The previous version, always with a smaller revision. Cut off by compaction. */
  older: Version | undefined
}

/** A range of consecutive keys. */
interface Chunk extends SortedChunk {
  /** heads[i] is the newest version of keys[i]. */
  readonly heads: Version[]
  /** Number of heads that are not tombstones. */
  live: number
  /** Upper bound of the revisions of the heads. May be too high after a revert, which only costs time. */
  newest: number
}

/** The position of a key, or the position to insert it at. */
interface Position {
  readonly sortKey: string
  /** Index of the chunk, which is undefined only if the index is empty. */
  readonly index: number
  readonly chunk: Chunk | undefined
  /** Index within the chunk. */
  readonly at: number
  readonly isThere: boolean
}

// Splicing 256 pointers costs less than the preceding search; 200,000 keys make about 1,000 chunks.
const maxKeys = 256

/** The newest version of every key, in byte order. Finding a key takes O(log n); a scan adds the number of results. */
export class KeyIndex {
  #chunks: Chunk[] = []
  /** Result of the last search: a write reads its key before it puts it. Cleared when keys move. */
  #position: Position | undefined

  /** Returns the newest version of a key, which may be a tombstone. */
  head(key: string): Version | undefined {
    const { chunk, at, isThere } = this.#locate(key)
    return isThere ? chunk!.heads[at] : undefined
  }

  /** Makes `version` the newest version of its key. `version.older` must be the current head. */
  put(version: Version): void {
    const { sortKey, index, chunk, at, isThere } = this.#locate(version.key)
    if (isAsserting)
      assert(() => version.older === (isThere ? chunk!.heads[at] : undefined), 'the older version is the current head')
    if (isAsserting)
      assert(
        () => !version.older || version.older.revision < version.revision,
        'the older version has a smaller revision',
      )
    if (isThere) {
      this.#replace(chunk!, at, version)
      return
    }
    this.#position = undefined
    if (!chunk) {
      this.#chunks.push({ keys: [sortKey], heads: [version], live: liveness(version), newest: version.revision })
      return
    }
    chunk.keys.splice(at, 0, sortKey)
    chunk.heads.splice(at, 0, version)
    chunk.live += liveness(version)
    if (version.revision > chunk.newest) chunk.newest = version.revision
    if (chunk.keys.length > maxKeys) this.#split(index, at)
    if (isAsserting) assert(() => isOrdered(this.#chunks, index), 'chunks are in order, and none is empty')
  }

  /** Reverts the `put` of a version that is still the head of its key. */
  revert(version: Version): void {
    if (!version.older) {
      this.remove(version)
      return
    }
    const { chunk, at } = this.#locateHead(version)
    this.#replace(chunk!, at, version.older)
  }

  /** Removes the key of this head. */
  remove(version: Version): void {
    const { index, chunk, at } = this.#locateHead(version)
    this.#position = undefined
    chunk!.live -= liveness(version)
    chunk!.keys.splice(at, 1)
    chunk!.heads.splice(at, 1)
    if (chunk!.keys.length === 0) this.#chunks.splice(index, 1)
    if (isAsserting) assert(() => isOrdered(this.#chunks, index), 'chunks are in order, and none is empty')
  }

  /** Returns the versions of keys under `prefix` at `revision`, at most `limit`, and the number of remaining ones. */
  scan(
    prefix: string,
    revision: number,
    after: string | undefined,
    limit: number,
  ): { found: Version[]; remaining: number } {
    const start = toSortKey(prefix)
    const behind = after === undefined ? undefined : toSortKey(after)
    const from = behind !== undefined && behind >= start ? behind : start
    const found: Version[] = []
    let remaining = 0
    for (let index = Math.max(0, chunkOf(this.#chunks, from)); index < this.#chunks.length; index++) {
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
          // A key before the prefix is only reached if `after` is before it, and then the search began at the prefix.
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

  #locate(key: string): Position {
    const sortKey = toSortKey(key)
    if (this.#position?.sortKey === sortKey) return this.#position
    const index = chunkOf(this.#chunks, sortKey)
    const chunk = this.#chunks[index]
    const at = chunk ? lowerBound(chunk.keys, sortKey) : 0
    this.#position = { sortKey, index, chunk, at, isThere: chunk?.keys[at] === sortKey }
    return this.#position
  }

  #locateHead(version: Version): Position {
    const position = this.#locate(version.key)
    if (position.chunk?.heads[position.at] !== version)
      throw new Error(`revision ${version.revision} is not the newest of its key`)
    return position
  }

  #replace(chunk: Chunk, at: number, version: Version): void {
    chunk.live += liveness(version) - liveness(chunk.heads[at]!)
    chunk.heads[at] = version
    if (version.revision > chunk.newest) chunk.newest = version.revision
  }

  #split(index: number, insertedAt: number): void {
    const chunk = this.#chunks[index]!
    // Splitting in the middle would leave every chunk half empty if keys are inserted in order.
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

/** Returns the version of the chain that was current at `revision`; undefined if the key did not exist then. */
export function stateAt(head: Version | undefined, revision: number): Version | undefined {
  let version = head
  while (version && version.revision > revision) version = version.older
  return version && version.createRevision > 0 ? version : undefined
}

function liveness(version: Version): number {
  return version.createRevision > 0 ? 1 : 0
}
