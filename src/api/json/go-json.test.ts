import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { goJson, objectJson, sortKeys } from './go-json.ts'

describe('goJson()', () => {
  it.each<[string, unknown, string]>([
    ['what looks like markup', { '<k>': 'a<b && c>d' }, '{"\\u003ck\\u003e":"a\\u003cb \\u0026\\u0026 c\\u003ed"}'],
    ['separators of lines and paragraphs', 'a\u2028b\u2029', '"a\\u2028b\\u2029"'],
    ['control characters', '\b\f\n\r\t\u0001\u007f', '"\\b\\f\\n\\r\\t\\u0001\u007f"'],
    ['quotes and slashes', '"/\\', '"\\"/\\\\"'],
    ['letters of all sorts', 'ünï 日本 🚢', '"ünï 日本 🚢"'],
    ['half of a surrogate pair', ['\ud800', 'a\udc00b', '😀'], '["\ufffd","a\ufffdb","😀"]'],
    ['numbers', [0, -1, 1.5, 1e21, 4294967297], '[0,-1,1.5,1e+21,4294967297]'],
    ['what is empty', { a: {}, b: [], c: '', d: null, e: false }, '{"a":{},"b":[],"c":"","d":null,"e":false}'],
    ['keys in the order in which they are', { b: 1, a: { d: 1, c: 2 } }, '{"b":1,"a":{"d":1,"c":2}}'],
    ['a map with keys that JavaScript moves', { z: 1, 10: 2, 9: 3, a: 4 }, '{"10":2,"9":3,"a":4,"z":1}'],
    ['a member that is undefined', { a: undefined, b: [undefined] }, '{"b":[null]}'],
  ])('writes %s', (_, value, text) => {
    expect(goJson(value)).toBe(text)
  })

  test('says the same as JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(goJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})

test('sortKeys() goes by bytes, in every object', () => {
  const sorted = sortKeys({ é: 1, '𐀀': 2, '\uffee': 3, b: [{ d: 1, c: 2 }], a: { $patch: 1, Z: 2 } })
  expect(goJson(sorted)).toBe('{"a":{"$patch":1,"Z":2},"b":[{"c":2,"d":1}],"é":1,"\uffee":3,"𐀀":2}')
})

test('objectJson() writes ControllerRevisions as Go does, and nothing else', () => {
  const textOf = (kind: string) => objectJson({ apiVersion: 'apps/v1', kind, data: { 10: '<', 9: '' } })
  expect(textOf('ControllerRevision')).toContain(',"data":{"10":"\\u003c","9":""}}')
  expect(textOf('ConfigMap')).toContain(',"data":{"9":"","10":"<"}}')
})
