import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Int64 } from '../numbers/int64.ts'
import type { Json } from '../object.ts'
import { jsonText, readJson, withExactNumbers } from './exact.ts'
import { parseJson } from './parse.ts'
import { exactNumber } from './syntax.ts'

/** An integer of any size in the form that values have. */
const integer = fc
  .oneof(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }))
  .map((n) => exactNumber(String(n)))
const word = fc.oneof(fc.string(), fc.stringMatching(/^\d{14,20}$/))
const { tree } = fc.letrec<{ tree: Json; list: Json; fields: Json }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, integer, word, fc.boolean(), fc.constant(null), tie('list'), tie('fields')),
  list: fc.array(tie('tree')),
  fields: fc.dictionary(word, tie('tree')),
}))

test('what jsonText() writes, readJson() and parseJson() read back to the last digit', () => {
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = jsonText(value, indent)
      expect(readJson(text)).toEqual(value)
      expect(parseJson(text).value).toEqual(value)
    }),
  )
})

test('jsonText() writes as JSON.stringify does, but for the digits of bigints', () => {
  const mark = 'a text that stands for an integer'
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const rest = { value, absent: undefined, at: new Date(0) }
      const around = (inner: unknown) => ({ ...rest, list: [inner, undefined, []], inner })
      const expected = JSON.stringify(around(mark), undefined, indent).replaceAll(`"${mark}"`, '9223372036854775807')
      expect(jsonText(around(2n ** 63n - 1n), indent)).toBe(expected)
    }),
  )
})

test('a long integer is found wherever it stands', () => {
  for (let before = 0; before < 40; before++) {
    const text = `${' '.repeat(before)}[9007199254740993]`
    expect(readJson(text)).toEqual([2n ** 53n + 1n])
  }
})

describe('readJson() and parseJson() give a number its one form', () => {
  test.each<[what: string, text: string, value: unknown]>([
    ['the greatest safe one', '9007199254740991', 9007199254740991],
    ['the first that is not safe', '9007199254740992', 2n ** 53n],
    ['the least int64', '-9223372036854775808', -(2n ** 63n)],
    ['beyond int64', '92233720368547758089', 92233720368547758089n],
    ['digits in a text', '"9223372036854775807"', '9223372036854775807'],
    ['a long fraction', '0.30000000000000004440892098500626', 0.30000000000000004],
    ['a large fraction', '9007199254740993.5', 2n ** 53n + 2n],
    ['beside a long number an exponent', '[1e20,1e21,9007199254740993]', [10n ** 20n, 1e21, 2n ** 53n + 1n]],
  ])('%s', (_, text, value) => {
    expect(parseJson(text).value).toEqual(value)
    expect(readJson(text)).toEqual(value)
  })
})

describe('withExactNumbers()', () => {
  it('gives numbers the form that they would be read in', () => {
    const value = { a: [5n, 2 ** 53, 1e20, 1e21, 0.5], b: { c: -(2 ** 60) } } as unknown as Json
    expect(withExactNumbers(structuredClone(value))).toEqual(readJson(jsonText(value)))
  })

  it.each([Infinity, -Infinity, NaN])('refuses %s, which JSON has no word for', (value) => {
    expect(() => withExactNumbers({ a: [value] })).toThrow(RangeError)
  })
})

test('neither hides what JSON.parse and JSON.stringify refuse', () => {
  const circle: { self?: object; n: Int64 } = { n: 1 }
  circle.self = circle
  expect(() => readJson('{"a":9007199254740993')).toThrow(SyntaxError)
  expect(() => jsonText(circle)).toThrow(TypeError)
  expect(() => jsonText({ n: 1n, circle })).toThrow(RangeError)
})
