import { describe, expect, it } from 'vitest'
import { decodeHuffman } from './huffman.ts'

const decode = (hex: string) => {
  const bytes = Buffer.from(hex, 'hex')
  return decodeHuffman(bytes, 0, bytes.length)
}

/** A code and what fills its last byte. */
const filled = (code: number, bits: number): string => {
  const text = code.toString(2).padStart(bits, '0').padEnd(Math.ceil(bits / 8) * 8, '1')
  return text.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, '0')).join('')
}

describe('decodeHuffman()', () => {
  it.each([
    ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
    ['no-cache', 'a8eb10649cbf'],
    ['custom-key', '25a849e95ba97d7f'],
    ['custom-value', '25a849e95bb8e8b4bf'],
    ['302', '6402'],
    ['private', 'aec3771a4b'],
    ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
    ['https://www.example.com', '9d29ad171863c78f0b97c8e9ae82ae43d3'],
    ['', ''],
  ])('reads %j, an example of RFC 7541', (text, hex) => expect(decode(hex)).toBe(text))

  it.each([
    [0, 0x1ff8, 13],
    [1, 0x7fffd8, 23],
    [2, 0xfffffe2, 28],
    [9, 0xffffea, 24],
    [10, 0x3ffffffc, 30],
    [13, 0x3ffffffd, 30],
    [22, 0x3ffffffe, 30],
    [0x21, 0x3f8, 10],
    [0x30, 0x0, 5],
    [0x58, 0xfc, 8],
    [0x5a, 0xfd, 8],
    [0x5c, 0x7fff0, 19],
    [0x7b, 0x7ffe, 15],
    [0x7f, 0xffffffc, 28],
    [0x80, 0xfffe6, 20],
    [0x81, 0x3fffd2, 22],
    [0xc3, 0x7fff1, 19],
    [0xd0, 0x7fff2, 19],
    [0xf9, 0xffffffe, 28],
    [0xfe, 0x7fffff0, 27],
    [0xff, 0x3ffffee, 26],
  ])('reads the byte %i from its code in appendix B', (byte, code, bits) => expect(decode(filled(code, bits))).toBe(String.fromCharCode(byte)))

  it('reads only the bytes it was told to', () => {
    expect(decodeHuffman(Buffer.from('0000a8eb10649cbf0000', 'hex'), 2, 8)).toBe('no-cache')
  })

  it.each([
    ['filling of zeroes', '00'],
    ['filling that has a zero in it', '06'],
    ['a whole byte of filling', '6402ff'],
    ['nothing but filling', 'ff'],
    ['the code of the end, which stands in no text', 'ffffffff'],
    ['the code of the end between letters', '1ffffffff9'],
    ['half a letter', 'fe'],
  ])('is undefined for %s', (_, hex) => expect(decode(hex)).toBeUndefined())
})
