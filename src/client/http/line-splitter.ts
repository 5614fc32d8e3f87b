const newline = 0x0a

/**
 * Cuts a stream of bytes into lines of text. Each byte is looked at once, however long the line and however small the chunks, and
 * text is only decoded from whole lines: a character may be spread over two chunks.
 */
export class LineSplitter {
  readonly #take: (line: string) => void
  /** The beginning of a line whose end has not come yet. */
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

  /** Hands over what comes after the last end of a line, if anything. */
  end(): void {
    if (this.#pieces.length === 0 || this.#isStopped) return
    const line = this.#finish(Buffer.alloc(0))
    if (line !== '') this.#take(line)
  }

  /** Nothing is handed over any more, not even the rest of the present chunk. */
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
