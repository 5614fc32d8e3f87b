import { describe, expect, it } from 'vitest'
import { warningHeaders } from './warnings.ts'

const text = (headers: string[]) => headers.map((h) => Buffer.from(h, 'latin1').toString())

describe('warningHeaders()', () => {
  it.each([
    ['plain text', ['be careful'], ['299 - "be careful"']],
    ['quotes and backslashes', ['say "a\\b"'], ['299 - "say \\"a\\\\b\\""']],
    ['what is said twice', ['a', 'b', 'a'], ['299 - "a"', '299 - "b"']],
    ['what would end the header', ['a\r\nSet-Cookie: x', 'b'], ['299 - "b"']],
    ['other control characters', ['a\u0000', 'b\t', 'c\u007f', 'd\u0085'], []],
    ['nothing', ['', ''], []],
    ['letters beyond ASCII', ['日本 é 😀'], ['299 - "日本 é 😀"']],
  ])('%s', (_what, warnings, expected) => {
    expect(text(warningHeaders(warnings))).toEqual(expected)
  })

  it('are bytes, whatever was said', () => {
    expect(warningHeaders(['日本'])[0]).toMatch(/^[\x20-\xff]+$/)
  })

  it('are cut short, and are no more than a few kilobytes, where there are too many', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `${i} ${'😀'.repeat(300)}`)
    const headers = text(warningHeaders(many))
    expect(headers.length).toBe(16)
    for (const header of headers) expect([...header]).toHaveLength('299 - ""'.length + 256)
  })

  it('are whole as long as all of them together are short', () => {
    expect(warningHeaders(['x'.repeat(4000)])[0]).toHaveLength(4008)
  })
})
