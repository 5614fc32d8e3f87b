import { describe, expect, it, test } from 'vitest'
import {
  intOrPercentValue,
  isNotMoreThan100Percent,
  isPercent,
  percentOf,
  validateNonnegativeIntOrPercent,
  validatePortNumOrName,
} from './int-or-string.ts'
import { Path } from '../validation/path.ts'

const path = Path.of('spec', 'maxUnavailable')
const notPercent = (value: string) =>
  `Invalid value: "${value}": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`

test.each([
  ['25%', true],
  ['100%', true],
  ['%', false],
  ['5.5%', false],
  ['-1%', false],
  ['10', false],
  ['10% ', false],
])('isPercent(%j) is %s', (text, is) => {
  expect(isPercent(text)).toBe(is)
})

describe('percentOf()', () => {
  test.each([
    [3, 10, true, 3],
    ['25%', 10, true, 3],
    ['25%', 10, false, 2],
    ['0%', 10, true, 0],
    ['100%', 7, false, 7],
  ])('%j of %i, rounding up %s, is %i', (value, total, roundUp, count) => {
    expect(percentOf(value, total, roundUp)).toBe(count)
  })

  it('throws for a text that is no percentage', () => {
    expect(() => percentOf('ten', 10, true)).toThrow('string is not a percentage')
  })
})

test.each([
  [undefined, 0],
  [7, 7],
  ['25%', 25],
  ['web', 0],
])('intOrPercentValue(%j) is %i', (value, number) => {
  expect(intOrPercentValue(value)).toBe(number)
})

test.each([
  [0, []],
  ['0%', []],
  ['250%', []],
  [-1, ['Invalid value: -1: must be greater than or equal to 0']],
  ['-1%', [notPercent('-1%')]],
  ['', [notPercent('')]],
])('validateNonnegativeIntOrPercent(%j)', (value, messages) => {
  expect(validateNonnegativeIntOrPercent(value, path).map((e) => e.message)).toEqual(messages)
})

test.each([
  ['100%', []],
  ['101%', ['Invalid value: "101%": must not be greater than 100%']],
  [500, []],
  ['abc', []],
])('isNotMoreThan100Percent(%j)', (value, messages) => {
  expect(isNotMoreThan100Percent(value, path).map((e) => e.message)).toEqual(messages)
})

test.each([
  [80, []],
  [0, ['Invalid value: 0: must be between 1 and 65535, inclusive']],
  ['web', []],
  ['80', ['Invalid value: "80": must contain at least one letter (a-z)']],
])('validatePortNumOrName(%j)', (value, messages) => {
  expect(validatePortNumOrName(value, path).map((e) => e.message)).toEqual(messages)
})
