/** A lower and an upper bound: of a size, or of a cost. */
export interface Range {
  min: number
  max: number
}

/** The maximum of Go's uint64, used as infinity: sums and products stop there. */
export const unbounded = 2 ** 64

const cap = (n: number) => Math.min(n, unbounded)

export const fixed = (n: number): Range => ({ min: n, max: n })
export const unknownSize: Range = { min: 0, max: unbounded }
export const noCost: Range = fixed(0)
export const unitCost: Range = fixed(1)

export const plus = (...ranges: Range[]): Range => ({
  min: cap(ranges.reduce((sum, range) => sum + range.min, 0)),
  max: cap(ranges.reduce((sum, range) => sum + range.max, 0)),
})

// 0 × unbounded is 0.
const product = (a: number, b: number) => (a === 0 || b === 0 ? 0 : cap(a * b))

export const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) })

/** Multiplies by a factor and rounds up. */
export const scaled = (range: Range, factor: number): Range => ({
  min: cap(Math.ceil(range.min * factor)),
  max: cap(Math.ceil(range.max * factor)),
})

/** The smallest range that contains both. */
export const either = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })
