import { otherValue } from './groups.ts'

/** A group: the values of its labels, and its data. */
export interface GroupEntry<T> {
  readonly values: readonly string[]
  readonly item: T
  /** The time of the last event, or of its creation. */
  lastMs: number
}

export interface GroupTableOptions<T> {
  /** The maximum number of groups with an entry. All others share one. */
  maxGroups: number
  make(values: readonly string[]): T
  /** Merges the data of an evicted group into the shared entry. */
  fold?(item: T, into: T): void
  nowMs(): number
}

/**
 * Entries by group of pods. A group without pods is evicted if another one needs its entry, least recently used first,
 * so only groups with pods can exceed the limit.
 */
export class GroupTable<T> {
  readonly #options: GroupTableOptions<T>
  readonly #entries = new Map<string, GroupEntry<T>>()
  /** The number of label sets with pods per group. */
  readonly #live = new Map<string, number>()

  constructor(options: GroupTableOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  values(): IterableIterator<GroupEntry<T>> {
    return this.#entries.values()
  }

  /** A group has pods, and gets an entry if there is room. */
  appeared(values: readonly string[]): void {
    const key = keyOf(values)
    this.#live.set(key, (this.#live.get(key) ?? 0) + 1)
    this.#entry(key, values)
  }

  vanished(values: readonly string[]): void {
    const key = keyOf(values)
    const left = (this.#live.get(key) ?? 0) - 1
    if (left > 0) this.#live.set(key, left)
    else this.#live.delete(key)
  }

  /** The entry of a group: its own, or the shared one if there is no room. */
  of(values: readonly string[]): { entry: GroupEntry<T>; isOther: boolean } {
    const own = this.#entry(keyOf(values), values)
    const entry = own ?? this.#other(values.length)
    entry.lastMs = this.#options.nowMs()
    return { entry, isOther: own === undefined }
  }

  /** Restores an entry from a snapshot, regardless of the limit. */
  restore(values: readonly string[]): GroupEntry<T> {
    return this.#add(keyOf(values), values)
  }

  /** Removes groups without pods that match. */
  expire(isOver: (entry: GroupEntry<T>) => boolean): void {
    for (const [key, entry] of this.#entries) if (!this.#live.has(key) && isOver(entry)) this.#entries.delete(key)
  }

  #entry(key: string, values: readonly string[]): GroupEntry<T> | undefined {
    const found = this.#entries.get(key)
    if (found) return found
    return isOther(values) || this.#hasRoom(values.length) ? this.#add(key, values) : undefined
  }

  #hasRoom(width: number): boolean {
    const others = this.#entries.has(otherKey(width)) ? 1 : 0
    if (this.#entries.size - others < this.#options.maxGroups) return true
    let quietest: [key: string, entry: GroupEntry<T>] | undefined
    for (const [key, entry] of this.#entries) {
      if (this.#live.has(key) || isOther(entry.values)) continue
      if (!quietest || entry.lastMs < quietest[1].lastMs) quietest = [key, entry]
    }
    if (!quietest) return false
    this.#entries.delete(quietest[0])
    this.#options.fold?.(quietest[1].item, this.#other(width).item)
    return true
  }

  #other(width: number): GroupEntry<T> {
    const values = Array.from({ length: width }, () => otherValue)
    return this.#entries.get(keyOf(values)) ?? this.#add(keyOf(values), values)
  }

  #add(key: string, values: readonly string[]): GroupEntry<T> {
    const made = { values, item: this.#options.make(values), lastMs: this.#options.nowMs() }
    this.#entries.set(key, made)
    return made
  }
}

const keyOf = (values: readonly string[]): string => JSON.stringify(values)
const otherKey = (width: number): string => keyOf(Array.from({ length: width }, () => otherValue))
const isOther = (values: readonly string[]): boolean =>
  values.length > 0 && values.every((value) => value === otherValue)
