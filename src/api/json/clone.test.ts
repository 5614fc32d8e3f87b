import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cloneChanged, cloneObject, deepFreeze } from './clone.ts'

describe('cloneObject()', () => {
  test('copies any JSON, sharing nothing that can change', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const frozen = deepFreeze(JSON.parse(JSON.stringify(value)) as unknown)
        const copy = cloneObject(frozen)
        expect(JSON.stringify(copy)).toBe(JSON.stringify(frozen))
        const check = (a: unknown, b: unknown) => {
          if (typeof a !== 'object' || a === null) return
          expect(a).not.toBe(b)
          expect(Object.isFrozen(a)).toBe(false)
          for (const key of Object.keys(a)) check((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])
        }
        if (JSON.stringify(value)?.includes('__proto__') === false) check(copy, frozen)
      }),
    )
  })

  test('keeps a key named __proto__ as a key', () => {
    const copy = cloneObject(JSON.parse('{"a":{"__proto__":{"polluted":[1]}}}') as { a: object })
    expect(JSON.stringify(copy)).toBe('{"a":{"__proto__":{"polluted":[1]}}}')
    expect((copy.a as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('cloneChanged()', () => {
  const original = deepFreeze({ a: { b: [{ c: 1 }, { c: 2 }], d: { e: 1 } }, f: [1] })

  test('copies only what is not as it was, and says what is', () => {
    const value = { ...original, a: { ...original.a, b: [original.a.b[0]!, { c: 3 }] }, g: { h: {} } }
    const shared = new Set<object>()
    const copy = cloneChanged(value, original, shared)
    expect(copy).toEqual(value)
    expect(shared).toEqual(new Set([original.a.b[0], original.a.d, original.f]))
    for (const part of shared) expect([copy.a.b[0], copy.a.d, copy.f]).toContain(part)
    for (const [own, theirs] of [[copy, value], [copy.a, value.a], [copy.a.b, value.a.b], [copy.a.b[1], value.a.b[1]], [copy.g, value.g], [copy.g.h, value.g.h]]) expect(own).not.toBe(theirs)
  })

  test('copies the tree itself, though nothing has changed', () => {
    const copy = cloneChanged(original, original, new Set())
    expect(copy).toEqual(original)
    expect(copy).not.toBe(original)
  })

  test('takes nothing for shared that only stands in the same place, or by an inherited name', () => {
    const shared = new Set<object>()
    const value = JSON.parse('{"a":{"b":[{"c":1}]},"f":[1],"__proto__":{"x":{}},"constructor":{}}') as object
    expect(JSON.stringify(cloneChanged(value, original, shared))).toBe(JSON.stringify(value))
    expect(shared.size).toBe(0)
  })

  test.each([[1], [null], ['x']])('%j is itself', (value) => {
    expect(cloneChanged(value, original, new Set())).toBe(value)
  })
})

test('deepFreeze() freezes all the way down', () => {
  const frozen = deepFreeze({ a: [{ b: 1 }] })
  expect(() => (frozen.a[0]!.b = 2)).toThrow(TypeError)
  expect(() => frozen.a.push({ b: 3 })).toThrow(TypeError)
})
