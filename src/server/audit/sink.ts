import type { Clock } from '../../base/clock.ts'
import type { AuditEvent } from './event.ts'

/** Stores events somewhere. */
export interface AuditBackend {
  /** Kubernetes' name of it in metrics: log, webhook. */
  readonly name: string
  /** Each text is one event. Resolves once they are stored; rejects if they are not, and never will be. */
  write(texts: readonly string[]): Promise<void>
  /** Called last. */
  close(): Promise<void>
}

/** How requests and a backend go together; see --audit-log-mode. */
export type AuditMode = 'batch' | 'blocking' | 'blocking-strict'

export interface BatchOptions {
  /** So many events wait at most; more are dropped. */
  bufferSize: number
  maxBatchSize: number
  maxBatchWaitMs: number
  /** Batches a second, on average and at once; undefined without a limit. */
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
  /** Hears of events that are lost: which plug-in lost them, how many, and why. */
  onError(plugin: string, lost: number, error: Error): void
}

/** Takes events, and hands them to a backend as its mode says. */
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

  /** A promise where the request has to wait: false in it refuses the request. Never rejects. */
  take(event: AuditEvent): Promise<boolean> | undefined {
    const text = this.#fitting(event)
    if (text === undefined) return undefined
    if (this.#batches) {
      this.#batches.add(text)
      return undefined
    }
    return this.#write([text])
  }

  /** Hands on what waits, and closes the backend. */
  async close(): Promise<void> {
    await this.#batches?.drain()
    await this.#o.backend.close()
  }

  /** False if they could not be stored, and the mode is strict about that. */
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

  /** Undefined if the event is too large even without its objects. */
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

/** Parts of a list of texts, none longer than so many bytes but where one text is. */
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

/** Gathers events into batches, and sends them no faster than allowed. */
export class Batches {
  readonly #o: BatchOptions
  readonly #clock: Clock
  readonly #send: (texts: readonly string[]) => Promise<unknown>
  readonly #onDropped: (why: Error) => void
  readonly #waiting: string[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  /** Events that are being sent. */
  #sending = 0
  #timer: { isForFull: boolean; cancel(): void } | undefined
  /** Batches that may be sent now, and when that was counted. */
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

  /** Sends all that waits at once. Resolves when nothing is under way. */
  async drain(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    while (this.#waiting.length > 0) this.#sendOne()
    await Promise.all(this.#underWay)
  }

  /** Sends what is full, as far as that is allowed, and sets the timer for the rest. */
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

  /** How long the next batch has to wait: 10 a second that are all spent make the next one wait 100 ms. */
  #throttledMs(): number {
    const { throttle } = this.#o
    if (!throttle) return 0
    const now = this.#clock.now()
    this.#tokens = Math.min(throttle.burst, this.#tokens + (Math.max(0, now - this.#countedMs) * throttle.qps) / 1000)
    this.#countedMs = now
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / throttle.qps)
  }
}
