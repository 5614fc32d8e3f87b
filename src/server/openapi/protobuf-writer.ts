/** Writes protobuf messages into a growing buffer. Empty strings and false are omitted, as in proto3. */
export class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(1 << 20)
  #at = 0

  text(field: number, value: unknown): this {
    if (typeof value !== 'string' || value === '') return this
    const length = Buffer.byteLength(value)
    this.#reserve(length + 12)
    this.#varint((field << 3) | 2)
    this.#varint(length)
    this.#at += this.#buffer.write(value, this.#at)
    return this
  }

  texts(field: number, values: unknown): this {
    if (Array.isArray(values)) for (const value of values) this.text(field, value)
    return this
  }

  flag(field: number, value: unknown): this {
    if (value !== true) return this
    this.#reserve(12)
    this.#varint(field << 3)
    this.#varint(1)
    return this
  }

  /** Writes a message field, whose fields `fill` writes. */
  message(field: number, fill: (writer: this) => void): this {
    this.#reserve(12)
    this.#varint((field << 3) | 2)
    const start = this.#at
    fill(this)
    const length = this.#at - start
    // The length prefix is written last, since its own size depends on the length. The content is moved to make room.
    const size = length < 1 << 7 ? 1 : length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : 4
    this.#reserve(size)
    this.#buffer.copyWithin(start + size, start, this.#at)
    this.#at = start
    this.#varint(length)
    this.#at = start + size + length
    return this
  }

  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#at))
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.#buffer[this.#at++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#buffer[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}
