/** The log of a container: followed, or as it is now. */
export interface LogSource {
  namespace: string
  name: string
  container: string
  isFollowed: boolean
  isPrevious: boolean
}

/** The functions of the browser that a reader uses. */
export interface LogHost {
  /** Requests a log. Rejects with the server's refusal. */
  open(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Runs `fn` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fn: () => void): () => void
}

/** Older lines are dropped. */
const mostLines = 5000
/** Delays before a followed log is requested again. The first applies after new lines. */
const retryMs = [1000, 2000, 5000, 10_000]

/** The timestamp at the beginning of a line, in a form that can be compared. Undefined if it has none. */
const stampOf = (line: string): string | undefined => /^(\d{4}-\d\d-\d\dT[\d:.]+)(?:Z|[+-]\d\d:\d\d) /.exec(line)?.[1]

/**
 * Reads a log. A followed log is requested again from its last line after each end: after a broken connection, and
 * after the end of a container, which may be started again.
 */
export class LogReader {
  readonly lines: string[] = []
  /** Number of lines that were dropped before the first one. */
  dropped = 0
  /** The reason why there are no new lines. */
  note = ''
  readonly #host: LogHost
  readonly #source: LogSource
  readonly #changed: () => void
  #running: AbortController | undefined
  #cancelRetry = () => {}
  #tries = 0
  /** The last timestamp and the lines that have it, to recognize lines that are sent again. */
  #last: { stamp: string; time: string; lines: Set<string> } | undefined

  constructor(host: LogHost, source: LogSource, changed: () => void) {
    this.#host = host
    this.#source = source
    this.#changed = changed
  }

  /** Starts to read, or goes on after `pause`. */
  start(): void {
    if (!this.#running) void this.#read()
  }

  /** Stops to read, and closes the connection. */
  pause(): void {
    this.#cancelRetry()
    this.#running?.abort()
    this.#running = undefined
  }

  async #read(): Promise<void> {
    const { namespace, name, container, isFollowed, isPrevious } = this.#source
    const running = new AbortController()
    this.#running = running
    const before = this.lines.length + this.dropped
    let note = ''
    try {
      const pieces = await this.#host.open(
        {
          namespace,
          name,
          container,
          follow: String(isFollowed && !isPrevious),
          previous: String(isPrevious),
          ...(this.#last ? { sinceTime: this.#last.time } : {}),
        },
        running.signal,
      )
      if (running.signal.aborted) return
      if (this.note) this.#say('')
      await this.#take(pieces, running.signal)
      if (isFollowed && !isPrevious) note = 'The log has ended. Its next lines are shown as soon as there are some.'
    } catch (e) {
      note = (e as Error).message
    }
    if (running.signal.aborted) return
    this.#running = undefined
    this.#say(note)
    if (!isFollowed || isPrevious) return
    if (this.lines.length + this.dropped > before) this.#tries = 0
    this.#cancelRetry = this.#host.after(retryMs[Math.min(this.#tries++, retryMs.length - 1)]!, () => this.start())
  }

  async #take(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const piece of pieces) {
      if (signal.aborted) return
      const [last = '', ...whole] = (rest + decoder.decode(piece, { stream: true })).split('\n').reverse()
      rest = last
      this.#add(whole.reverse())
    }
    // The last line may have no end. A line that was broken off is sent again as a whole.
    if (rest && !signal.aborted) this.#add([rest])
  }

  #add(lines: readonly string[]): void {
    for (const line of lines) {
      const stamp = stampOf(line)
      if (stamp !== undefined) {
        const last = this.#last
        if (last && (stamp < last.stamp || (stamp === last.stamp && last.lines.has(line)))) continue
        if (last?.stamp === stamp) last.lines.add(line)
        else this.#last = { stamp, time: line.slice(0, line.indexOf(' ')), lines: new Set([line]) }
      }
      this.lines.push(line)
    }
    const surplus = this.lines.length - mostLines
    if (surplus > 0) {
      this.lines.splice(0, surplus)
      this.dropped += surplus
    }
    if (lines.length > 0) this.#changed()
  }

  #say(note: string): void {
    this.note = note
    this.#changed()
  }
}
