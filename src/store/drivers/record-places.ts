import { closeSync, openSync, readSync } from 'node:fs'
import { loadedBuffer } from '../../base/kept-bytes.ts'
import { isIntact } from '../record-codec.ts'

/**
 * Records that were written one after the other are mostly read in that order. Reading this much ahead costs little
 * more than reading one of them.
 */
const aheadBytes = 1 << 18
/** The next record begins at most so far behind the last one, if they are in order. */
const mostGap = 1 << 14

/**
 * File offsets of the records that existed when the file was opened, so that they can be read without LMDB. Pages read
 * through LMDB's map count as memory of this process; a server that loads 100,000 objects of 4 KB would appear to hold
 * them twice.
 */
export class RecordPlaces {
  // Parallel arrays, ascending by revision. Offsets of removed records stay; `read` detects them.
  #revisions: number[] = []
  #positions: number[] = []
  #sizes: number[] = []
  #file: number | undefined
  /** A part of the file that was read ahead of the records in it. */
  #ahead: Buffer | undefined
  #aheadStart = 0
  #aheadEnd = 0
  /** The end of the last record that was read. */
  #lastEnd = Infinity

  add(revision: number, position: number, size: number): void {
    this.#revisions.push(revision)
    this.#positions.push(position)
    this.#sizes.push(size)
  }

  open(path: string): void {
    this.#file = openSync(path, 'r')
  }

  /** Returns the bytes of a record; undefined if it did not exist or was removed. */
  read(revision: number): Buffer | undefined {
    const at = this.#find(revision)
    if (at === undefined || this.#file === undefined) return undefined
    const bytes = loadedBuffer(this.#sizes[at]!)
    // Pages of a removed record are reused.
    return this.#copy(this.#file, this.#positions[at]!, bytes) && isIntact(bytes, revision) ? bytes : undefined
  }

  /** Copies bytes of the file. False if it ends before. */
  #copy(file: number, position: number, to: Buffer): boolean {
    const end = position + to.length
    const isBehind = position >= this.#lastEnd && position < this.#lastEnd + mostGap
    this.#lastEnd = end
    const isAhead = position >= this.#aheadStart && end <= this.#aheadEnd
    if (!isAhead && !(isBehind && to.length <= aheadBytes))
      return readSync(file, to, 0, to.length, position) === to.length
    this.#ahead ??= Buffer.allocUnsafeSlow(aheadBytes)
    if (!isAhead) {
      this.#aheadStart = position
      this.#aheadEnd = position + readSync(file, this.#ahead, 0, aheadBytes, position)
    }
    return this.#ahead.copy(to, 0, position - this.#aheadStart, end - this.#aheadStart) === to.length
  }

  /** Records were removed: what was read ahead may be among them. */
  changed(): void {
    this.#ahead = undefined
    this.#aheadEnd = 0
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #find(revision: number): number | undefined {
    let low = 0
    let high = this.#revisions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#revisions[middle]! < revision) low = middle + 1
      else high = middle
    }
    return this.#revisions[low] === revision ? low : undefined
  }
}
