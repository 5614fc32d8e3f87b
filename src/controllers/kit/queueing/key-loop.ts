import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { Random } from '../../../base/random.ts'
import { WorkQueue, resyncPriority } from '../../../client/index.ts'
import { judge } from '../errors.ts'
import { Denials, permissionLacking } from './denials.ts'

/** Processes keys from a queue, one after the other, until the signal is aborted. `work` must not reject. */
export async function workOff<K>(
  queue: WorkQueue<K>,
  signal: AbortSignal,
  work: (key: K) => Promise<void>,
): Promise<void> {
  for (;;) {
    let key: K
    try {
      key = await queue.get(signal)
    } catch {
      return // stopped
    }
    try {
      await work(key)
    } finally {
      queue.done(key)
    }
  }
}

/**
 * The time of the next reconcile of a key: after a growing delay, after a fixed time, or (undefined) when it is added.
 */
export type Again = 'back off' | { afterMs: number } | undefined

/** The parts of a free controller's context that its loop needs. */
interface LoopContext {
  /** The number of keys to process concurrently. */
  readonly workers: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: MetricsRegistry | undefined
  /** Aborted when requests in progress must be given up. */
  readonly signal: AbortSignal
}

/** The queue and the workers of a free controller. Each key has one worker at a time, and a back-off after errors. */
export class KeyLoop {
  readonly queue: WorkQueue
  readonly #ctx: LoopContext
  readonly #denials: Denials
  readonly #reconcile: (key: string, signal: AbortSignal) => Promise<Again>
  readonly #stopping = new AbortController()
  readonly #workers: Promise<void>[] = []

  /** `name` labels metrics. A thrown error retries the key with back-off. */
  constructor(name: string, ctx: LoopContext, reconcile: (key: string, signal: AbortSignal) => Promise<Again>) {
    const { clock, random, metrics } = ctx
    this.queue = new WorkQueue(name, { clock, random, ...(metrics ? { metrics } : {}) })
    this.#ctx = ctx
    this.#denials = new Denials(ctx)
    this.#reconcile = reconcile
    setMaxListeners(0, this.#stopping.signal)
  }

  start(): void {
    for (let i = 0; i < this.#ctx.workers; i++)
      this.#workers.push(workOff(this.queue, this.#stopping.signal, (key) => this.#work(key)))
  }

  /** The permissions that are lacking. */
  problems(): string[] {
    return this.#denials.problems().map((problem) => `${this.queue.name}: ${problem}`)
  }

  /** Resolves when no work is in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.queue.name} is stopped`))
    await Promise.all(this.#workers)
    await this.queue.shutDown({ drain: false })
  }

  async #work(key: string): Promise<void> {
    const { signal, logger } = this.#ctx
    try {
      this.#follow(key, await this.#reconcile(key, signal))
    } catch (e) {
      if (this.#stopping.signal.aborted || signal.aborted) return // the next term reconciles every key
      const permission = permissionLacking(e)
      if (permission) {
        const { delayMs, retry } = this.#denials.denied(key, permission)
        this.queue.forget(key)
        this.queue.addAfter(key, delayMs)
        return this.#retry(retry)
      }
      this.#retry(this.#denials.ended(key, false))
      if (judge(e) !== 'conflict') {
        logger.warn('failed, retrying', { key, error: e instanceof Error ? e.message : String(e) })
      }
      this.queue.addRateLimited(key)
    }
  }

  #retry(keys: readonly string[]): void {
    for (const key of keys) this.queue.add(key, { priority: resyncPriority })
  }

  #follow(key: string, again: Again): void {
    this.#retry(this.#denials.ended(key, again !== 'back off'))
    if (again === 'back off') return this.queue.addRateLimited(key)
    this.queue.forget(key)
    if (again) this.queue.addAfter(key, again.afterMs)
  }
}
