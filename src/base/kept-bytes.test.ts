import { describe, expect, it } from 'vitest'
import { keptBytes, keptPieces } from './kept-bytes.ts'

describe('keptBytes()', () => {
  it('are bytes of their own, as many as were asked for', () => {
    for (let i = 0; i < 3000; i++) {
      const bytes = keptBytes(i)
      expect([bytes.length, bytes.byteOffset, bytes.buffer.byteLength]).toEqual([i, 0, i])
    }
  })
})

describe('keptPieces()', () => {
  it.each<[string, (string | Buffer)[]]>([
    ['nothing', []],
    ['a text beyond ASCII', ['{"ä":"日本😀"}']],
    ['texts and bytes in any order', ['ä', Buffer.from('ö'), '', Buffer.alloc(0), Buffer.from('x'), 'ü']],
  ])('puts %s together', (_, pieces) => {
    expect(keptPieces(...pieces).toString()).toBe(pieces.map(String).join(''))
  })
})
