import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { deepFreeze } from '../json/index.ts'
import type { Json } from '../object.ts'
import { applyJsonPatch } from './json-patch.ts'

const doc = deepFreeze<Json>({ data: { a: '1', b: '2' }, list: ['x', 'y', 'z'], nested: { list: [{ k: 'v' }] } })

const patched = (...operations: Json[]) => applyJsonPatch(doc, deepFreeze(operations)) as { [key: string]: Json }

describe('applyJsonPatch()', () => {
  test.each<[string, Json, string, Json]>([
    ['adds a field', { op: 'add', path: '/data/c', value: '3' }, 'data', { a: '1', b: '2', c: '3' }],
    ['add replaces a field', { op: 'add', path: '/data/a', value: '9' }, 'data', { a: '9', b: '2' }],
    ['add without a value adds null', { op: 'add', path: '/data/c' }, 'data', { a: '1', b: '2', c: null }],
    ['add with escaped characters', { op: 'add', path: '/data/e.com~1x~0y~01', value: 1 }, 'data', { a: '1', b: '2', 'e.com/x~y~1': 1 }],
    ['removes a field', { op: 'remove', path: '/data/a' }, 'data', { b: '2' }],
    ['replaces a field', { op: 'replace', path: '/data/a', value: 'r' }, 'data', { a: 'r', b: '2' }],
    ['replaces a field that is not there', { op: 'replace', path: '/data/zz', value: 'r' }, 'data', { a: '1', b: '2', zz: 'r' }],
    ['moves a field', { op: 'move', from: '/data/a', path: '/data/z' }, 'data', { b: '2', z: '1' }],
    ['copies a field', { op: 'copy', from: '/data', path: '/data/c' }, 'data', { a: '1', b: '2', c: { a: '1', b: '2' } }],
    ['adds in the middle of a list', { op: 'add', path: '/list/1', value: 'n' }, 'list', ['x', 'n', 'y', 'z']],
    ['adds at the length of a list', { op: 'add', path: '/list/3', value: 'n' }, 'list', ['x', 'y', 'z', 'n']],
    ['adds at the end of a list', { op: 'add', path: '/list/-', value: 'n' }, 'list', ['x', 'y', 'z', 'n']],
    ['adds counting from the end', { op: 'add', path: '/list/-2', value: 'n' }, 'list', ['x', 'y', 'n', 'z']],
    ['removes counting from the end', { op: 'remove', path: '/list/-1' }, 'list', ['x', 'y']],
    ['replaces in a list', { op: 'replace', path: '/list/2', value: 'n' }, 'list', ['x', 'y', 'n']],
    ['moves inside a list', { op: 'move', from: '/list/0', path: '/list/2' }, 'list', ['y', 'z', 'x']],
    ['goes through lists', { op: 'add', path: '/nested/list/0/l', value: 1 }, 'nested', { list: [{ k: 'v', l: 1 }] }],
    ['does not look at what stands before the first slash', { op: 'remove', path: 'any/list' }, 'list', undefined as never],
    ['null equals what is not there', { op: 'test', path: '/data/zz', value: null }, 'data', { a: '1', b: '2' }],
    ['a test of structure', { op: 'test', path: '/data', value: { b: '2', a: '1' } }, 'data', { a: '1', b: '2' }],
    ['__proto__ is a field like any other', { op: 'add', path: '/__proto__', value: { x: 1 } }, '__proto__', { x: 1 }],
  ])('%s', (_, operation, field, value) => {
    const result = patched(operation)
    expect(Object.hasOwn(result, field) ? result[field] : undefined).toEqual(value)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('replaces the whole document', () => {
    expect(patched({ op: 'replace', path: '', value: { n: 1 } }, { op: 'add', path: '/m', value: 2 })).toEqual({ n: 1, m: 2 })
  })

  test.each<[string, Json]>([
    ['add under a missing parent', { op: 'add', path: '/no/x', value: 1 }],
    ['add under a text', { op: 'add', path: '/data/a/x', value: 1 }],
    ['add beyond the end of a list', { op: 'add', path: '/list/9', value: 1 }],
    ['add under a key that is no index', { op: 'add', path: '/list/one', value: 1 }],
    ['add to no path', { op: 'add', path: '', value: 1 }],
    ['a path without a slash', { op: 'add', path: 'data', value: {} }],
    ['no path', { op: 'remove' }],
    ['remove a missing field', { op: 'remove', path: '/data/zz' }],
    ['replace beyond the end of a list', { op: 'replace', path: '/list/9', value: 1 }],
    ['replace everything by a text', { op: 'replace', path: '', value: 'x' }],
    ['move of a missing field', { op: 'move', from: '/data/zz', path: '/data/y' }],
    ['move from nowhere', { op: 'move', path: '/data/y' }],
    ['a test that fails', { op: 'test', path: '/data/a', value: 'no' }],
    ['a test of a missing field', { op: 'test', path: '/data/zz', value: 'no' }],
    ['an unknown operation', { op: 'frobnicate', path: '/data/a' }],
    ['what every object inherits', { op: 'remove', path: '/toString' }],
    ['null for an operation', null],
  ])('refused: %s', (_, operation) => {
    expect(() => patched(operation)).toThrow(
      expect.objectContaining({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
        details: {},
      }),
    )
  })

  test.each<[Json, string]>([
    [{ data: {} }, 'object into Go value of type []handlers.jsonPatchOp'],
    ['x', 'string into Go value of type []handlers.jsonPatchOp'],
    [['x'], 'string into Go value of type handlers.jsonPatchOp'],
    [[{ op: 'add', path: 1 }], 'number into Go struct field jsonPatchOp.path of type string'],
  ])('%j cannot be decoded', (patch, what) => {
    expect(() => applyJsonPatch(doc, patch)).toThrow(
      expect.objectContaining({ code: 400, reason: 'BadRequest', message: `error decoding patch: json: cannot unmarshal ${what}` }),
    )
  })

  it('refuses more than 10000 operations', () => {
    const tests = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }))
    expect(applyJsonPatch(doc, tests.slice(1))).toEqual(doc)
    expect(() => applyJsonPatch(doc, tests)).toThrow(
      expect.objectContaining({
        code: 413,
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    )
  })

  it('refuses copies that add up to megabytes', () => {
    const copies = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/c${i}` }))
    expect(() => applyJsonPatch(doc, copies)).not.toThrow()
    const large = { data: { a: 'x'.repeat(200_000) } }
    expect(() => applyJsonPatch(large, copies)).toThrow(expect.objectContaining({ code: 422 }))
  })

  it('keeps a copy apart from what it was copied from', () => {
    const result = patched(
      { op: 'add', path: '/data/n', value: {} },
      { op: 'copy', from: '/data', path: '/second' },
      { op: 'add', path: '/data/n/only', value: 'here' },
      { op: 'add', path: '/second/n/only', value: 'there' },
    )
    expect([result['data'], result['second']]).toEqual([
      { a: '1', b: '2', n: { only: 'here' } },
      { a: '1', b: '2', n: { only: 'there' } },
    ])
  })
})

const keys = fc.constantFrom('a', 'b/c', 'd~e', '0')
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, false, 1, 'x'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(keys, tie('json'), { maxKeys: 3 }) as fc.Arbitrary<Json>,
  ),
}))
const objects = fc.dictionary(keys, json, { maxKeys: 3 }) as fc.Arbitrary<{ [key: string]: Json }>
const pointer = (key: string) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

describe('for any document', () => {
  it('what is added can be tested, and removed again', () => {
    fc.assert(
      fc.property(objects, json, (before, value) => {
        const result = applyJsonPatch(deepFreeze(before), [
          { op: 'add', path: '/new', value },
          { op: 'test', path: '/new', value },
          { op: 'remove', path: '/new' },
        ])
        expect(result).toEqual(before)
      }),
    )
  })

  it('removing every field and adding them back gives the document', () => {
    fc.assert(
      fc.property(objects, (before) => {
        const names = Object.keys(before)
        const result = applyJsonPatch(deepFreeze(before), [
          ...names.map((key) => ({ op: 'remove', path: pointer(key) })),
          { op: 'test', path: '', value: {} },
          ...names.map((key) => ({ op: 'add', path: pointer(key), value: before[key]! })),
        ])
        expect(result).toEqual(before)
      }),
    )
  })

  it('moving there and back gives the document', () => {
    fc.assert(
      fc.property(objects, json, (before, value) => {
        const start: Json = deepFreeze({ ...before, from: value })
        const result = applyJsonPatch(start, [
          { op: 'move', from: '/from', path: '/to' },
          { op: 'move', from: '/to', path: '/from' },
        ])
        expect(result).toEqual(start)
      }),
    )
  })
})
