interface Interval {
  first: number
  last: number
}

/** A set of completion indexes, kept and written as intervals: `0,2-5`. Never changes. */
export class IndexSet {
  static readonly empty = new IndexSet([])
  /** In order, with a gap between any two. */
  readonly #intervals: readonly Interval[]

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
  }

  static of(indexes: Iterable<number>): IndexSet {
    return IndexSet.#joined([...indexes].map((index) => ({ first: index, last: index })))
  }

  /** Reads what a status or a policy says. What is no interval, or not below `completions`, is left out. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (!text) return IndexSet.empty
    const intervals = text.split(',').flatMap((part): Interval[] => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?]
      return first <= last && first < completions ? [{ first, last: Math.min(last, completions - 1) }] : []
    })
    return IndexSet.#joined(intervals)
  }

  static #joined(intervals: Interval[]): IndexSet {
    const joined: Interval[] = []
    for (const { first, last } of intervals.sort((a, b) => a.first - b.first)) {
      const before = joined.at(-1)
      if (!before || first > before.last + 1) joined.push({ first, last })
      else before.last = Math.max(before.last, last)
    }
    return new IndexSet(joined)
  }

  get size(): number {
    return this.#intervals.reduce((size, { first, last }) => size + last - first + 1, 0)
  }

  has(index: number): boolean {
    return this.#intervals.some(({ first, last }) => first <= index && index <= last)
  }

  union(other: IndexSet): IndexSet {
    return other.#intervals.length === 0 ? this : IndexSet.#joined([...this.#intervals, ...other.#intervals])
  }

  /** How many indexes are in both. */
  sharedWith(other: IndexSet): number {
    let shared = 0
    for (const a of this.#intervals) {
      for (const b of other.#intervals) shared += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1)
    }
    return shared
  }

  /** The first `count` indexes below `completions` that are not in the set. */
  missing(count: number, completions: number): number[] {
    const found: number[] = []
    let next = 0
    const take = (end: number) => {
      for (; next < end && found.length < count; next++) found.push(next)
    }
    for (const { first, last } of this.#intervals) {
      take(Math.min(first, completions))
      next = Math.max(next, last + 1)
    }
    take(completions)
    return found
  }

  /** As Kubernetes writes it: two neighbours with a comma, more with a hyphen. */
  toString(): string {
    return this.#intervals.map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`)).join(',')
  }
}
