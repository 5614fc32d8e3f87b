import { describe, expect, it } from 'vitest'
import { deepEqual, differingPath, semanticEqual } from './deep-equal.ts'

const rows: { name: string; a: unknown; b: unknown; deep: boolean; semantic: boolean }[] = [
  { name: 'equal numbers', a: 1, b: 1, deep: true, semantic: true },
  { name: 'a number and its text', a: 1, b: '1', deep: false, semantic: false },
  { name: 'fields in another order', a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, deep: true, semantic: true },
  { name: 'lists in another order', a: [1, 2], b: [2, 1], deep: false, semantic: false },
  { name: 'a list that is longer', a: [1], b: [1, 2], deep: false, semantic: false },
  { name: 'an undefined field and no field', a: { x: undefined }, b: {}, deep: true, semantic: true },
  { name: 'a field more on the right', a: {}, b: { x: 1 }, deep: false, semantic: false },
  { name: 'a field more on the left', a: { x: 1 }, b: {}, deep: false, semantic: false },
  { name: 'an empty list and no list', a: { x: [] }, b: {}, deep: false, semantic: true },
  { name: 'no list and an empty object', a: {}, b: { x: {} }, deep: false, semantic: true },
  { name: 'null and no field', a: { x: null }, b: {}, deep: false, semantic: true },
  { name: 'an empty object and a list', a: {}, b: [1], deep: false, semantic: false },
  { name: 'deep differences', a: { x: [{ y: 1 }] }, b: { x: [{ y: 2 }] }, deep: false, semantic: false },
  { name: 'false and no field', a: { x: false }, b: {}, deep: false, semantic: false },
]

describe('equality of JSON values', () => {
  it.each(rows)('$name', ({ a, b, deep, semantic }) => {
    expect(deepEqual(a, b)).toBe(deep)
    expect(deepEqual(b, a)).toBe(deep)
    expect(semanticEqual(a, b)).toBe(semantic)
    expect(semanticEqual(b, a)).toBe(semantic)
  })
})

describe('differingPath()', () => {
  it.each([
    ['values that say the same', { x: [{ y: 1 }], z: {} }, { x: [{ y: 1 }] }, undefined],
    ['a field deep inside', { x: [{ y: 1 }] }, { x: [{ y: 2 }] }, '/x/0/y'],
    ['a field more on the left', { x: { y: 1 } }, { x: {} }, '/x/y'],
    ['a field more on the right', {}, { x: 1 }, '/x'],
    ['a list that is longer', { x: [1] }, { x: [1, 2] }, '/x/1'],
    ['a list and an object', { x: [1] }, { x: { 0: 1 } }, '/x'],
  ])('of %s', (_, a, b, path) => {
    expect(differingPath(a, b)).toBe(path)
  })

  it('says where the values stand, if told', () => {
    expect(differingPath({ x: 1 }, { x: 2 }, '/spec')).toBe('/spec/x')
  })
})
