import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { deepFreeze } from '../json/index.ts'
import type { Json } from '../object.ts'
import { applyMergePatch } from './merge-patch.ts'

describe('applyMergePatch()', () => {
  test.each<[string, Json, Json, Json]>([
    ['sets a field', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['null removes a field', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['null for what is not there changes nothing', { a: 1 }, { b: null }, { a: 1 }],
    ['objects merge', { a: { b: 1, c: 2 } }, { a: { b: 3 } }, { a: { b: 3, c: 2 } }],
    ['an empty object changes nothing', { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    ['lists are replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['a list for an object', { a: { b: 1 } }, { a: ['x'] }, { a: ['x'] }],
    ['an object for a list, without its nulls', { a: [1] }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['a new object loses its nulls', {}, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
    ['objects in lists lose theirs, lists keep them', {}, { a: [null, { b: null }] }, { a: [null, {}] }],
    ['a document that is no object counts as empty', 'x', { a: 1 }, { a: 1 }],
  ])('%s', (_, doc, patch, result) => {
    expect(applyMergePatch(deepFreeze(doc), deepFreeze(patch))).toEqual(result)
  })

  test.each<[Json, string]>([
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [null, 'Invalid JSON Patch'],
  ])('%j is refused', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('takes __proto__ for a field like any other', () => {
    const result = applyMergePatch(JSON.parse('{"a":{}}'), JSON.parse('{"a":{"__proto__":{"x":1}},"__proto__":{"y":2}}'))
    expect(JSON.stringify(result)).toBe('{"a":{"__proto__":{"x":1}},"__proto__":{"y":2}}')
    expect(({} as Record<string, unknown>)['y']).toBeUndefined()
    expect(JSON.stringify(applyMergePatch(result, JSON.parse('{"__proto__":null}')))).toBe('{"a":{"__proto__":{"x":1}}}')
  })

  it('shares what the patch does not touch', () => {
    const doc = deepFreeze({ a: { deep: 1 }, b: 1 })
    expect((applyMergePatch(doc, { b: 2 }) as typeof doc).a).toBe(doc.a)
  })
})

const keys = fc.constantFrom('a', 'b', 'c', '__proto__')
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 1, 'x', ''),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(keys, tie('json')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as Json),
  ),
}))
const objects = fc.array(fc.tuple(keys, json), { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as { [key: string]: Json })

describe('for any document and patch', () => {
  it('applying twice is applying once', () => {
    fc.assert(
      fc.property(objects, objects, (doc, patch) => {
        const once = applyMergePatch(doc, patch)
        expect(applyMergePatch(once, patch)).toEqual(once)
      }),
    )
  })

  it('the empty patch changes nothing', () => {
    fc.assert(
      fc.property(objects, (doc) => {
        expect(applyMergePatch(doc, {})).toEqual(doc)
      }),
    )
  })

  it('every field of the patch has its say and no other field changes', () => {
    fc.assert(
      fc.property(objects, objects, (doc, patch) => {
        const result = applyMergePatch(doc, patch) as { [key: string]: Json }
        for (const key of Object.keys(patch)) expect(Object.hasOwn(result, key)).toBe(patch[key] !== null)
        for (const key of Object.keys(doc)) if (!Object.hasOwn(patch, key)) expect(result[key]).toBe(doc[key])
      }),
    )
  })

  it('neither is changed', () => {
    fc.assert(
      fc.property(objects, objects, (doc, patch) => {
        const before = JSON.stringify([doc, patch])
        applyMergePatch(deepFreeze(doc), deepFreeze(patch))
        expect(JSON.stringify([doc, patch])).toBe(before)
      }),
    )
  })
})
