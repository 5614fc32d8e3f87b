import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import { Client, type Transport } from '../client/index.ts'
import { Reader } from '../insight/workload/reader.ts'
import { Board } from './board/board.ts'
import { Caches } from './board/caches.ts'
import { Explanations } from './board/explanations.ts'
import { Topics } from './stream/topics.ts'

export interface LiveOptions {
  /** Reads for all viewers with the dashboard's identity. */
  transport: Transport
  /** '' for all namespaces. */
  namespace: string
  clock: Clock
  random: Random
  logger: Logger
}

/** Caches and channels, while there are viewers. */
export interface Running {
  caches: Caches
  topics: Topics
  explanations: Explanations
  stop(): void
}

/** Maximum wait of the first request for the caches. Topics are rejected until they are filled. */
const patienceMs = 5000
/** Time for which caches are kept after the last request, for reloaded pages. */
const idleMs = 5 * 60_000

/** Starts the caches for the first viewer, and stops them some time after the last one. */
export class Live {
  readonly #options: LiveOptions
  #running: Promise<Running> | undefined
  #users = 0
  #cancelIdle = () => {}

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Returns the filled caches. They stay in use until `release` is called. After a failure nothing is in use. */
  async acquire(): Promise<Running> {
    this.#users++
    this.#cancelIdle()
    const running = (this.#running ??= this.#start())
    try {
      return await running
    } catch (e) {
      // The next viewer starts them again.
      if (this.#running === running) this.#running = undefined
      this.release()
      throw e
    }
  }

  release(): void {
    this.#users--
    if (this.#users > 0) return
    this.#cancelIdle()
    this.#cancelIdle = this.#options.clock.after(idleMs, () => void this.stop())
  }

  async stop(): Promise<void> {
    this.#cancelIdle()
    const running = this.#running
    this.#running = undefined
    // The error of a failed start is the one of `acquire`.
    const started = await running?.catch(() => undefined)
    started?.stop()
  }

  async #start(): Promise<Running> {
    const { transport, clock, random, logger } = this.#options
    const client = new Client(transport, { clock, random })
    const caches = new Caches(this.#options)
    const board = new Board(caches, client, clock, logger)
    const topics = new Topics(board, new Reader(client, { clock, maxAgeMs: 5000 }), clock, logger)
    caches.start()
    await caches.settled(patienceMs)
    board.judgeNow()
    return {
      caches,
      topics,
      explanations: new Explanations(caches, clock),
      stop() {
        topics.close()
        board.stop()
        caches.stop()
      },
    }
  }
}
