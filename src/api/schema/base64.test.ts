import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Base64Error, canonicalBase64 } from './base64.ts'

describe('canonicalBase64()', () => {
  test('keeps what Go would write', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        expect(canonicalBase64(text)).toBe(text)
      }),
    )
  })

  test.each([
    ['line breaks', 'YW\nJj\r\n', 'YWJj'],
    ['bits to spare that are set', 'YR==', 'YQ=='],
    ['line breaks in the padding', 'YQ=\n=', 'YQ=='],
  ])('rewrites %s', (_, text, canonical) => {
    expect(canonicalBase64(text)).toBe(canonical)
  })

  test.each([
    ['***', 0],
    ['YWJj*', 4],
    ['YWJjY', 4],
    ['YWJjYQ', 4],
    ['YWJjYQ=', 7],
    ['Y===', 1],
    ['YQ=x', 2],
    ['YQ==YQ==', 4],
    ['YWI=x', 4],
    ['YW-_', 2],
    ['é', 0],
  ])('refuses %j at byte %d', (text, at) => {
    expect(() => canonicalBase64(text)).toThrow(new Base64Error(at))
  })
})
