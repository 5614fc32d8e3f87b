import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bool, bytes, int, nested, optional, repeated, string } from './fields.ts'
import { MessageReader, fillFrameHead, frameHeadBytes } from './framing.ts'
import { message } from './message.ts'
import { RpcError } from './status.ts'

const Inner = message({ name: string(1), data: bytes(5), count: int(300) })
const Outer = message({ head: nested(1, () => Inner), items: repeated(nested(2, () => Inner)), more: bool(3), count: optional(int(2000)), numbers: repeated(int(7)) })
type Value = ReturnType<typeof Outer.decode>

const inner = fc.record({ name: fc.string(), data: fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)), count: fc.integer() })
const anyMessage = fc.record({
  head: fc.option(inner, { nil: undefined }),
  items: fc.array(inner, { maxLength: 6 }),
  more: fc.boolean(),
  count: fc.option(fc.integer(), { nil: undefined }),
  numbers: fc.array(fc.maxSafeInteger(), { maxLength: 4 }),
})
const frameOf = (value: Parameters<typeof Outer.encode>[0]) => fillFrameHead(Outer.encode(value, frameHeadBytes))

/** The data in pieces of these lengths, the rest in one. */
function pieces(data: Buffer, lengths: readonly number[]): Buffer[] {
  const found: Buffer[] = []
  let at = 0
  for (const length of lengths) {
    if (at >= data.length) break
    found.push(data.subarray(at, at + length))
    at += length
  }
  if (at < data.length) found.push(data.subarray(at))
  return found
}

function read(data: Buffer, lengths: readonly number[], maxBytes = 1 << 20): Value[] {
  const reader = new MessageReader(Outer, maxBytes)
  const found: Value[] = []
  for (const piece of pieces(data, lengths)) reader.take(piece, (value) => found.push(value))
  expect(reader.isAmid).toBe(false)
  return found
}

describe('MessageReader', () => {
  const anyLengths = fc.array(fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.integer({ min: 1, max: 700 })), { maxLength: 200 })

  it('decodes the same messages however their bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 4 }), anyLengths, (values, lengths) => {
        const data = Buffer.concat(values.map(frameOf))
        expect(read(data, lengths)).toEqual(values.map((value) => Outer.decode(Outer.encode(value))))
      }),
    )
  })

  it('skips fields that it does not know, at every cut', () => {
    const Other = message({ text: string(900), inner: nested(1, () => Inner), big: int(901) })
    const data = fillFrameHead(Other.encode({ text: 'x'.repeat(50), inner: { name: 'a' }, big: 2 ** 50 }, frameHeadBytes))
    for (let cut = 1; cut < data.length; cut++) expect(read(data, [cut])).toEqual([Outer.decode(Outer.encode({ head: { name: 'a' } }))])
  })

  it.each([
    ['ends amid a field', '0a05', 'proto: unexpected end of message'],
    ['has a field that is longer than itself', '0aff7f', 'proto: unexpected end of message'],
    ['ends amid a number', '1880', 'proto: unexpected end of message'],
    ['has a number of eleven bytes', '18ffffffffffffffffffff01', 'proto: integer overflow'],
    ['has a type that is none', '0f00', 'proto: illegal wireType 7'],
    ['has a field 0', '0000', 'proto: illegal tag 0'],
  ])('refuses a message that %s, at every cut', (_, hex, expected) => {
    const data = fillFrameHead(Buffer.concat([Buffer.alloc(frameHeadBytes), Buffer.from(hex, 'hex')]))
    for (let cut = frameHeadBytes; cut < data.length; cut++) expect(() => read(data, [cut])).toThrow(expected)
  })

  it('refuses a message that is too large or compressed before it arrives', () => {
    const reader = new MessageReader(Outer, 100)
    expect(() => reader.take(Buffer.from('0000000065', 'hex'), () => {})).toThrow(RpcError)
    expect(() => new MessageReader(Outer, 100).take(Buffer.from('0100000001', 'hex'), () => {})).toThrow('compressed')
  })

  it('is amid a message from its first byte to its last', () => {
    const data = frameOf({ items: [{ name: 'a' }, { name: 'b' }] })
    const reader = new MessageReader(Outer, 100)
    const states: boolean[] = []
    for (const byte of data) {
      reader.take(Buffer.from([byte]), () => {})
      states.push(reader.isAmid)
    }
    expect(states).toEqual([...Array.from({ length: data.length - 1 }, () => true), false])
  })
})
