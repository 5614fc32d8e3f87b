import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ErrorCode, type Http2Error } from './errors.ts'
import { Flag, type FrameEvents, FrameReader, FrameType, frameHead, headersFrames, settingsFrame } from './frames.ts'

/** Records the frames, with the pieces of DATA combined. */
class Recorder implements FrameEvents {
  readonly seen: string[] = []
  #data = ''

  frame({ type, flags, stream, payload }: Parameters<FrameEvents['frame']>[0]): void {
    this.seen.push(`${type} ${flags} ${stream} ${payload.toString('latin1')}`)
  }

  dataBegins(stream: number, length: number, padding: number): void {
    this.seen.push(`begins ${stream} ${length} ${padding}`)
    this.#data = ''
  }

  data(_stream: number, piece: Buffer): void {
    expect(piece.length).toBeGreaterThan(0)
    this.#data += piece.toString('latin1')
  }

  dataEnds(stream: number, flags: number): void {
    this.seen.push(`ends ${stream} ${flags} ${this.#data}`)
  }
}

function read(text: string, cuts: readonly number[] = [], maxFrameBytes = 16_384): string[] {
  const bytes = Buffer.from(text, 'latin1')
  const record = new Recorder()
  const reader = new FrameReader(record, maxFrameBytes)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (const [i, start] of places.entries()) if (i < places.length - 1) reader.take(bytes.subarray(start, places[i + 1]))
  return record.seen
}

const padded = (stream: number, text: string, padding: number, flags = 0) =>
  frameHead(text.length + 1 + padding, FrameType.data, flags | Flag.padded, stream) + String.fromCharCode(padding) + text + '\0'.repeat(padding)
const plain = (type: number, stream: number, text: string, flags = 0) => frameHead(text.length, type, flags, stream) + text

const someFrame = fc.oneof(
  fc.record({ type: fc.integer({ min: 1, max: 255 }), stream: fc.nat(0x7fffffff), text: fc.string({ maxLength: 20 }) }).map(({ type, stream, text }) => plain(type, stream, Buffer.from(text).toString('latin1'))),
  fc.record({ stream: fc.nat(9), bytes: fc.nat(40), flags: fc.constantFrom(0, Flag.endStream) }).map(({ stream, bytes, flags }) => plain(FrameType.data, stream, 'd'.repeat(bytes), flags)),
  fc.record({ stream: fc.nat(9), bytes: fc.nat(20), padding: fc.nat(20), flags: fc.constantFrom(0, Flag.endStream) }).map(({ stream, bytes, padding, flags }) => padded(stream, 'p'.repeat(bytes), padding, flags)),
)

describe('FrameReader', () => {
  it('reads the same frames wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(someFrame, { maxLength: 8 }), fc.array(fc.nat(1000), { maxLength: 12 }), (frames, cuts) => {
        const text = frames.join('')
        expect(read(text, cuts)).toEqual(read(text))
      }),
    )
  })

  it('reads the same frames byte by byte', () => {
    const text = settingsFrame([[1, 2], [3, 4]]) + padded(1, 'abc', 2) + plain(FrameType.data, 3, 'xyz', Flag.endStream) + plain(FrameType.ping, 0, '12345678')
    const expected = ['4 0 0 \0\x01\0\0\0\x02\0\x03\0\0\0\x04', 'begins 1 6 3', 'ends 1 8 abc', 'begins 3 3 0', 'ends 3 1 xyz', '6 0 0 12345678']
    expect(read(text)).toEqual(expected)
    expect(read(text, Array.from({ length: text.length }, (_, i) => i))).toEqual(expected)
  })

  it.each([
    ['without padding', plain(FrameType.data, 1, 'abc', Flag.endStream), ['begins 1 3 0', 'ends 1 1 abc']],
    ['of nothing', plain(FrameType.data, 1, ''), ['begins 1 0 0', 'ends 1 0 ']],
    ['with padding of no bytes', padded(1, 'abc', 0), ['begins 1 4 1', 'ends 1 8 abc']],
    ['with nothing but padding', padded(1, '', 7), ['begins 1 8 8', 'ends 1 8 ']],
    ['with nothing but the length of no padding', padded(1, '', 0), ['begins 1 1 1', 'ends 1 8 ']],
  ])('reads DATA %s', (_, text, seen) => expect(read(text)).toEqual(seen))

  it('does not look at the reserved bit of a stream\'s number', () => {
    expect(read(plain(FrameType.ping, 0x80000005, ''))).toEqual(['6 0 5 '])
  })

  it('hands DATA on before all of it has come', () => {
    const record = new Recorder()
    const pieces: string[] = []
    record.data = (_, piece) => void pieces.push(piece.toString())
    const reader = new FrameReader(record, 100)
    reader.take(Buffer.from(`${frameHead(6, FrameType.data, 0, 1)}abc`, 'latin1'))
    expect(pieces).toEqual(['abc'])
  })

  it.each([
    ['a frame that is too large, as soon as its head is there', frameHead(101, FrameType.headers, 0, 1), ErrorCode.frameSizeError],
    ['DATA that is too large', frameHead(101, FrameType.data, 0, 1), ErrorCode.frameSizeError],
    ['more padding than there is', frameHead(3, FrameType.data, Flag.padded, 1) + '\x03ab', ErrorCode.protocolError],
    ['padding in a frame of nothing', frameHead(0, FrameType.data, Flag.padded, 1), ErrorCode.frameSizeError],
  ])('refuses %s', (_, text, code) => {
    expect(() => read(text, [], 100)).toThrow(expect.objectContaining({ code }) as Http2Error)
  })
})

describe('headersFrames()', () => {
  it.each([
    ['one frame where it fits', 'abcd', ['1 5 7 abcd']],
    ['as many as it needs', 'abcdefghi', ['1 1 7 abcd', '9 0 7 efgh', '9 4 7 i']],
    ['no empty one at its end', 'abcdefgh', ['1 1 7 abcd', '9 4 7 efgh']],
    ['one for nothing', '', ['1 5 7 ']],
  ])('makes %s', (_, block, frames) => expect(read(headersFrames(7, block, true, 4))).toEqual(frames))
})
