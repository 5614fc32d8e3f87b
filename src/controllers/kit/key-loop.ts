import { setMaxListeners } from 'node:events'
import { WorkQueue } from '../../client/index.ts'
import { judge } from './errors.ts'
import type { FreeContext } from './free-controller.ts'
import { workOff } from './work-off.ts'

/** When a key is to be looked at again: with a growing delay, or after a time. Undefined: when somebody adds it. */
export type Again = 'back off' | { afterMs: number } | undefined

/** Queue and workers of a free controller: each key by one worker at a time, again with a back-off after an error. */
export class KeyLoop {
  readonly queue: WorkQueue
  readonly #ctx: FreeContext
  readonly #look: (key: string, signal: AbortSignal) => Promise<Again>
  readonly #stopping = new AbortController()
  readonly #workers: Promise<void>[] = []

  /** `name` is the queue's. `look` may throw. */
  constructor(name: string, ctx: FreeContext, look: (key: string, signal: AbortSignal) => Promise<Again>) {
    const { clock, random, metrics } = ctx
    this.queue = new WorkQueue(name, { clock, random, ...(metrics ? { metrics } : {}) })
    this.#ctx = ctx
    this.#look = look
    setMaxListeners(0, this.#stopping.signal)
  }

  start(): void {
    for (let i = 0; i < this.#ctx.workers; i++) this.#workers.push(workOff(this.queue, this.#stopping.signal, (key) => this.#work(key)))
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.queue.name} is stopped`))
    await Promise.all(this.#workers)
    await this.queue.shutDown({ drain: false })
  }

  async #work(key: string): Promise<void> {
    const { signal, logger } = this.#ctx
    try {
      this.#follow(key, await this.#look(key, signal))
    } catch (e) {
      if (this.#stopping.signal.aborted || signal.aborted) return // whoever starts next looks at everything
      if (judge(e) !== 'conflict') logger.warn('failed, and will be tried again', { key, error: e instanceof Error ? e.message : String(e) })
      this.queue.addRateLimited(key)
    }
  }

  #follow(key: string, again: Again): void {
    if (again === 'back off') return this.queue.addRateLimited(key)
    this.queue.forget(key)
    if (again) this.queue.addAfter(key, again.afterMs)
  }
}
