import { describe, expect, it } from 'vitest'
import { ProtobufError, wireFields } from './wire.ts'

const read = (...bytes: number[]) => [...wireFields(Buffer.from(bytes))].map((f) => (f.type === 'varint' ? [f.number, f.value] : [f.number, f.bytes.toString('hex')]))

describe('wireFields()', () => {
  it.each([
    ['nothing', [], []],
    ['a small number', [0x08, 5], [[1, 5n]]],
    ['a number of several bytes', [0x08, 0x96, 0x01], [[1, 150n]]],
    ['the largest number', [0x08, ...Array<number>(9).fill(0xff), 0x01], [[1, 0xffff_ffff_ffff_ffffn]]],
    ['bytes', [0x12, 2, 0xab, 0xcd], [[2, 'abcd']]],
    ['no bytes', [0x12, 0], [[2, '']]],
    ['eight and four fixed bytes', [0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4], [[1, '0102030405060708'], [2, '01020304']]],
    ['a field of a high number', [0x82, 0x01, 0], [[16, '']]],
  ])('reads %s', (_what, bytes, expected) => {
    expect(read(...bytes)).toEqual(expected)
  })

  it.each([
    ['a number that ends too soon', [0x08, 0x80]],
    ['a number without end', [0x08, ...Array<number>(11).fill(0x80)]],
    ['bytes that end too soon', [0x12, 5, 1]],
    ['a length beyond everything', [0x12, ...Array<number>(9).fill(0xff), 0x7f]],
    ['fixed bytes that end too soon', [0x09, 1]],
    ['a group', [0x0b]],
    ['a type that is none', [0x0f]],
    ['field 0', [0x00, 1]],
  ])('refuses %s', (_what, bytes) => {
    expect(() => read(...bytes)).toThrow(ProtobufError)
  })
})
