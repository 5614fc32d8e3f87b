const lineFeed = 0x0a

/**
 * Splits a stream of UTF-8 at line feeds only; what follows the last one is a line, too. node:readline also splits at
 * U+2028 and U+2029 in some releases, which JSON texts may contain.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  /** The start of an incomplete line. A character may span two chunks, so only whole lines are decoded. */
  let pieces: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let to = chunk.indexOf(lineFeed); to >= 0; to = chunk.indexOf(lineFeed, from)) {
      pieces.push(chunk.subarray(from, to))
      yield Buffer.concat(pieces).toString()
      pieces = []
      from = to + 1
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString()
}
