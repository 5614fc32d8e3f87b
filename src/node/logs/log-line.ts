/** A log line in the format of the Container Runtime Interface: `TIME STREAM F text`. */
export interface LogLine {
  time: string
  stream: string
  /** True if the next line of the same stream continues this one. */
  isPart: boolean
  text: Buffer
}

const space = 0x20

/** Returns undefined for a line in another format. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(space)
  const second = first < 0 ? -1 : line.indexOf(space, first + 1)
  if (second < 0) return undefined
  const third = line.indexOf(space, second + 1)
  const tagEnd = third < 0 ? line.length : third
  const tag = line.toString('latin1', second + 1, tagEnd)
  return {
    time: line.toString('latin1', 0, first),
    stream: line.toString('latin1', first + 1, second),
    isPart: tag.startsWith('P'),
    text: line.subarray(third < 0 ? line.length : third + 1),
  }
}

const newline = 0x0a

/** Splits the chunks of a file into lines. */
export class LineSplitter {
  #rest = Buffer.alloc(0)

  /** Returns the lines that are complete now, without line ends. */
  push(piece: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const lines: Buffer[] = []
    let start = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      lines.push(bytes.subarray(start, end))
      start = end + 1
    }
    this.#rest = Buffer.from(bytes.subarray(start))
    return lines
  }
}
