import type { Clock } from '../../base/clock.ts'
import type { AuditEvent } from './event.ts'

/** A destination of audit events. */
export interface AuditBackend {
  /** The `plugin` label in Kubernetes' metrics: log or webhook. */
  readonly name: string
  /** Stores events, one a text. Resolves once they are stored; rejects if they are lost. */
  write(texts: readonly string[]): Promise<void>
  /** Called once, after the last write. */
  close(): Promise<void>
}

/** The way in which requests wait for the backend: --audit-log-mode, --audit-webhook-mode. */
export type AuditMode = 'batch' | 'blocking' | 'blocking-strict'

export interface BatchOptions {
  /** The maximum number of buffered events. Further events are dropped. */
  bufferSize: number
  maxBatchSize: number
  maxBatchWaitMs: number
  /** Rate limit in batches a second, and burst; undefined for no limit. */
  throttle: { qps: number; burst: number } | undefined
}

export interface TruncateOptions {
  maxEventBytes: number
  maxBatchBytes: number
}

export interface SinkOptions {
  backend: AuditBackend
  mode: AuditMode
  batch: BatchOptions
  truncate: TruncateOptions | undefined
  clock: Clock
  /** Called when a plug-in loses events, with their number and the error. */
  onError(plugin: string, lost: number, error: Error): void
}

/** Passes events to a backend in its mode: in batches, or while the request waits. */
export class AuditSink {
  readonly #o: SinkOptions
  readonly #batches: Batches | undefined

  constructor(options: SinkOptions) {
    this.#o = options
    const { batch, clock, onError } = options
    if (options.mode === 'batch') {
      this.#batches = new Batches(
        batch,
        clock,
        (texts) => this.#write(texts),
        (error) => onError('buffered', 1, error),
      )
    }
  }

  /** Returns a promise if the request must wait. The request is rejected if it resolves to false. Never rejects. */
  take(event: AuditEvent): Promise<boolean> | undefined {
    const text = this.#fitting(event)
    if (text === undefined) return undefined
    if (this.#batches) {
      this.#batches.add(text)
      return undefined
    }
    return this.#write([text])
  }

  /** Flushes buffered events and closes the backend. */
  async close(): Promise<void> {
    await this.#batches?.drain()
    await this.#o.backend.close()
  }

  /** Resolves to false if the events were not stored and the mode is `blocking-strict`. */
  async #writeParts(texts: readonly string[], maxBytes: number): Promise<boolean> {
    let isStored = true
    for (const some of splitBySize(texts, maxBytes)) isStored = (await this.#writeOne(some)) && isStored
    return isStored
  }

  #write(texts: readonly string[]): Promise<boolean> {
    const { truncate } = this.#o
    return truncate ? this.#writeParts(texts, truncate.maxBatchBytes) : this.#writeOne(texts)
  }

  #writeOne(texts: readonly string[]): Promise<boolean> {
    const { backend, mode, onError } = this.#o
    return backend.write(texts).then(stored, (e: unknown) => {
      onError(backend.name, texts.length, e as Error)
      return mode !== 'blocking-strict'
    })
  }

  /** The event's text within the size limit; undefined if it is too large even without objects. */
  #fitting(event: AuditEvent): string | undefined {
    const { truncate, onError } = this.#o
    if (!truncate || Buffer.byteLength(event.text) <= truncate.maxEventBytes) return event.text
    const short = event.truncatedText
    if (Buffer.byteLength(short) <= truncate.maxEventBytes) return short
    onError('truncate', 1, new Error('event is too large even after truncating'))
    return undefined
  }
}

const stored = (): boolean => true

/** Splits a list of texts into parts of at most `maxBytes`. A single longer text is a part of its own. */
export function splitBySize(texts: readonly string[], maxBytes: number): string[][] {
  const parts: string[][] = []
  let size = 0
  for (const text of texts) {
    const bytes = Buffer.byteLength(text)
    if (parts.length === 0 || size + bytes > maxBytes) {
      parts.push([])
      size = 0
    }
    parts.at(-1)!.push(text)
    size += bytes
  }
  return parts
}

/** Gathers events into batches and sends them within the rate limit. */
export class Batches {
  readonly #o: BatchOptions
  readonly #clock: Clock
  readonly #send: (texts: readonly string[]) => Promise<unknown>
  readonly #onDropped: (why: Error) => void
  readonly #waiting: string[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  /** Number of events being sent. */
  #sending = 0
  #timer: { isForFull: boolean; cancel(): void } | undefined
  /** The token bucket of the rate limit: the batches allowed now, and the time of that count. */
  #tokens: number
  #countedMs: number

  constructor(
    options: BatchOptions,
    clock: Clock,
    send: (texts: readonly string[]) => Promise<unknown>,
    onDropped: (why: Error) => void,
  ) {
    this.#o = options
    this.#clock = clock
    this.#send = send
    this.#onDropped = onDropped
    this.#tokens = options.throttle?.burst ?? 0
    this.#countedMs = clock.now()
  }

  add(text: string): void {
    if (this.#waiting.length + this.#sending >= this.#o.bufferSize)
      return this.#onDropped(new Error('audit buffer queue blocked'))
    this.#waiting.push(text)
    this.#proceed()
  }

  /** Sends all buffered events, ignoring the rate limit. Resolves when no batch is in flight. */
  async drain(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#waiting.length > 0) this.#sendOne()
    await Promise.all(this.#underWay)
  }

  /** Sends the batches that are due within the rate limit, and sets the timer for the rest. */
  #proceed(): void {
    const { maxBatchSize, maxBatchWaitMs } = this.#o
    while (this.#waiting.length >= maxBatchSize && this.#throttledMs() === 0) this.#sendOne()
    if (this.#waiting.length === 0) return
    const isForFull = this.#waiting.length >= maxBatchSize
    if (this.#timer && (this.#timer.isForFull || !isForFull)) return
    this.#timer?.cancel()
    const delayMs = Math.max(isForFull ? 0 : maxBatchWaitMs, this.#throttledMs())
    this.#timer = { isForFull, cancel: this.#clock.after(delayMs, () => this.#due()) }
  }

  #due(): void {
    this.#timer = undefined
    if (this.#waiting.length > 0 && this.#throttledMs() === 0) this.#sendOne()
    this.#proceed()
  }

  #sendOne(): void {
    const texts = this.#waiting.splice(0, this.#o.maxBatchSize)
    if (this.#o.throttle) this.#tokens--
    this.#sending += texts.length
    const sent = this.#send(texts)
    this.#underWay.add(sent)
    const over = () => {
      this.#underWay.delete(sent)
      this.#sending -= texts.length
    }
    sent.then(over, over)
  }

  /** The delay until the next batch is allowed. Example: at 10 a second with no token left, 100 ms. */
  #throttledMs(): number {
    const { throttle } = this.#o
    if (!throttle) return 0
    const now = this.#clock.now()
    this.#tokens = Math.min(throttle.burst, this.#tokens + (Math.max(0, now - this.#countedMs) * throttle.qps) / 1000)
    this.#countedMs = now
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / throttle.qps)
  }
}
