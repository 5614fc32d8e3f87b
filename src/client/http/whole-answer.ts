import { readJson } from '../../api/json/index.ts'
import type { Clock } from '../../base/clock.ts'
import { TransportError } from '../transport/transport.ts'
import type { Receiver } from './attempt.ts'
import { errorOfAnswer } from './status-error.ts'
import { type AnswerHeaders, headerOf } from './wire.ts'

/** Collects a response and settles a promise with it: JSON as a value, anything else as text. */
export class WholeAnswer implements Receiver {
  readonly #resolve: (value: unknown) => void
  readonly #reject: (reason: unknown) => void
  readonly #clock: Clock
  #code = 0
  #headers: AnswerHeaders = {}
  readonly #chunks: Buffer[] = []

  constructor(resolve: (value: unknown) => void, reject: (reason: unknown) => void, clock: Clock) {
    this.#resolve = resolve
    this.#reject = reject
    this.#clock = clock
  }

  head(code: number, headers: AnswerHeaders): void {
    this.#code = code
    this.#headers = headers
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  end(): void {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const length = headerOf(this.#headers, 'content-length')
    if (length !== undefined && Number(length) !== bytes.length)
      return this.#reject(new TransportError('the answer was interrupted', false))
    const text = bytes.toString('utf8')
    if (this.#code >= 300 || this.#code < 200)
      return this.#reject(errorOfAnswer(this.#code, this.#headers, text, this.#clock.now()))
    if (!headerOf(this.#headers, 'content-type')?.includes('json')) return this.#resolve(text)
    try {
      this.#resolve(readJson(text))
    } catch (e) {
      this.#reject(new TransportError(`the answer is not JSON: ${(e as Error).message}`, false, { cause: e }))
    }
  }

  fail(error: Error): void {
    this.#reject(error)
  }

  aborted(reason: unknown): void {
    this.#reject(reason)
  }
}
