import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  QuantityError,
  addQuantities,
  canonicalQuantity,
  compareQuantity,
  isQuantity,
  isZeroQuantity,
  parseQuantity,
  quantityIsInteger,
  quantityMilli,
  quantitySign,
  quantityToNumber,
  quantityValue,
  roundUpToMilli,
  subtractQuantities,
} from './quantity.ts'

describe('canonicalQuantity()', () => {
  test.each([
    ['0', '0'],
    ['00', '0'],
    ['0Gi', '0'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['0.001', '1m'],
    ['100.5', '100500m'],
    ['1000', '1k'],
    ['1000000', '1M'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1.0001Ki', '1024102400u'],
    ['2Pi', '2Pi'],
    ['-1Gi', '-1Gi'],
    ['12e4', '120e3'],
    ['1e3', '1e3'],
    ['100e-1', '10'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['1e-400', '1e-9'],
    ['12345678901234567890', '12345678901234567890'],
    // Beyond E there is no suffix, and the digits grow.
    ['1000E', '1000E'],
    // Binary amounts end at what 63 bits hold.
    ['9Ei', '9223372036854775807'],
    ['-100Ei', '-9223372036854775807'],
    // Texts Kubernetes' quick path takes for canonical and gives back.
    ['1.500', '1.500'],
    ['+1', '+1'],
    ['05Mi', '05Mi'],
    // Texts without digits count as zero.
    ['-', '0'],
    ['.', '0'],
    ['m', '0'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical)
  })

  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const suffix = "unable to parse quantity's suffix"
  test.each([
    ['', format],
    ['abc', format],
    ['1x', format],
    ['1 Gi', format],
    ['1.2.3', format],
    ['1Kib', format],
    ['1K', suffix],
    ['1e', suffix],
    ['1k5', suffix],
    ['5+3', suffix],
    ['1e999999', suffix],
    ['1'.repeat(2000), 'unable to parse numeric part of quantity'],
  ])('%s is refused', (text, message) => {
    expect(() => parseQuantity(text)).toThrow(new QuantityError(message))
    expect(isQuantity(text)).toBe(false)
  })

  it('refuses long texts of digits before the test times out', () => {
    expect(isQuantity(`${'0'.repeat(500_000)}x`)).toBe(false)
    expect(isQuantity(`0.${'0'.repeat(500_000)}x`)).toBe(false)
  })
})

test.each([
  ['1', '1000m', 0],
  ['1Gi', '1G', 1],
  ['1', '2', -1],
  ['-1', '1n', -1],
  ['1e3', '1k', 0],
] as const)('compareQuantity() of %s and %s is %i', (a, b, order) => {
  expect(compareQuantity(a, b)).toBe(order)
  expect(compareQuantity(b, a)).toBe(order === 0 ? 0 : -order)
})

test.each([
  [['1', '500m'], '1500m'],
  [['1Gi', '1Gi'], '2Gi'],
  [['1Gi', '1M'], '1074741824'],
  [['0', '1Gi', '1Gi'], '2Gi'],
  [[], '0'],
] as const)('addQuantities() of %j is %s', (texts, sum) => {
  expect(addQuantities(...texts)).toBe(sum)
})

test.each([
  ['1', '500m', '500m'],
  ['1Gi', '1Gi', '0'],
  ['0', '1Gi', '-1Gi'],
] as const)('subtractQuantities() of %s and %s is %s', (a, b, difference) => {
  expect(subtractQuantities(a, b)).toBe(difference)
})

test.each([
  { text: '0', zero: true, sign: 0, value: 0n, milli: 0n, integer: true, number: 0, rounded: '0' },
  { text: '1500m', zero: false, sign: 1, value: 2n, milli: 1500n, integer: false, number: 1.5, rounded: '1500m' },
  { text: '-1500m', zero: false, sign: -1, value: -2n, milli: -1500n, integer: false, number: -1.5, rounded: '-1500m' },
  { text: '100u', zero: false, sign: 1, value: 1n, milli: 1n, integer: false, number: 0.0001, rounded: '1m' },
  { text: '1.0001Ki', zero: false, sign: 1, value: 1025n, milli: 1024103n, integer: false, number: 1024.1024, rounded: '1024103m' },
  { text: '1Ki', zero: false, sign: 1, value: 1024n, milli: 1024000n, integer: true, number: 1024, rounded: '1Ki' },
  { text: '1e20', zero: false, sign: 1, value: 10n ** 20n, milli: 10n ** 23n, integer: true, number: 1e20, rounded: '100e18' },
])('$text is read in every way', ({ text, ...expected }) => {
  expect({
    zero: isZeroQuantity(text),
    sign: quantitySign(text),
    value: quantityValue(text),
    milli: quantityMilli(text),
    integer: quantityIsInteger(text),
    number: quantityToNumber(text),
    rounded: roundUpToMilli(text),
  }).toEqual(expected)
})

const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'e3', 'e-2', 'E7']
const quantities = fc
  .tuple(fc.constantFrom('', '-', '+'), fc.nat(10 ** 9), fc.option(fc.nat(10 ** 6), { nil: undefined }), fc.constantFrom(...suffixes))
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`)

describe('for any quantity', () => {
  it('the canonical form is a fixed point and of the same value', () => {
    fc.assert(
      fc.property(quantities, (text) => {
        const canonical = canonicalQuantity(text)
        expect(canonicalQuantity(canonical)).toBe(canonical)
        expect(compareQuantity(text, canonical)).toBe(0)
      }),
    )
  })

  it('adding and subtracting the same leaves the value, below the greatest there is', () => {
    const isBelowCap = (text: string) => compareQuantity(text.replace(/^-/, ''), '9223372036854775807') < 0
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        fc.pre([a, b, addQuantities(a, b)].every(isBelowCap))
        expect(compareQuantity(subtractQuantities(addQuantities(a, b), b), a)).toBe(0)
      }),
    )
  })

  it('rounding up to thousandths never loses and gains less than a thousandth', () => {
    fc.assert(
      fc.property(quantities, (text) => {
        const magnitude = text.replace('-', '')
        const rounded = roundUpToMilli(magnitude)
        expect(compareQuantity(rounded, magnitude)).toBeGreaterThanOrEqual(0)
        expect(compareQuantity(subtractQuantities(rounded, magnitude), '1m')).toBe(-1)
      }),
    )
  })
})
