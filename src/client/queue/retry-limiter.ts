import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { TokenBucket } from './token-bucket.ts'

export interface RetryLimits {
  /** Delay of a key's first retry; it doubles with each further one. */
  baseDelayMs: number
  maxDelayMs: number
  /** Limit for all keys together: retries per second, and burst. */
  qps: number
  burst: number
  /** Maximum random extension of a back-off, as a fraction of it; 0 in client-go. */
  jitter: number
}

/** Delays retries: by the longer of the key's own back-off and the limit of all keys together. */
export class RetryLimiter<K> {
  readonly #limits: RetryLimits
  readonly #random: Pick<Random, 'next'>
  readonly #bucket: TokenBucket
  /** Retries of each key since `forget`. */
  readonly #failures = new Map<K, number>()

  constructor(limits: RetryLimits, clock: Pick<Clock, 'now'>, random: Pick<Random, 'next'>) {
    this.#limits = limits
    this.#random = random
    this.#bucket = new TokenBucket(limits.qps, limits.burst, clock)
  }

  /** Counts a retry and returns its delay. */
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
