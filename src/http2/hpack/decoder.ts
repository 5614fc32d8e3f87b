import { ErrorCode, Http2Error } from '../errors.ts'
import { decodeHuffman } from './huffman.ts'
import { RecentFields, sizeOf } from './recent-fields.ts'
import { type Field, staticTable } from './static-table.ts'

/** The size of the dynamic table. It is the default, so no setting is sent. */
const tableBytes = 4096

const broken = (why: string) => new Http2Error(ErrorCode.compressionError, `header fields cannot be read: ${why}`)

/** Decodes header blocks. Each block depends on the blocks before it. */
export class HeaderDecoder {
  readonly #recent = new RecentFields(tableBytes)
  /** Fields beyond this size are decoded, because later blocks may refer to them, but not returned. */
  readonly #maxListBytes: number
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes
  }

  /**
   * The fields of a block in order. Undefined if they exceed the limit. Throws an Http2Error if the block is invalid.
   */
  decode(block: Buffer): Field[] | undefined {
    this.#block = block
    this.#at = 0
    const fields: Field[] = []
    let listBytes = 0
    while (this.#at < block.length) {
      const field = this.#next(fields.length === 0)
      if (!field) continue
      listBytes += sizeOf(field)
      if (listBytes <= this.#maxListBytes) fields.push(field)
    }
    return listBytes <= this.#maxListBytes ? fields : undefined
  }

  /** Returns undefined for a table size update, which may only precede the first field. */
  #next(mayResize: boolean): Field | undefined {
    const first = this.#block[this.#at]!
    if (first >= 0x80) return this.#indexed(this.#integer(0x7f))
    if (first >= 0x40) {
      const field = this.#literal(0x3f)
      this.#recent.add(field)
      return field
    }
    if (first < 0x20) return this.#literal(0x0f)
    const size = this.#integer(0x1f)
    if (!mayResize || size > tableBytes) throw broken('a table of a size that is not allowed')
    this.#recent.resize(size)
    return undefined
  }

  #indexed(index: number): Field {
    const field =
      index <= staticTable.length ? staticTable[index - 1] : this.#recent.get(index - staticTable.length - 1)
    if (!field) throw broken('an index of nothing')
    return field
  }

  #literal(prefix: number): Field {
    const index = this.#integer(prefix)
    const name = index === 0 ? this.#text() : this.#indexed(index).name
    return { name, value: this.#text() }
  }

  #text(): string {
    const isHuffman = this.#block[this.#at]! >= 0x80
    const length = this.#integer(0x7f)
    const start = this.#at
    const end = start + length
    if (end > this.#block.length) throw broken('a text beyond their end')
    this.#at = end
    if (!isHuffman) return this.#block.toString('latin1', start, end)
    const text = decodeHuffman(this.#block, start, end)
    if (text === undefined) throw broken('a text in no code')
    return text
  }

  /**
   * Decodes an integer whose first bits are those of `prefix` (RFC 7541, section 5.1). Example: with prefix 0x1f, the
   * bytes 1f 9a 0a are 31 + 26 + 10 × 128 = 1337.
   */
  #integer(prefix: number): number {
    const block = this.#block
    if (this.#at >= block.length) throw broken('they end too early')
    let value = block[this.#at++]! & prefix
    if (value < prefix) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= block.length) throw broken('they end too early')
      const byte = block[this.#at++]!
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw broken('a number that is too large')
  }
}
