/** Several lines of a watch, in the forms for HTTP/2 and HTTP/1.1. */
export interface WatchChunk {
  readonly lines: Buffer
  /** The HTTP/1.1 chunk. */
  readonly framed: Buffer
}

/** The output of a watch. */
export interface Sink {
  write(chunk: WatchChunk): void
  /** Bytes that are written but not yet sent. */
  backlog(): number
  /** Calls `resume` whenever a backlog has been sent. */
  onDrain(resume: () => void): void
  end(): void
}

/** The end of a chunked response. */
export const lastChunk = '0\r\n\r\n'

/** A longer chunk is not cached: it belongs to a long initial list, which few watchers request at the same time. */
const keptBytes = 1 << 18

/**
 * Joins lines into chunks. Watchers of the same events share the same lines, so they are joined once for all of them.
 */
export class WatchChunks {
  #lines: readonly Buffer[] = []
  #chunk: WatchChunk | undefined

  of(lines: readonly Buffer[]): WatchChunk {
    if (this.#chunk && isSame(lines, this.#lines)) return this.#chunk
    const chunk = joined(lines)
    const isKept = chunk.lines.length <= keptBytes
    this.#lines = isKept ? lines : []
    this.#chunk = isKept ? chunk : undefined
    return chunk
  }
}

function isSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}

function joined(lines: readonly Buffer[]): WatchChunk {
  let length = 0
  for (const line of lines) length += line.length
  const opening = `${length.toString(16)}\r\n`
  const framed = Buffer.allocUnsafeSlow(opening.length + length + 2)
  let at = framed.write(opening, 'latin1')
  for (const line of lines) at += line.copy(framed, at)
  framed.write('\r\n', at, 'latin1')
  return { lines: framed.subarray(opening.length, at), framed }
}
