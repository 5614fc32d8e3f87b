import { expect, test } from 'vitest'
import { goFormat, goJsonName, goTypeName } from './go-format.ts'

test.each([
  [{ b: { c: 'd' }, a: 1 }, 'map[a:1 b:map[c:d]]'],
  [['x', 'y z', null, true], '[x y z <nil> true]'],
  [{}, 'map[]'],
  [[], '[]'],
  [{ gone: undefined, there: '' }, 'map[there:]'],
  [1.5, '1.5'],
  [0.00001, '1e-05'],
  [0.0001, '0.0001'],
  [1e21, '1e+21'],
  [0, '0'],
  [2n ** 63n - 1n, '9223372036854775807'],
  [2n ** 63n, '9223372036854776000'],
])('goFormat(%s) is %s', (value, text) => {
  expect(goFormat(value)).toBe(text)
})

test.each([
  [[], '[]interface {}', 'array'],
  [{}, 'map[string]interface {}', 'object'],
  ['', 'string', 'string'],
  [1, 'int64', 'number'],
  [2n ** 63n - 1n, 'int64', 'number'],
  [1.5, 'float64', 'number'],
  [true, 'bool', 'bool'],
  [null, '%!s(<nil>)', 'null'],
])('%s is of type %s and to the decoder of type %s', (value, type, name) => {
  expect(goTypeName(value)).toBe(type)
  expect(goJsonName(value)).toBe(name)
})
