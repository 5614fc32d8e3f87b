import { describe, expect, test } from 'vitest'
import { JsonSyntaxError } from './syntax.ts'
import { parseYaml } from './yaml.ts'

const wrong = (text: string): string => {
  try {
    parseYaml(text)
  } catch (e) {
    if (e instanceof JsonSyntaxError) return e.message
    throw e
  }
  return 'was taken'
}

describe('parseYaml() reads scalars as Kubernetes does', () => {
  const rows: [what: string, text: string, value: unknown][] = [
    ['the booleans of YAML 1.1', 'k: [yes, on, y, no, off, n, true, False]', [true, true, true, false, false, false, true, false]],
    ['quoted words are text', 'k: ["yes", \'no\']', ['yes', 'no']],
    ['times of day are text', 'k: [1:30, 12:30:45, 80:8080]', ['1:30', '12:30:45', '80:8080']],
    ['dates are text', 'k: [2001-02-03, 2001-02-03T04:05:06Z]', ['2001-02-03', '2001-02-03T04:05:06Z']],
    ['octal, hexadecimal and long numbers', 'k: [0644, 0x1f, 1_000]', [420, 31, 1000]],
    ['integers that doubles round', 'k: [9007199254740993, -9007199254740993]', [2n ** 53n + 1n, -(2n ** 53n) - 1n]],
    ['unsigned integers', 'k: 18446744073709551615', 2n ** 64n - 1n],
    ['beyond 64 bits doubles, as in Go', 'k: 18446744073709551617', 18446744073709552000n],
    ['fractions that are whole', 'k: [3.0, 1.5, 1e3]', [3, 1.5, 1000]],
    ['nulls', 'k: [~, null, ]', [null, null]],
    ['merged maps', 'a: &a {x: 1, z: 2}\nk: {<<: *a, z: 3}', { x: 1, z: 3 }],
    ['aliases', 'a: &a [1]\nk: *a', [1]],
  ]
  test.each(rows)('%s', (_, text, value) => {
    expect(parseYaml(text).value).toMatchObject({ k: value })
  })
})

describe('parseYaml() takes what a body may be', () => {
  const rows: [what: string, text: string, value: unknown][] = [
    ['only the first document', 'a: 1\n---\na: 2\n', { a: 1 }],
    ['a comment is nothing', '# nothing\n', null],
    ['no text is nothing', '', null],
    ['a word', 'hello', 'hello'],
    ['a list', '- a\n- b\n', ['a', 'b']],
    ['JSON', '{"a": {"b": [1, "x", null]}}', { a: { b: [1, 'x', null] } }],
    ['numbers as keys', '1: a\ntrue: b', { 1: 'a', true: 'b' }],
    ['long numbers as keys', '9007199254740993: a', { '9007199254740993': 'a' }],
  ]
  test.each(rows)('%s', (_, text, value) => {
    expect(parseYaml(text).value).toEqual(value)
  })

  test('a key named __proto__ is a key', () => {
    const { value } = parseYaml('__proto__: {polluted: 1}\n')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('parseYaml() refuses in the words of Go', () => {
  const rows: [what: string, text: string, message: string][] = [
    ['a tab', 'a: b\nc:\n\td: e\n', 'yaml: line 3: found character that cannot start any token'],
    ['a map in a map on one line', 'a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['infinity', 'a: .inf', 'json: unsupported value: +Inf'],
  ]
  test.each(rows)('%s', (_, text, message) => {
    expect(wrong(text)).toBe(message)
  })

  test('aliases that multiply', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 10; i++) lines.push(`a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join(',')}]`)
    expect(wrong(lines.join('\n'))).toBe('yaml: document contains excessive aliasing')
  })

  test('nesting without end', () => {
    expect(wrong('['.repeat(1_000_000))).toBe('yaml: exceeded max depth')
    expect(wrong(Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''))).toBe('yaml: exceeded max depth')
  })
})

test('parseYaml() tells keys that are said twice, by line, and keeps the last', () => {
  const { value, repeated } = parseYaml('a: 1\nb: {c: 1, c: 2}\na: 3\n')
  expect(value).toEqual({ a: 3, b: { c: 2 } })
  expect(repeated).toEqual(['line 2: key "c" already set in map', 'line 3: key "a" already set in map'])
})
