/** The error of bytes that are no valid message of the expected type. */
export class WireError extends Error {
  constructor(message: string) {
    super(`proto: ${message}`)
    this.name = 'WireError'
  }
}

export const WireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** Reads one message. Returned buffers share memory with the message. */
export class WireReader {
  readonly bytes: Buffer
  at: number
  readonly end: number

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  /** An unsigned number as a double. Numbers above 2^53 lose their lowest bits. */
  number(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw new WireError('integer overflow')
  }

  /** An unsigned 64-bit number. */
  bigint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new WireError('integer overflow')
  }

  /** The end offset of a length-delimited field whose length starts at `at`. */
  length(): number {
    const end = this.number() + this.at
    if (end > this.end) throw new WireError('unexpected end of message')
    return end
  }

  /** A reader of the bytes up to `end`. */
  within(end: number): WireReader {
    return new WireReader(this.bytes, this.at, end)
  }

  skip(wireType: number): void {
    if (wireType === WireType.varint) this.number()
    else if (wireType === WireType.bytes) this.at = this.length()
    else if (wireType === WireType.fixed64) this.#forward(8)
    else if (wireType === WireType.fixed32) this.#forward(4)
    else throw new WireError(`illegal wireType ${wireType}`)
  }

  #forward(bytes: number): void {
    this.at += bytes
    if (this.at > this.end) throw new WireError('unexpected end of message')
  }

  #byte(): number {
    if (this.at >= this.end) throw new WireError('unexpected end of message')
    return this.bytes[this.at++]!
  }
}

/**
 * Returns the size of the field that starts at `at`, tag included, even if it ends after `end`. Undefined if the bytes
 * before `end` do not tell it.
 */
export function fieldSize(bytes: Buffer, at: number, end: number): number | undefined {
  const tagEnd = varintEnd(bytes, at, end)
  if (tagEnd === undefined) return undefined
  switch (bytes[at]! & 7) {
    case WireType.varint: {
      const valueEnd = varintEnd(bytes, tagEnd, end)
      return valueEnd && valueEnd - at
    }
    case WireType.fixed64:
      return tagEnd + 8 - at
    case WireType.bytes: {
      const lengthEnd = varintEnd(bytes, tagEnd, end)
      return lengthEnd && lengthEnd + new WireReader(bytes, tagEnd, lengthEnd).number() - at
    }
    case WireType.fixed32:
      return tagEnd + 4 - at
    default:
      throw new WireError(`illegal wireType ${bytes[at]! & 7}`)
  }
}

function varintEnd(bytes: Buffer, from: number, end: number): number | undefined {
  for (let at = from; at < end; at++) {
    if (at - from >= 10) throw new WireError('integer overflow')
    if (bytes[at]! < 0x80) return at + 1
  }
  return undefined
}

/** Writes into a buffer of a precomputed size. */
export class WireWriter {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes
    this.at = at
  }

  number(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.bytes[this.at++] = (rest % 128) | 0x80
    this.bytes[this.at++] = rest
  }

  bigint(value: bigint): void {
    let rest = BigInt.asUintN(64, value)
    for (; rest >= 0x80n; rest >>= 7n) this.bytes[this.at++] = Number(rest & 0x7fn) | 0x80
    this.bytes[this.at++] = Number(rest)
  }
}

/** The size of a varint in bytes. */
export function varintSize(value: number | bigint): number {
  if (value < 0) return 10
  if (typeof value === 'bigint') return Math.max(1, Math.ceil(value.toString(2).length / 7))
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) size++
  return size
}
