import { type LogLine, parseLogLine } from './log-line.ts'
import type { LogOptions } from './log-options.ts'

const lineEnd = Buffer.from('\n')

/** Formats stored log lines for the client, within its limits. */
export class Shown {
  readonly #options: LogOptions
  readonly #stream: string | undefined
  #left: number
  #isInLine = false

  constructor(options: LogOptions) {
    this.#options = options
    this.#stream = options.stream === 'All' ? undefined : options.stream.toLowerCase()
    this.#left = options.limitBytes ?? Infinity
  }

  /** True if the limits are reached. */
  get isFull(): boolean {
    return this.#left <= 0
  }

  show(lines: readonly Buffer[]): Buffer {
    const parts: Buffer[] = []
    for (const line of lines) {
      const parsed = parseLogLine(line)
      if (parsed && this.#isWanted(parsed)) this.#add(parts, parsed)
    }
    const bytes = Buffer.concat(parts)
    const shown = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= shown.length
    return shown
  }

  #isWanted({ time, stream }: LogLine): boolean {
    const { sinceMs } = this.#options
    return (
      (this.#stream === undefined || this.#stream === stream) && (sinceMs === undefined || Date.parse(time) >= sinceMs)
    )
  }

  #add(parts: Buffer[], { time, isPart, text }: LogLine): void {
    if (this.#options.timestamps && !this.#isInLine) parts.push(Buffer.from(`${time} `))
    parts.push(text)
    if (!isPart) parts.push(lineEnd)
    this.#isInLine = isPart
  }
}
