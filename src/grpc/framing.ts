import { RpcError } from './status.ts'

/** A message is preceded by one byte, 1 if it is compressed, and its length in four. */
export const frameHeadBytes = 5

/** Fills the head of a frame, whose message follows in the same buffer. */
export function fillFrameHead(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - frameHeadBytes, 1)
  return frame
}

/** Cuts the data of a stream into messages. */
export class FrameReader {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #bytes = 0
  /** Bytes of the frame that is coming, its head included; undefined while its head is not here. */
  #expected: number | undefined

  /** A message of more than `maxBytes` is refused. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** True if a message has begun and not ended. */
  get isAmid(): boolean {
    return this.#bytes > 0
  }

  /** The messages that are complete with this piece. Throws RpcError. */
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
    if (length > this.#maxBytes) throw new RpcError('ResourceExhausted', `received message larger than max (${length} vs. ${this.#maxBytes})`)
    return length
  }

  #joined(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#bytes)]
    return this.#pieces[0]!
  }
}
