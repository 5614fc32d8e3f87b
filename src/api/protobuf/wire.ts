/** An invalid protobuf message. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProtobufError'
  }
}

/** A field of a message in wire format. */
export type WireField =
  | { number: number; type: 'varint'; value: bigint }
  | { number: number; type: 'fixed'; bytes: Buffer }
  | { number: number; type: 'bytes'; bytes: Buffer }

const truncated = () => new ProtobufError('proto: unexpected end of message')

/** Decodes the fields of a message in order. Throws ProtobufError. */
export function* wireFields(message: Buffer): IterableIterator<WireField> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) throw truncated()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('proto: integer overflow')
  }
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw truncated()
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const key = Number(varint())
    const number = key >>> 3
    if (number === 0) throw new ProtobufError('proto: illegal tag 0')
    switch (key & 7) {
      case 0:
        yield { number, type: 'varint', value: varint() }
        break
      case 1:
        yield { number, type: 'fixed', bytes: take(8) }
        break
      case 2:
        yield { number, type: 'bytes', bytes: take(Number(varint())) }
        break
      case 5:
        yield { number, type: 'fixed', bytes: take(4) }
        break
      default:
        throw new ProtobufError(`proto: illegal wireType ${key & 7}`)
    }
  }
}
