import { describe, expect, it, test } from 'vitest'
import { parseFieldSelector } from './parse-field-selector.ts'

const fields: Record<string, string> = { 'metadata.name': 'a', 'status.phase': 'Running', odd: 'x,y=z\\' }

describe('parseFieldSelector()', () => {
  test.each([
    ['', true],
    [',', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=a,status.phase!=Running', false],
    ['metadata.name=a,status.phase=Running', true],
    ['spec.nodeName=', true],
    ['spec.nodeName!=', false],
    ['odd=x\\,y\\=z\\\\', true],
  ])('%j matches: %s', (text, matches) => {
    expect(parseFieldSelector(text).matches((field) => fields[field])).toBe(matches)
  })

  test.each([
    ['metadata.name in (a)', "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"],
    ['a=b,spec.nodeName', "invalid selector: 'a=b,spec.nodeName'; can't understand 'spec.nodeName'"],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ])('%j is refused', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }))
  })

  it('gives requirements for the kind to judge, in order', () => {
    const { requirements, text } = parseFieldSelector('status.phase!=Running,=x,metadata.name==a\\,b')
    expect(requirements).toEqual([
      { field: '', operator: '=', value: 'x' },
      { field: 'metadata.name', operator: '=', value: 'a,b' },
      { field: 'status.phase', operator: '!=', value: 'Running' },
    ])
    expect(text).toBe('=x,metadata.name=a\\,b,status.phase!=Running')
  })
})
