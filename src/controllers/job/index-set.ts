interface Interval {
  readonly first: number
  readonly last: number
}

/** A set of completion indexes, kept and written as intervals: `0,2-5`. Never changes. */
export class IndexSet {
  static readonly empty = new IndexSet([])
  /** In order, with a gap between any two. */
  readonly #intervals: readonly Interval[]
  readonly size: number
  #text: string | undefined

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
    this.size = intervals.reduce((size, { first, last }) => size + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): IndexSet {
    const intervals = Array.from(indexes, (index) => ({ first: index, last: index }))
    return intervals.length === 0 ? IndexSet.empty : IndexSet.#joined(intervals.sort(byFirst))
  }

  /** Reads what a status or a policy says. What is no interval, or not below `completions`, is left out. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (!text) return IndexSet.empty
    const intervals = text.split(',').flatMap((part): Interval[] => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?]
      return first <= last && first < completions ? [{ first, last: Math.min(last, completions - 1) }] : []
    })
    return IndexSet.#joined(intervals.sort(byFirst))
  }

  /** The set of these intervals, which are in the order of their first indexes. */
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

  /** How many indexes are in both. */
  sharedWith(other: IndexSet): number {
    const [a, b] = [this.#intervals, other.#intervals]
    let shared = 0
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      shared += Math.max(0, Math.min(a[i]!.last, b[j]!.last) - Math.max(a[i]!.first, b[j]!.first) + 1)
      if (a[i]!.last < b[j]!.last) i++
      else j++
    }
    return shared
  }

  /** As Kubernetes writes it: two neighbours with a comma, more with a hyphen. */
  toString(): string {
    return (this.#text ??= this.#intervals.map(textOf).join(','))
  }

  /** The place of the first interval that does not end before this index. */
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

/** Both lists as one. */
function* inOrder(a: readonly Interval[], b: readonly Interval[]): Generator<Interval> {
  let j = 0
  for (const interval of a) {
    while (j < b.length && b[j]!.first < interval.first) yield b[j++]!
    yield interval
  }
  while (j < b.length) yield b[j++]!
}
