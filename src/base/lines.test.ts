import { describe, expect, it } from 'vitest'
import { linesOf } from './lines.ts'

async function* inChunks(text: string, size: number): AsyncIterable<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function lines(text: string, size: number): Promise<string[]> {
  const found: string[] = []
  for await (const line of linesOf(inChunks(text, size))) found.push(line)
  return found
}

describe('linesOf()', () => {
  it.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['a last line without an end', 'a\nb', ['a', 'b']],
    ['empty lines', '\na\n\nb\n', ['', 'a', '', 'b']],
    ['a carriage return, which stays', 'a\r\nb\rc\n', ['a\r', 'b\rc']],
    ['line and paragraph separators, which end no line', 'a\u2028b\u2029c\u0085d\nä€😀\n', ['a\u2028b\u2029c\u0085d', 'ä€😀']],
  ])('takes %s', async (_, text, expected) => {
    for (const size of [1, 2, 3, 1000]) expect(await lines(text, size)).toEqual(expected)
  })
})
