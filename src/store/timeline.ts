/** Remembers when revisions were committed. */
export class Timeline {
  // Parallel and ascending. revisions[i] was the newest at times[i]; a millisecond has one entry.
  #times: number[] = []
  #revisions: number[] = []

  /** Both must not be smaller than those before. */
  add(timeMs: number, revision: number): void {
    const last = this.#times.length - 1
    if (this.#times[last] === timeMs) {
      this.#revisions[last] = revision
      return
    }
    this.#times.push(timeMs)
    this.#revisions.push(revision)
  }

  /** The newest revision at or before that time; undefined if all that is remembered is newer. */
  revisionAt(timeMs: number): number | undefined {
    return this.#revisions[upperBound(this.#times, timeMs) - 1]
  }

  /** When the revision was committed, or the nearest later time that is remembered. */
  timeOf(revision: number): number | undefined {
    return this.#times[upperBound(this.#revisions, revision - 1)]
  }

  get lastTimeMs(): number {
    return this.#times[this.#times.length - 1] ?? 0
  }

  /** Forgets what is older than the revision. */
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
