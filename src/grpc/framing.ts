import { RpcError } from './status.ts'

/** The size of a message's prefix: one byte for compression and a length of four bytes. */
export const frameHeadBytes = 5

/** Fills the prefix of a message that follows in the same buffer. */
export function fillFrameHead(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - frameHeadBytes, 1)
  return frame
}

/** Splits the data of a stream into messages. */
export class FrameReader {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #bytes = 0
  /** The size of the incomplete message, prefix included; undefined until its prefix is complete. */
  #expected: number | undefined

  /** Messages of more than `maxBytes` are rejected. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** True if a message is incomplete. */
  get isAmid(): boolean {
    return this.#bytes > 0
  }

  /** Takes a piece of data and returns the messages that it completes. Throws an RpcError. */
  take(piece: Buffer): Buffer[] {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    const messages: Buffer[] = []
    for (;;) {
      if (this.#expected === undefined) {
        if (this.#bytes < frameHeadBytes) return messages
        this.#expected = frameHeadBytes + this.#bodyLength(this.#joined())
      }
      if (this.#bytes < this.#expected) return messages
      const bytes = this.#joined()
      messages.push(bytes.subarray(frameHeadBytes, this.#expected))
      this.#bytes -= this.#expected
      this.#pieces = this.#bytes > 0 ? [bytes.subarray(this.#expected)] : []
      this.#expected = undefined
    }
  }

  #bodyLength(head: Buffer): number {
    if (head[0] !== 0) throw new RpcError('Unimplemented', 'the answer is compressed, which was not asked for')
    const length = head.readUInt32BE(1)
    if (length > this.#maxBytes)
      throw new RpcError('ResourceExhausted', `received message larger than max (${length} vs. ${this.#maxBytes})`)
    return length
  }

  #joined(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#bytes)]
    return this.#pieces[0]!
  }
}
