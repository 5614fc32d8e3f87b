import { describe, expect, it } from 'vitest'
import { AnswerReader } from './answer-reader.ts'

const whole = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello'
const inChunks = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n11;x=y\r\n, and then again.\r\n0\r\n\r\n'

function read(text: string, pieceBytes: number): { codes: number[]; body: string; ends: number } {
  const seen = { codes: [] as number[], body: '', ends: 0 }
  const reader = new AnswerReader({ head: (code) => seen.codes.push(code), body: (piece) => (seen.body += piece.toString()), end: () => seen.ends++ })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.take(bytes.subarray(at, at + pieceBytes))
  return seen
}

describe('AnswerReader', () => {
  const rows: [what: string, text: string, code: number, body: string][] = [
    ['of known length', whole, 201, 'hello'],
    ['in chunks', inChunks, 200, 'hello, and then again.'],
    ['in chunks, with a trailer', inChunks.replace('0\r\n\r\n', '0\r\nx: y\r\n\r\n'), 200, 'hello, and then again.'],
    ['without a body', 'HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n', 409, ''],
  ]
  it.each(rows)('reads an answer %s, however it is cut', (_, text, code, body) => {
    for (const pieceBytes of [1, 2, 3, 7, 50, 1000]) expect(read(text, pieceBytes)).toEqual({ codes: [code], body, ends: 1 })
  })

  it('does not end before its answer has', () => {
    expect(read(inChunks.slice(0, -1), 1000).ends).toBe(0)
    expect(read(whole.slice(0, -1), 1000).ends).toBe(0)
  })
})
