import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { TokenBucket } from './token-bucket.ts'

export interface RetryLimits {
  /** The first retry of a key; each further one waits twice as long. */
  baseDelayMs: number
  maxDelayMs: number
  /** All keys together: retries per second in the long run, and at once. */
  qps: number
  burst: number
  /** By which part of itself a back-off may be longer, by chance; 0 is upstream's. */
  jitter: number
}

/** How long a retry has to wait: the longer of its key's own back-off and of what all keys together may do. */
export class RetryLimiter<K> {
  readonly #limits: RetryLimits
  readonly #random: Pick<Random, 'next'>
  readonly #bucket: TokenBucket
  /** Retries of a key since it was last forgotten. */
  readonly #failures = new Map<K, number>()

  constructor(limits: RetryLimits, clock: Pick<Clock, 'now'>, random: Pick<Random, 'next'>) {
    this.#limits = limits
    this.#random = random
    this.#bucket = new TokenBucket(limits.qps, limits.burst, clock)
  }

  /** Counts a retry, and says after how many milliseconds it may be made. */
  delayMs(key: K): number {
    const { baseDelayMs, maxDelayMs, jitter } = this.#limits
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    const backoffMs = Math.min(baseDelayMs * 2 ** failures, maxDelayMs)
    const ownMs = jitter > 0 ? backoffMs * (1 + jitter * this.#random.next()) : backoffMs
    return Math.max(ownMs, this.#bucket.reserve())
  }

  forget(key: K): void {
    this.#failures.delete(key)
  }

  requeues(key: K): number {
    return this.#failures.get(key) ?? 0
  }
}
