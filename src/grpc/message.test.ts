import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bool, bytes, int, int64, map, nested, optional, repeated, string, uint64 } from './fields.ts'
import { type MessageType, message } from './message.ts'

const Inner = message({ name: string(1), count: int(2) })
const Everything = message({
  text: string(1),
  data: bytes(2),
  flag: bool(3),
  small: int(4),
  big: int64(5),
  id: uint64(6),
  inner: nested(7, () => Inner),
  texts: repeated(string(8)),
  numbers: repeated(int(9)),
  inners: repeated(nested(10, () => Inner)),
  chosen: optional(int(11)),
  labels: map(2000, string(2)),
})
type Fields = typeof Everything extends MessageType<infer F> ? F : never

const zeroes = { text: '', data: Buffer.alloc(0), flag: false, small: 0, big: 0n, id: 0n, inner: undefined, texts: [], numbers: [], inners: [], chosen: undefined, labels: {} }

describe('message tables', () => {
  it.each<[string, Parameters<typeof Everything.encode>[0], string]>([
    ['nothing', {}, ''],
    ['zeroes, which are left out', { text: '', small: 0, flag: false, data: Buffer.alloc(0) }, ''],
    ['a text', { text: 'testing' }, '0a0774657374696e67'],
    ['a number of two bytes', { small: 300 }, '20ac02'],
    ['a negative number, in ten bytes', { small: -1 }, '20ffffffffffffffffff01'],
    ['2^53 - 1', { small: 2 ** 53 - 1 }, '20ffffffffffffff0f'],
    ['a zero of a oneof', { chosen: 0 }, '5800'],
    ['an empty message', { inner: {} }, '3a00'],
    ['zeroes in a list', { texts: ['', 'a'], numbers: [0, 1] }, '420042016148004801'],
  ])('write %s', (_, value, hex) => {
    expect(Everything.encode(value).toString('hex')).toBe(hex)
    expect(Everything.decode(Buffer.from(hex, 'hex'))).toEqual({ ...zeroes, ...value, ...(value.inner ? { inner: { name: '', count: 0 } } : {}) })
  })

  it('read back what they have written', () => {
    const inner = fc.record({ name: fc.string({ unit: 'grapheme' }), count: fc.integer() })
    const any = fc.record({
      text: fc.string({ unit: 'grapheme' }),
      data: fc.uint8Array().map((array) => Buffer.from(array)),
      flag: fc.boolean(),
      small: fc.maxSafeInteger(),
      big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      inner: fc.option(inner, { nil: undefined }),
      texts: fc.array(fc.string()),
      numbers: fc.array(fc.integer()),
      inners: fc.array(inner),
      chosen: fc.option(fc.integer(), { nil: undefined }),
      labels: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
    })
    fc.assert(fc.property(any, (value) => void expect(Everything.decode(Everything.encode(value))).toEqual(value)))
  })

  it('leave room in front', () => {
    const encoded = Everything.encode({ text: 'a' }, 5)
    expect(encoded.subarray(5).toString('hex')).toBe('0a0161')
  })

  it('read packed numbers, and skip what they do not know', () => {
    const unknown = '9001059101000000000000000092010161950100000000'
    expect(Everything.decode(Buffer.from(`4a020102${unknown}2001`, 'hex'))).toMatchObject({ numbers: [1, 2], small: 1 })
  })

  it.each([
    ['a length beyond the end', '0a05'],
    ['a number without an end', '20ff'],
    ['a number of eleven bytes', '20ffffffffffffffffffffff01'],
    ['a field 0', '00'],
    ['another type of field', '0800'],
    ['a type that is none', '9601'],
  ])('refuse %s', (_, hex) => {
    expect(() => Everything.decode(Buffer.from(hex, 'hex'))).toThrow(/^proto: /)
  })

  it('never fail but by a WireError, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (array) => {
        try {
          Everything.decode(Buffer.from(array))
        } catch (e) {
          expect((e as Error).name).toBe('WireError')
        }
      }),
    )
  })

  it('type what they decode', () => {
    const value: { [Name in keyof Fields]: unknown } = Everything.decode(Buffer.alloc(0))
    expect(value).toEqual(zeroes)
  })
})
