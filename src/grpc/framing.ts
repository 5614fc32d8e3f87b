import type { Decoded, MessageFields, MessageType } from './message.ts'
import { PartialMessage } from './partial-message.ts'
import { RpcError } from './status.ts'

/** The size of a message's prefix: one byte for compression and a length of four bytes. */
export const frameHeadBytes = 5

/** Fills the prefix of a message that follows in the same buffer. */
export function fillFrameHead(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - frameHeadBytes, 1)
  return frame
}

const nothing = Buffer.alloc(0)

/** Decodes the messages in the data of a stream. */
export class MessageReader<Fields extends MessageFields> {
  readonly #type: MessageType<Fields>
  readonly #maxBytes: number
  /** The bytes of an incomplete prefix. */
  #head: Buffer = nothing
  /** The message that is arriving. */
  #partial: PartialMessage<Fields> | undefined

  /** Messages of more than `maxBytes` are rejected. */
  constructor(type: MessageType<Fields>, maxBytes: number) {
    this.#type = type
    this.#maxBytes = maxBytes
  }

  /** True if a message is incomplete. */
  get isAmid(): boolean {
    return this.#partial !== undefined || this.#head.length > 0
  }

  /** Takes a piece of data and passes on the messages that it completes. Throws an RpcError or a WireError. */
  take(piece: Buffer, onMessage: (message: Decoded<Fields>) => void): void {
    let at = 0
    for (;;) {
      if (!this.#partial) {
        const headEnd = at + frameHeadBytes - this.#head.length
        const head = this.#head.length > 0 ? Buffer.concat([this.#head, piece.subarray(at, headEnd)]) : piece
        const headAt = this.#head.length > 0 ? 0 : at
        if (headEnd > piece.length) {
          this.#head = Buffer.from(head.subarray(headAt))
          return
        }
        this.#head = nothing
        const length = this.#bodyLength(head, headAt)
        at = headEnd
        if (at + length <= piece.length) {
          onMessage(this.#type.decode(piece.subarray(at, at + length)))
          at += length
          continue
        }
        this.#partial = new PartialMessage(this.#type, length)
      }
      at = this.#partial.take(piece, at)
      if (!this.#partial.isComplete) return
      const message = this.#partial.end()
      this.#partial = undefined
      onMessage(message)
    }
  }

  #bodyLength(head: Buffer, at: number): number {
    if (head[at] !== 0) throw new RpcError('Unimplemented', 'the answer is compressed without being requested so')
    const length = head.readUInt32BE(at + 1)
    if (length > this.#maxBytes)
      throw new RpcError('ResourceExhausted', `received message larger than max (${length} vs. ${this.#maxBytes})`)
    return length
  }
}
