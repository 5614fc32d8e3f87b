import { closeSync, openSync, readSync } from 'node:fs'
import { isIntact } from '../record-codec.ts'

/**
 * Where the records that were in the file when it was opened lie, so that they can be read past LMDB. What is read from
 * LMDB's map counts as memory of this process; a server that loads 100,000 objects of 4 KB would seem to have them twice.
 */
export class RecordPlaces {
  // Parallel; ascending by revision. Places of records that have been removed stay, which reading finds out.
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

  /** The record's bytes; undefined if it was not there, or is not any more. */
  read(revision: number): Buffer | undefined {
    const at = this.#find(revision)
    if (at === undefined || this.#file === undefined) return undefined
    const size = this.#sizes[at]!
    const bytes = Buffer.allocUnsafeSlow(size)
    const got = readSync(this.#file, bytes, 0, size, this.#positions[at]!)
    // The pages of a removed record are used again.
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
