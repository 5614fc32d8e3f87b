import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Int64, addInt64, compareInt64, isInt64, maxInt64Of, parseInt64, secondsInMs, toInt64 } from './int64.ts'

const max = 2n ** 63n - 1n
const min = -(2n ** 63n)
const anyInt64 = fc.oneof(
  fc.bigInt({ min, max }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.constantFrom(0n, 1n, -1n, max, min, 2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n)),
)

it('an int64 has exactly one form: a number where that is safe', () => {
  fc.assert(
    fc.property(anyInt64, (value) => {
      const form = toInt64(value)
      expect(BigInt(form)).toBe(value)
      expect(typeof form === 'number').toBe(Number.isSafeInteger(Number(value)))
      expect(parseInt64(String(value))).toBe(form)
    }),
  )
})

it('sums, comparisons and the greatest are those of 64 bit integers', () => {
  fc.assert(
    fc.property(anyInt64, anyInt64, (a, b) => {
      const [x, y] = [toInt64(a), toInt64(b)]
      expect(addInt64(x, y)).toBe(toInt64(BigInt.asIntN(64, a + b)))
      expect(compareInt64(x, y)).toBe(a < b ? -1 : a > b ? 1 : 0)
      expect(maxInt64Of([x, y])).toBe(toInt64([0n, a, b].reduce((most, v) => (v > most ? v : most))))
    }),
  )
})

describe('parseInt64()', () => {
  it.each<[text: string, value: Int64 | undefined]>([
    ['0', 0],
    ['-0', 0],
    ['+7', 7],
    ['007', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', max],
    ['-9223372036854775808', min],
    ['9223372036854775808', undefined],
    ['-9223372036854775809', undefined],
    ['9'.repeat(100_000), undefined],
    ['', undefined],
    [' 1', undefined],
    ['1.0', undefined],
    ['1e3', undefined],
    ['0x1', undefined],
  ])('%.30s is %s', (text, value) => {
    expect(parseInt64(text)).toBe(value)
  })
})

it('isInt64() knows the bounds', () => {
  expect([max, max + 1n, min, min - 1n].map(isInt64)).toEqual([true, false, true, false])
})

describe('secondsInMs()', () => {
  it.each<[what: string, seconds: Int64, ms: number]>([
    ['a minute', 60, 60_000],
    ['the longest duration of Go', 9_223_372_036, 9_223_372_036_000],
    ['a second more wraps around', 9_223_372_037, -9_223_372_036_709],
    ['the most seconds are one second less than none', max, -1000],
  ])('%s', (_, seconds, ms) => {
    expect(secondsInMs(seconds)).toBe(ms)
  })

  it('added to the present is always a time', () => {
    const later = (seconds: bigint) => new Date(Date.UTC(2026, 0) + secondsInMs(toInt64(seconds)))
    fc.assert(fc.property(anyInt64, (seconds) => later(seconds).toISOString().length > 0))
  })
})
