/** Lines of a watch that go out together, in the forms that the wire has for them. */
export interface WatchChunk {
  readonly lines: Buffer
  /** The same as a chunk of HTTP/1.1. */
  readonly framed: Buffer
}

/** What ends an answer in chunks. */
export const lastChunk = '0\r\n\r\n'

/** A chunk longer than this is not kept for the next watcher: it is one of a long list, which few ask for at the same time. */
const keptBytes = 1 << 18

/** Puts lines together. Watchers of the same events get the same lines, one after the other: they are put together once for all of them. */
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
