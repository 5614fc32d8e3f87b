import { describe, expect, it } from 'vitest'
import { ProtobufWriter } from './protobuf-writer.ts'

const written = (fill: (writer: ProtobufWriter) => void) => {
  const writer = new ProtobufWriter()
  fill(writer)
  return writer.finish()
}

describe('ProtobufWriter', () => {
  it.each<[string, (w: ProtobufWriter) => void, number[]]>([
    ['text with its length in bytes', (w) => w.text(1, 'é'), [0x0a, 2, 0xc3, 0xa9]],
    ['nothing of an empty text', (w) => w.text(1, '').text(2, undefined), []],
    ['a field above 15 in two bytes', (w) => w.text(31, 'x'), [0xfa, 0x01, 1, 0x78]],
    ['a flag that is set', (w) => w.flag(4, true).flag(5, false), [0x20, 1]],
    ['each text of a list', (w) => w.texts(1, ['a', 'b']), [0x0a, 1, 0x61, 0x0a, 1, 0x62]],
    ['a message in a message', (w) => w.message(2, (m) => m.message(1, (n) => n.text(1, 'a'))), [0x12, 5, 0x0a, 3, 0x0a, 1, 0x61]],
    ['an empty message', (w) => w.message(2, () => {}), [0x12, 0]],
  ])('writes %s', (_, fill, wanted) => {
    expect([...written(fill)]).toEqual(wanted)
  })

  it.each([127, 128, 16_383, 16_384, 3_000_000])('makes room for the length of a message of %i bytes', (size) => {
    const text = 'x'.repeat(size)
    const bytes = written((w) => w.message(1, (m) => m.text(1, text)).text(2, 'end'))
    let at = 1
    let length = 0
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = bytes[at++]!
      length |= (byte & 127) << shift
      if (byte < 128) break
    }
    expect(bytes.subarray(at, at + length).subarray(-size).toString()).toBe(text)
    expect(bytes.subarray(at + length).toString()).toBe('\x12\x03end')
  })
})
