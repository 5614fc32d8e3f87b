import { ApiError } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { onAbort } from '../../base/on-abort.ts'
import { type ApiRequest, TransportError } from './transport.ts'

export interface RetryOptions {
  /** Maximum number of retries after a throttled response (429, or 503 with Retry-After). Default: 10. */
  throttled?: number
  /** Maximum number of retries of a request that was not received or, if it only reads, had no response. Default: 5. */
  unanswered?: number
  /** Delay before the first retry without a response; it doubles with each further one. Default: 100. */
  baseDelayMs?: number
  /** Maximum delay. Default: 5,000. */
  maxDelayMs?: number
}

/** Waits; rejects with the signal's reason if it is aborted first. */
export function waitFor(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const cancelTimer = clock.after(delayMs, () => {
      forgetSignal?.()
      resolve()
    })
    const forgetSignal =
      signal &&
      onAbort(signal, () => {
        cancelTimer()
        reject(signal.reason as Error)
      })
  })
}

/** Returns the delay that the server asked for, if any. */
function retryAfterMs(error: ApiError): number | undefined {
  const seconds = error.details?.retryAfterSeconds
  return (error.code === 429 || error.code === 503) && seconds ? seconds * 1000 : undefined
}

/** Retries requests only where that is safe: a request that may have taken effect is never repeated. */
export class Retrier {
  readonly #clock: Clock
  readonly #random: Random
  readonly #options: Required<RetryOptions>
  #isClosed = false

  constructor(clock: Clock, random: Random, options: RetryOptions = {}) {
    this.#clock = clock
    this.#random = random
    this.#options = { throttled: 10, unanswered: 5, baseDelayMs: 100, maxDelayMs: 5000, ...options }
  }

  /** Stops all retries. */
  close(): void {
    this.#isClosed = true
  }

  send<T>(request: ApiRequest, attempt: (request: ApiRequest) => Promise<T>): Promise<T> {
    return attempt(request).catch((e: unknown) => this.#sendAgain(request, attempt, e))
  }

  async #sendAgain<T>(request: ApiRequest, attempt: (request: ApiRequest) => Promise<T>, first: unknown): Promise<T> {
    const counts = { throttled: 0, unanswered: 0 }
    let error = first
    for (;;) {
      const delayMs = this.#isClosed || request.signal?.aborted ? undefined : this.#delayMs(request, error, counts)
      if (delayMs === undefined) throw error
      await waitFor(this.#clock, delayMs, request.signal)
      try {
        return await attempt(request)
      } catch (e) {
        error = e
      }
    }
  }

  /** Returns the delay before the next attempt; undefined if there should be none. */
  #delayMs(request: ApiRequest, error: unknown, counts: { throttled: number; unanswered: number }): number | undefined {
    if (error instanceof ApiError) {
      const delayMs = retryAfterMs(error)
      return delayMs !== undefined && counts.throttled++ < this.#options.throttled ? delayMs : undefined
    }
    if (!(error instanceof TransportError) || !(error.isUnsent || request.method === 'GET')) return undefined
    const { unanswered, baseDelayMs, maxDelayMs } = this.#options
    if (counts.unanswered >= unanswered) return undefined
    const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** counts.unanswered++)
    // Clients that lost the same server retry at different times.
    return delayMs * (0.5 + this.#random.next() / 2)
  }
}
