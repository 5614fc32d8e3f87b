import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cloneObject, deepFreeze } from './clone.ts'

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

test('deepFreeze() freezes all the way down', () => {
  const frozen = deepFreeze({ a: [{ b: 1 }] })
  expect(() => (frozen.a[0]!.b = 2)).toThrow(TypeError)
  expect(() => frozen.a.push({ b: 3 })).toThrow(TypeError)
})
