/** Receives the parts of a response in order. */
export interface AnswerEvents {
  head(code: number): void
  /** A piece of the body. */
  body(piece: Buffer): void
  end(): void
}

type State = 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'done'

const newline = 0x0a
const headEnd = '\r\n\r\n'

/** Reads one answer of HTTP/1.1, of known length or in chunks, as its bytes arrive. */
export class AnswerReader {
  readonly #on: AnswerEvents
  #state: State = 'head'
  #unread: Buffer = Buffer.alloc(0)
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0
  /** The incomplete line: the digits of a chunk's size, or a mark that a trailer's line has content. */
  #line = ''

  constructor(on: AnswerEvents) {
    this.#on = on
  }

  take(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && this.#state !== 'done') at = this.#step(chunk, at)
  }

  /** Reads on from `at`; answers how far it came. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(chunk, at)
      case 'body':
      case 'chunk':
        return this.#readBody(chunk, at)
      default:
        return this.#readLine(chunk, at)
    }
  }

  #readHead(chunk: Buffer, from: number): number {
    const bytes = this.#unread.length ? Buffer.concat([this.#unread, chunk]) : chunk
    const start = this.#unread.length ? 0 : from
    const end = bytes.indexOf(headEnd, start)
    if (end < 0) {
      this.#unread = bytes.subarray(start)
      return chunk.length
    }
    const text = bytes.toString('latin1', start, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    this.#state = length === undefined ? 'chunk size' : 'body'
    if (length === undefined && !/\r\ntransfer-encoding: *chunked/i.test(text)) throw new Error('an answer has neither a length nor chunks')
    this.#left = Number(length ?? 0)
    this.#on.head(Number(text.slice(9, 12)))
    if (this.#state === 'body' && this.#left === 0) this.#end()
    return end + headEnd.length - (bytes.length - chunk.length)
  }

  #readBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    this.#left -= end - at
    this.#on.body(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
    if (this.#left === 0) {
      if (this.#state === 'body') this.#end()
      else this.#state = 'chunk end'
    }
    return end
  }

  /** Takes in a line up to its end, and what follows from it once it is whole. */
  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(newline, at)
    this.#line += chunk.toString('latin1', at, end < 0 ? chunk.length : end)
    if (end < 0) return chunk.length
    const line = this.#line.trimEnd()
    this.#line = ''
    if (this.#state === 'chunk end') this.#state = 'chunk size'
    else if (this.#state === 'chunk size') {
      this.#left = Number.parseInt(line, 16)
      this.#state = this.#left === 0 ? 'trailer' : 'chunk'
    } else if (line === '') this.#end()
    return end + 1
  }

  #end(): void {
    this.#state = 'done'
    this.#on.end()
  }
}
