import { parseDuration } from '../../base/duration.ts'

const dayMs = 24 * 3_600_000

/** Parses `30d`, `4w`, `6h`, `1h30m`. Undefined for other texts. */
export function parseWindow(text: string): number | undefined {
  const [, amount, unit] = /^(\d+)([dw])$/.exec(text) ?? []
  return amount ? Number(amount) * (unit === 'w' ? 7 : 1) * dayMs : parseDuration(text)
}

const units: [string, number][] = [
  ['d', dayMs],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]

/** Prometheus' format in the largest unit without a remainder: `30d`, `90m`. */
export function printWindow(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${ms / length}${unit}`
}

/** A window moves in steps of this fraction of its length. */
const slotsPerWindow = 120

const zeros = (length: number): number[] => Array.from({ length }, () => 0)

/**
 * Sums over a sliding window, in memory that does not depend on the number of events. An event counts for the length of
 * the window, and at most one slot (a 120th of the window) longer.
 */
export class SlidingSums {
  readonly windowMs: number
  readonly #size: number
  readonly #slotMs: number
  /**
   * Non-empty slots, oldest first: the index of each (its time divided by the length of a slot), then its sums. Flat,
   * because there are many.
   */
  #slots: number[] = []
  /** Always equal to the sum over `#slots`. */
  readonly #totals: number[]

  /** `size` is the number of parallel sums. */
  constructor(windowMs: number, size: number) {
    this.windowMs = windowMs
    this.#size = size
    this.#slotMs = windowMs / slotsPerWindow
    this.#totals = zeros(size)
  }

  /** Adds one to each of the given sums. Time may go back. Events before the window are not counted. */
  add(atMs: number, nowMs: number, which: readonly number[]): void {
    this.#forget(nowMs)
    const index = this.#indexOf(Math.min(atMs, nowMs))
    if (index < this.#oldest(nowMs)) return
    const at = this.#slotAt(index)
    for (const i of which) {
      this.#slots[at + 1 + i]!++
      this.#totals[i]!++
    }
  }

  totals(nowMs: number): readonly number[] {
    this.#forget(nowMs)
    return this.#totals
  }

  /** The window in `parts` equal parts, oldest first. */
  history(nowMs: number, parts: number): number[][] {
    this.#forget(nowMs)
    const pieces = Array.from({ length: parts }, () => zeros(this.#size))
    for (let at = 0; at < this.#slots.length; at += this.#stride) {
      const age = this.#slots[at]! - this.#oldest(nowMs) - 1
      const piece = pieces[Math.max(0, Math.floor((age * parts) / slotsPerWindow))]!
      for (let i = 0; i < this.#size; i++) piece[i]! += this.#slots[at + 1 + i]!
    }
    return pieces
  }

  /** Adds the sums of another window of the same length and size. */
  take(other: SlidingSums, nowMs: number): void {
    this.#forget(nowMs)
    other.#forget(nowMs)
    for (let from = 0; from < other.#slots.length; from += this.#stride) {
      const at = this.#slotAt(other.#slots[from]!)
      for (let i = 0; i < this.#size; i++) {
        this.#slots[at + 1 + i]! += other.#slots[from + 1 + i]!
        this.#totals[i]! += other.#slots[from + 1 + i]!
      }
    }
  }

  /** The data to keep across a restart. */
  save(): number[] {
    return this.#slots.slice()
  }

  /** Restores data of `save` of a window of the same length and size. Other data is ignored. */
  restore(saved: readonly number[]): void {
    if (saved.length % this.#stride !== 0) return
    this.#slots = saved.slice()
    this.#totals.fill(0)
    for (let at = 0; at < saved.length; at += this.#stride) this.#total(at, 1)
  }

  get #stride(): number {
    return this.#size + 1
  }

  #indexOf(ms: number): number {
    return Math.floor(ms / this.#slotMs)
  }

  #oldest(nowMs: number): number {
    return this.#indexOf(nowMs) - slotsPerWindow
  }

  #total(at: number, sign: 1 | -1): void {
    for (let i = 0; i < this.#size; i++) this.#totals[i]! += sign * this.#slots[at + 1 + i]!
  }

  #forget(nowMs: number): void {
    const oldest = this.#oldest(nowMs)
    let end = 0
    for (; end < this.#slots.length && this.#slots[end]! < oldest; end += this.#stride) this.#total(end, -1)
    if (end > 0) this.#slots.splice(0, end)
  }

  /** The position of the slot with this index, which is created if necessary. */
  #slotAt(index: number): number {
    // From the end, because nearly all events are recent.
    let at = this.#slots.length - this.#stride
    while (at >= 0 && this.#slots[at]! > index) at -= this.#stride
    if (at >= 0 && this.#slots[at] === index) return at
    const made = at + this.#stride
    this.#slots.splice(made, 0, index, ...zeros(this.#size))
    return made
  }
}
