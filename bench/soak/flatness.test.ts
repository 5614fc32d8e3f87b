import { describe, expect, it } from 'vitest'
import { isFlat, lowest, secondHalf, trendOf } from './flatness.ts'

const series = (values: readonly number[]) => values.map((value, minute) => ({ minute, value }))
/** Noise that is the same in each run, around 0. */
const noise = (i: number) => [3, -4, 1, 5, -2, -5, 2, 0][i % 8]!
const minutes = Array.from({ length: 60 }, (_, i) => i)

describe('isFlat()', () => {
  it.each<[string, number[], boolean]>([
    ['what stays', minutes.map(() => 100), true],
    ['what only wavers', minutes.map((i) => 100 + noise(i)), true],
    ['what shrinks', minutes.map((i) => 200 - i), true],
    ['what grows within the tolerance', minutes.map((i) => 100 + i / 10 + noise(i)), true],
    ['what grows', minutes.map((i) => 100 + i / 2 + noise(i)), false],
    ['what grows evenly', minutes.map((i) => 100 + i), false],
    ['growth that is lost in noise', [100, 10, 190, 20, 200, 90], true],
  ])('%s', (_, values, flat) => {
    expect(isFlat(trendOf(series(values))!, 10)).toBe(flat)
  })
})

describe('trendOf()', () => {
  it('says by how much the line rises', () => {
    const trend = trendOf(series([100, 110, 120, 130, 140]))!
    expect(trend).toMatchObject({ growth: 40, perMinute: 10, samples: 5 })
    expect(trend.percent).toBeCloseTo(33.3, 1)
  })

  it.each<[string, number[]]>([['nothing', []], ['two samples', [1, 2]]])('says nothing of %s', (_, values) => {
    expect(trendOf(series(values))).toBeUndefined()
  })
})

describe('secondHalf() and lowest()', () => {
  it('take the end of the time', () => {
    expect(secondHalf(series([9, 8, 7, 6, 5])).map((s) => s.minute)).toEqual([2, 3, 4])
  })

  it('take the smallest value of each window', () => {
    expect(lowest(series([5, 9, 4, 8, 3, 7]), 2)).toEqual([5, 4, 3].map((value, i) => ({ minute: i * 2, value })))
  })

  it('find a leak below what garbage collection takes back', () => {
    const teeth = (i: number) => [0, 10, 20, 30].map((tooth, n) => ({ minute: i + n / 4, value: 100 + i / 2 + tooth }))
    const saw = minutes.flatMap(teeth)
    expect(isFlat(trendOf(secondHalf(lowest(saw, 1)))!, 10)).toBe(false)
    const steady = saw.map(({ minute, value }) => ({ minute, value: value - Math.floor(minute) / 2 }))
    expect(isFlat(trendOf(secondHalf(lowest(steady, 1)))!, 10)).toBe(true)
  })
})
