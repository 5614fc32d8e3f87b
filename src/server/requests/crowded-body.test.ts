import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { parseYaml } from '../../api/json/index.ts'
import { countValues } from '../parsing/count-values.ts'
import { maxValues, needsTurns, refuseCrowded, yamlLimit } from './crowded-body.ts'

const count = (value: unknown) => countValues(Buffer.from(JSON.stringify(value)), 1e9)

/** Counts in another way: by the value, not by its text. Each value but the first of a map or list has a comma before it. */
function naively(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return 1 + Math.max(0, inner.length - 1) + inner.reduce<number>((sum, one) => sum + naively(one), 0)
}

describe('countValues()', () => {
  it('counts what is in a value, and nothing of its texts', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      expect(count(value)).toBe(1 + naively(value))
    }), { numRuns: 500 })
  })

  test.each([['commas', ','.repeat(1000)], ['quotes and slashes', '\\"{["\\\\'.repeat(100)], ['a slash at the end', '\\']])('passes over %s in a text', (_, text) => {
    expect(count({ data: { a: text } })).toBe(3)
  })

  it('stops at the limit, and at the end of a text that is not closed', () => {
    expect(countValues(Buffer.from('[,,,,,,'), 3)).toBe(4)
    expect(countValues(Buffer.from('{"a'), 3)).toBe(2)
  })
})

describe('refuseCrowded()', () => {
  const list = (length: number) => Buffer.from(JSON.stringify({ items: Array.from({ length }, () => 'abc') }))

  it('takes bodies that people send', () => {
    for (const body of [list(maxValues - 10), Buffer.from(JSON.stringify({ data: { csv: '1,'.repeat(500_000) } })), Buffer.from('a: b\n'.repeat(100_000))]) {
      expect(refuseCrowded(body)).toBe(body)
    }
  })

  it('refuses YAML of very many values while it is read', () => {
    const text = 'a: b\n'.repeat(maxValues + 1)
    expect(() => parseYaml(text, yamlLimit(text))).toThrow('limit is 65536 values')
    const long = `a: |\n${'  b: c\n'.repeat(maxValues)}`
    expect(parseYaml(long, yamlLimit(long)).value).toEqual({ a: 'b: c\n'.repeat(maxValues) })
  })

  it('refuses one of very many values', () => {
    expect(() => refuseCrowded(list(maxValues + 1))).toThrow('Request entity too large: limit is 65536 values')
  })
})

describe('needsTurns()', () => {
  const aliases = 'a: &a {b: c}\nd: *a\n'
  it.each<[string, string, string | undefined, boolean]>([
    ['a long body', 'x'.repeat(300_000), 'application/json', true],
    ['short JSON', '{"a": "*"}', 'application/json', false],
    ['a short body of no type', '{"a": "*"}', undefined, false],
    ['short YAML without aliases', 'a: {b: c}\n', 'application/yaml', false],
    ['short YAML with aliases', aliases, 'application/yaml', true],
    ['the same as a configuration to apply', aliases, 'application/apply-patch+yaml', true],
  ])('%s', (_, text, contentType, expected) => {
    expect(needsTurns(Buffer.from(text), contentType)).toBe(expected)
  })
})
