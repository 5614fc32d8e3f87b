import { assert } from '../../base/assert.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'

interface Interval {
  readonly first: number
  readonly last: number
}

/** An immutable set of completion indexes, stored and printed as intervals: `0,2-5`. */
export class IndexSet {
  static readonly empty = new IndexSet([])
  /** Sorted, with a gap between any two. */
  readonly #intervals: readonly Interval[]
  readonly size: number
  #text: string | undefined

  private constructor(intervals: readonly Interval[]) {
    assert(
      () => intervals.every(({ first, last }, i) => first <= last && (i === 0 || intervals[i - 1]!.last + 1 < first)),
      'intervals are sorted, with a gap between any two',
    )
    this.#intervals = intervals
    this.size = intervals.reduce((size, { first, last }) => size + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): IndexSet {
    const intervals = Array.from(indexes, (index) => ({ first: index, last: index }))
    return intervals.length === 0 ? IndexSet.empty : IndexSet.#joined(intervals.sort(byFirst))
  }

  /** Parses the text of a status or a policy. Invalid intervals, and indexes not below `completions`, are omitted. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (!text) return IndexSet.empty
    const intervals = text.split(',').flatMap((part): Interval[] => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?]
      return first <= last && first < completions ? [{ first, last: Math.min(last, completions - 1) }] : []
    })
    return IndexSet.#joined(intervals.sort(byFirst))
  }

  /** The set of these intervals, which are sorted by their first index. */
  static #joined(intervals: Iterable<Interval>): IndexSet {
    const joined: Interval[] = []
    for (const interval of intervals) {
      const before = joined.at(-1)
      if (!before || interval.first > before.last + 1) joined.push(interval)
      else if (interval.last > before.last) joined[joined.length - 1] = { first: before.first, last: interval.last }
    }
    return new IndexSet(joined)
  }

  has(index: number): boolean {
    const interval = this.#intervals[this.#placeOf(index)]
    return interval !== undefined && interval.first <= index
  }

  union(other: IndexSet): IndexSet {
    if (other.#intervals.length === 0) return this
    return this.#intervals.length === 0 ? other : IndexSet.#joined(inOrder(this.#intervals, other.#intervals))
  }

  /** The number of indexes in both sets. */
  sharedWith(other: IndexSet): number {
    const [a, b] = [this.#intervals, other.#intervals]
    let shared = 0
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      shared += Math.max(0, Math.min(a[i]!.last, b[j]!.last) - Math.max(a[i]!.first, b[j]!.first) + 1)
      if (a[i]!.last < b[j]!.last) i++
      else j++
    }
    return shared
  }

  /** Kubernetes' format: two neighbours are separated by a comma, more by a hyphen. */
  toString(): string {
    return (this.#text ??= this.#intervals.map(textOf).join(','))
  }

  /** The position of the first interval that does not end before this index. */
  #placeOf(index: number): number {
    let [from, to] = [0, this.#intervals.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.#intervals[middle]!.last < index) from = middle + 1
      else to = middle
    }
    return from
  }
}

const byFirst = (a: Interval, b: Interval): number => a.first - b.first

const textOf = ({ first, last }: Interval): string =>
  first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`

/** Merges two sorted lists. */
function* inOrder(a: readonly Interval[], b: readonly Interval[]): Generator<Interval> {
  let j = 0
  for (const interval of a) {
    while (j < b.length && b[j]!.first < interval.first) yield b[j++]!
    yield interval
  }
  while (j < b.length) yield b[j++]!
}

/**
 * The completion indexes that need a pod, the lowest first. Each index is visited once, and again only when it becomes
 * free again.
 */
export class FreeIndexes {
  readonly #completions: number
  readonly #isTaken: (index: number) => boolean
  /** Visited indexes below `#next` that were free, or have become free since. */
  #passed = lowestFirst()
  #next = 0
  #done = IndexSet.empty

  /** `isTaken` reports whether a pod has the index. */
  constructor(completions: number, isTaken: (index: number) => boolean) {
    this.#completions = completions
    this.#isTaken = isTaken
  }

  /** Sets the finished indexes. They stay finished, unless a user edits the status. */
  know(done: IndexSet): void {
    if (done === this.#done) return
    if (done.sharedWith(this.#done) < this.#done.size) {
      this.#passed = lowestFirst()
      this.#next = 0
    }
    this.#done = done
  }

  /** The last pod of an index is gone, or the first was added. */
  change(index: number): void {
    if (index >= this.#next) return
    if (this.#isTaken(index)) this.#passed.delete(index)
    else this.#passed.set(index, index)
  }

  /** The first `count` free indexes. */
  first(count: number): number[] {
    const found: number[] = []
    while (found.length < count && this.#passed.size > 0) {
      const index = this.#passed.pop()!
      if (!this.#done.has(index)) found.push(index)
    }
    for (; found.length < count && this.#next < this.#completions; this.#next++) {
      if (!this.#isTaken(this.#next) && !this.#done.has(this.#next)) found.push(this.#next)
    }
    for (const index of found) this.#passed.set(index, index)
    return found
  }
}

const lowestFirst = () => new KeyedHeap<number, number>((a, b) => a < b)
