import { closeSync, openSync, readSync } from 'node:fs'
import { isIntact } from '../record-codec.ts'

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
    const size = this.#sizes[at]!
    const bytes = Buffer.allocUnsafeSlow(size)
    const got = readSync(this.#file, bytes, 0, size, this.#positions[at]!)
    // Pages of a removed record are reused.
    return got === size && isIntact(bytes, revision) ? bytes : undefined
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
