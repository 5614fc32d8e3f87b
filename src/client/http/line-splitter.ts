const newline = 0x0a

/**
 * Splits a byte stream into lines. Each byte is scanned once, however long the line and small the chunks. Only complete
 * lines are decoded, because a character may span two chunks.
 */
export class LineSplitter {
  readonly #take: (line: string) => void
  /** The start of an incomplete line. */
  #pieces: Buffer[] = []
  #isStopped = false

  constructor(take: (line: string) => void) {
    this.#take = take
  }

  push(chunk: Buffer): void {
    let from = 0
    while (!this.#isStopped) {
      const to = chunk.indexOf(newline, from)
      if (to < 0) break
      const line = this.#pieces.length === 0 ? chunk.toString('utf8', from, to) : this.#finish(chunk.subarray(from, to))
      from = to + 1
      if (line !== '') this.#take(line)
    }
    if (from < chunk.length && !this.#isStopped) this.#pieces.push(from === 0 ? chunk : chunk.subarray(from))
  }

  /** Emits the text after the last line end, if there is any. */
  end(): void {
    if (this.#pieces.length === 0 || this.#isStopped) return
    const line = this.#finish(Buffer.alloc(0))
    if (line !== '') this.#take(line)
  }

  /** Stops immediately: even the rest of the current chunk is dropped. */
  stop(): void {
    this.#isStopped = true
    this.#pieces = []
  }

  #finish(last: Buffer): string {
    this.#pieces.push(last)
    const line = Buffer.concat(this.#pieces).toString('utf8')
    this.#pieces = []
    return line
  }
}
