import { describe, expect, test } from 'vitest'
import { parseJson } from './parse.ts'
import { JsonSyntaxError } from './syntax.ts'

const wrong = (text: string): string => {
  try {
    parseJson(text)
  } catch (e) {
    expect(e).toBeInstanceOf(JsonSyntaxError)
    return (e as Error).message
  }
  throw new Error('was accepted')
}

describe('parseJson() refuses in the words of Go', () => {
  const rows: [text: string, message: string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a":1,/**/"b":2}', "invalid character '/' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{}{}', "invalid character '{' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['nul!', "invalid character '!' in literal null (expecting 'l')"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['yes', "invalid character 'y' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
  ]
  test.each(rows)('%j', (text, message) => {
    expect(wrong(text)).toBe(message)
  })
})

describe('parseJson() finds what is said twice', () => {
  const rows: [what: string, text: string, value: unknown, duplicates: string[]][] = [
    ['nothing', '{"a":{"b":[{"c":"x:y"},{"c":"\\":"}]},"d":"e"}', { a: { b: [{ c: 'x:y' }, { c: '":' }] }, d: 'e' }, []],
    ['a text twice: the last counts', '{"a":{"n":"1","n":"2"}}', { a: { n: '2' } }, ['a.n']],
    ['an object twice: both count', '{"d":{"k":"1"},"d":{"l":"2"}}', { d: { k: '1', l: '2' } }, ['d']],
    ['inside a list', '{"c":[{},{"i":1,"i":2,"i":3}]}', { c: [{}, { i: 3 }] }, ['c[1].i']],
    ['with space before the colon', '{"a" : 1, "a" :2}', { a: 2 }, ['a']],
    ['keys that end in a backslash', '{"a\\\\":1,"a\\\\":2}', { 'a\\': 2 }, ['a\\']],
    ['the same key written in two ways', '{"a":1,"\\u0061":2}', { a: 2 }, ['a']],
  ]
  test.each(rows)('%s', (_, text, value, duplicates) => {
    const parsed = parseJson(text)
    expect(parsed.value).toEqual(value)
    expect(parsed.duplicates).toEqual(duplicates)
  })
})

describe('parseJson() tells whether numbers have fractions or exponents', () => {
  test.each([
    ['{"a":3.0}', true],
    ['[1e1]', true],
    ['[1E1]', true],
    ['{"a":"1.5","b":[true,false,null,-12],"c.d":"1e5"}', false],
  ])('%s', (text, hasFractions) => {
    expect(parseJson(text).hasFractions).toBe(hasFractions)
  })
})

describe('parseJson() is safe', () => {
  test.each(['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":1},"__proto__":{"more":2}}'])('with the key __proto__ in %s', (text) => {
    const { value } = parseJson(text)
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test.each([
    ['lists that are never closed', '['.repeat(5_000_000), "invalid character '[' exceeded max depth"],
    ['lists that are closed', '['.repeat(1_000_000) + ']'.repeat(1_000_000), "invalid character '[' exceeded max depth"],
    ['objects', '{"a":'.repeat(1_000_000) + '1' + '}'.repeat(1_000_000), "invalid character '{' exceeded max depth"],
    ['what Go would still take', '['.repeat(5000) + ']'.repeat(5000), 'exceeded max depth'],
  ])('with depth: %s', (_, text, message) => {
    expect(wrong(text)).toBe(message)
  })
})
