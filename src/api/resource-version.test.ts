import { describe, expect, test } from 'vitest'
import { compareResourceVersions, parseResourceVersion } from './resource-version.ts'

const parse = (text: string | null) => parseResourceVersion(text, (message) => new Error(message))

describe('parseResourceVersion()', () => {
  test.each([
    [null, 0],
    ['', 0],
    ['0', 0],
    ['42', 42],
    ['0042', 42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['18446744073709551615', 2n ** 64n - 1n],
  ])('%j is %s', (text, revision) => {
    expect(parse(text)).toBe(revision)
  })

  test.each([
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    [' 1', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
    ['9'.repeat(200), 'value out of range'],
  ])('%j is refused', (text, why) => {
    expect(() => parse(text)).toThrow(`resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`)
  })
})

test.each([
  ['9', '10', -1],
  ['10', '10', 0],
  ['010', '10', 0],
  ['18446744073709551617', '18446744073709551616', 1],
  ['0', '00', 0],
] as const)('compareResourceVersions(%s, %s) is %i', (a, b, order) => {
  expect(compareResourceVersions(a, b)).toBe(order)
})
