import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isDns1123Label } from '../../../api/validation/names.ts'
import { hashOf } from './hash.ts'

it.each<[string, unknown, unknown, boolean]>([
  ['another order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['another type', { a: 1 }, { a: '1' }, false],
  ['another order of items', { a: [1, 2] }, { a: [2, 1] }, false],
  ['a value elsewhere', { a: { b: 1 } }, { a: {}, b: 1 }, false],
])('hashOf(): %s', (_, a, b, same) => {
  expect(hashOf(a) === hashOf(b)).toBe(same)
})

it('hashOf() has another word for another count of collisions', () => {
  expect(new Set([0, 1, 2, 3].map((count) => hashOf({ a: 1 }, count))).size).toBe(4)
})

it('hashOf() always makes a piece of a name', () => {
  fc.assert(fc.property(fc.jsonValue(), fc.nat(), (value, count) => isDns1123Label(hashOf(value, count)).length === 0))
})
