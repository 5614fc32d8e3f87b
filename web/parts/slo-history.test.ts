import { describe, expect, it } from 'vitest'
import { budgetLeft, burnRates } from './slo-history.ts'

const pieces = [{ events: 50, bad: 0 }, { events: 0, bad: 0 }, { events: 50, bad: 2 }, { events: 100, bad: 1 }]
const rounded = (values: readonly (number | null)[]) => values.map((value) => value && Math.round(value * 100) / 100)

describe('burnRates()', () => {
  it('tells each piece by its own events, and nothing of a piece without any', () => {
    expect(rounded(burnRates(pieces, 4000, 10_000, 0.99).values)).toEqual([0, null, 4, 1])
  })

  it('ends at the time of the report', () => {
    expect(burnRates(pieces, 4000, 10_000, 0.99).times).toEqual([7, 8, 9, 10])
  })
})

describe('budgetLeft()', () => {
  it('is spent by the bad events of the window, piece after piece', () => {
    expect(rounded(budgetLeft(pieces, 4000, 10_000, 0.99).values)).toEqual([1, 1, 0, -0.5])
  })

  it('is whole where nothing has happened', () => {
    expect(budgetLeft([{ events: 0, bad: 0 }], 1000, 1000, 0.99).values).toEqual([1])
  })
})
