import type { Decoded, MessageFields, MessageType } from './message.ts'
import { WireError, WireReader, fieldSize } from './wire.ts'

/** The maximum size of a field's tag and length. */
const maxFieldHead = 20
const nothing = Buffer.alloc(0)

/**
 * A message that arrives in pieces. Its fields are decoded as they arrive, so a message of many fields, such as the
 * 16 MB of a page of etcd, never needs a buffer of its size. Decoded bytes share memory with the pieces.
 */
export class PartialMessage<Fields extends MessageFields> {
  readonly #type: MessageType<Fields>
  readonly #value: Decoded<Fields>
  /** The number of bytes that have yet to arrive. */
  #left: number
  /** The start of a field whose size is not known yet. */
  #start: Buffer = nothing
  /** A field that does not end in the piece in which it began, and the number of its bytes that have arrived. */
  #field: Buffer | undefined
  #filled = 0

  constructor(type: MessageType<Fields>, length: number) {
    this.#type = type
    this.#value = type.absent()
    this.#left = length
  }

  get isComplete(): boolean {
    return this.#left === 0
  }

  /** Takes the bytes of a piece from `from` on, as far as they belong to this message, and returns their end. */
  take(piece: Buffer, from: number): number {
    const end = Math.min(piece.length, from + this.#left)
    this.#left -= end - from
    const at = this.#fill(piece, this.#resume(piece, from, end), end)
    const whole = endOfFields(piece, at, end)
    this.#read(piece, at, whole)
    if (whole < end) this.#begin(piece.subarray(whole, end))
    return end
  }

  /** Returns the message after its last byte has arrived. Throws WireError if it ends amid a field. */
  end(): Decoded<Fields> {
    if (this.#field || this.#start.length > 0) throw new WireError('unexpected end of message')
    return this.#value
  }

  /** Continues a field whose size was not known. Returns the position after the bytes that were used. */
  #resume(piece: Buffer, at: number, end: number): number {
    const known = this.#start.length
    if (known === 0) return at
    const used = Math.min(end, at + maxFieldHead)
    const start = Buffer.concat([this.#start, piece.subarray(at, used)])
    const size = fieldSize(start, 0, start.length)
    // Up to 20 bytes suffice, so these are all bytes of the piece.
    if (size === undefined) {
      this.#start = start
      return end
    }
    this.#start = nothing
    this.#begin(start.subarray(0, Math.min(known, size)), size, end - at)
    return at
  }

  /** Keeps the start of a field. `behind` is the number of bytes of this piece after it. */
  #begin(start: Buffer, size = fieldSize(start, 0, start.length), behind = 0): void {
    if (size === undefined) {
      this.#start = Buffer.from(start)
      return
    }
    if (size > start.length + behind + this.#left) throw new WireError('unexpected end of message')
    this.#field = Buffer.allocUnsafe(size)
    this.#filled = start.copy(this.#field)
  }

  /** Fills the field that the last piece has begun. */
  #fill(piece: Buffer, at: number, end: number): number {
    const field = this.#field
    if (!field) return at
    const copied = piece.copy(field, this.#filled, at, Math.min(end, at + field.length - this.#filled))
    this.#filled += copied
    if (this.#filled < field.length) return end
    this.#field = undefined
    this.#read(field, 0, field.length)
    return at + copied
  }

  #read(bytes: Buffer, at: number, end: number): void {
    if (at < end) this.#type.readFields(this.#value, new WireReader(bytes, at, end))
  }
}

/** Returns the end of the last field that ends before `end`. */
function endOfFields(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end) {
    const size = fieldSize(bytes, at, end)
    if (size === undefined || at + size > end) return at
    at += size
  }
  return at
}
