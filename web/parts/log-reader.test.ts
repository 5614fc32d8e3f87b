import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { type LogHost, LogReader, type LogSource } from './log-reader.ts'

/** A response whose pieces a test sends. */
class Answer implements AsyncIterable<Uint8Array> {
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly #events: (string | Error | undefined)[] = []
  #wake = () => {}

  constructor(query: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.query = query
    this.signal = signal
  }

  /** Sends a piece, an error, or the end. */
  sends(event: string | Error | undefined): void {
    this.#events.push(event)
    this.#wake()
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#events.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
      const event = this.#events.shift()
      if (event === undefined) return
      if (event instanceof Error) throw event
      yield new TextEncoder().encode(event)
    }
  }
}

function scene(more: Partial<LogSource> = {}) {
  const clock = new VirtualClock(0)
  const answers: Answer[] = []
  const server = { refusal: undefined as Error | undefined }
  const host: LogHost = {
    async open(query, signal) {
      answers.push(new Answer(query, signal))
      if (server.refusal) throw server.refusal
      return answers.at(-1)!
    },
    after: (delayMs, fn) => clock.after(delayMs, fn),
  }
  const reader = new LogReader(host, { namespace: 'default', name: 'web-0', container: 'main', isFollowed: true, isPrevious: false, ...more }, () => {})
  reader.start()
  return { clock, answers, reader, server, pass: (ms = 0) => clock.pass(ms) }
}

const at = (second: string, text: string) => `2026-01-01T00:00:${second}Z ${text}\n`

describe('LogReader', () => {
  it('joins the pieces of lines, also within a character, and shows a last line without an end', async () => {
    const { answers, reader, pass } = scene({ isFollowed: false })
    await pass()
    answers[0]!.sends('one\ntw')
    answers[0]!.sends('o\nthree')
    answers[0]!.sends(undefined)
    await pass(60_000)
    expect(reader.lines).toEqual(['one', 'two', 'three'])
    expect([answers.length, answers[0]!.query['follow'], reader.note]).toEqual([1, 'false', ''])
  })

  it('keeps its lines when the connection breaks, and goes on after the last one', async () => {
    const { answers, reader, pass } = scene()
    await pass()
    answers[0]!.sends(`${at('01', 'one')}${at('02', 'two')}2026-01-01T00:00:03Z thr`)
    answers[0]!.sends(new Error('network error'))
    await pass()
    expect([reader.note, reader.lines.length]).toEqual(['network error', 2])
    await pass(1000)
    expect(answers[1]!.query['sinceTime']).toBe('2026-01-01T00:00:02Z')
    expect(reader.note).toBe('')
    answers[1]!.sends(`${at('02', 'two')}${at('02', 'two again')}${at('03', 'three')}`)
    await pass()
    expect(reader.lines.map((line) => line.slice(21))).toEqual(['one', 'two', 'two again', 'three'])
  })

  it('shows the lines of a container that is started again', async () => {
    const { answers, reader, server, pass } = scene()
    await pass()
    answers[0]!.sends(at('01.5', 'first run'))
    answers[0]!.sends(undefined)
    server.refusal = new Error('container "main" is waiting to start')
    await pass(1000)
    expect(reader.note).toBe('container "main" is waiting to start')
    server.refusal = undefined
    await pass(2000)
    answers.at(-1)!.sends(at('01.45', 'older') + at('01.5', 'first run') + at('01.55', 'second run'))
    await pass()
    expect(reader.lines.map((line) => line.split(' ').slice(1).join(' '))).toEqual(['first run', 'second run'])
  })

  it('asks less and less often for a log without new lines', async () => {
    const { answers, pass } = scene()
    for (const waitMs of [1000, 2000, 5000, 10_000, 10_000]) {
      await pass()
      const before = answers.length
      answers.at(-1)!.sends(undefined)
      await pass(waitMs - 1)
      expect(answers).toHaveLength(before)
      await pass(1)
      expect(answers).toHaveLength(before + 1)
    }
  })

  it('has no connection while it is paused, and goes on after the last line', async () => {
    const { answers, reader, pass } = scene()
    await pass()
    answers[0]!.sends(at('01', 'one'))
    await pass()
    reader.pause()
    answers[0]!.sends(at('02', 'late'))
    await pass(60_000)
    expect([answers.length, answers[0]!.signal.aborted, reader.lines.length]).toEqual([1, true, 1])
    reader.start()
    await pass()
    expect(answers[1]!.query['sinceTime']).toBe('2026-01-01T00:00:01Z')
    reader.pause()
  })

  it('keeps the last 5000 lines, and counts the others', async () => {
    const { answers, reader, pass } = scene()
    await pass()
    answers[0]!.sends(Array.from({ length: 6000 }, (_, i) => `line ${i}\n`).join(''))
    await pass()
    expect([reader.lines.length, reader.lines[0], reader.dropped]).toEqual([5000, 'line 1000', 1000])
  })
})
