import { assert, isAsserting } from '../base/assert.ts'

/** Maps revisions to commit times. */
export class Timeline {
  // Parallel ascending arrays: revisions[i] was the newest at times[i]. Each millisecond has one entry.
  #times: number[] = []
  #revisions: number[] = []

  /** Adds an entry. Neither value may be less than in the entry before. */
  add(timeMs: number, revision: number): void {
    const last = this.#times.length - 1
    if (isAsserting) assert(() => last < 0 || this.#times[last]! <= timeMs, 'commit times never decrease')
    if (isAsserting) assert(() => last < 0 || this.#revisions[last]! <= revision, 'revisions never decrease')
    if (this.#times[last] === timeMs) {
      this.#revisions[last] = revision
      return
    }
    this.#times.push(timeMs)
    this.#revisions.push(revision)
  }

  /** Returns the newest revision at or before that time; undefined if all known revisions are newer. */
  revisionAt(timeMs: number): number | undefined {
    return this.#revisions[upperBound(this.#times, timeMs) - 1]
  }

  /** Returns the commit time of a revision, or the next later known time. */
  timeOf(revision: number): number | undefined {
    return this.#times[upperBound(this.#revisions, revision - 1)]
  }

  get lastTimeMs(): number {
    return this.#times[this.#times.length - 1] ?? 0
  }

  /** Removes entries older than the revision. */
  forgetBefore(revision: number): void {
    const keep = upperBound(this.#revisions, revision - 1)
    this.#times.splice(0, keep)
    this.#revisions.splice(0, keep)
  }
}

function upperBound(values: readonly number[], value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}
