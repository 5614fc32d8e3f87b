import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import { Client, type Transport } from '../client/index.ts'
import { Reader } from '../insight/workload/reader.ts'
import { Board } from './board/board.ts'
import { Caches } from './board/caches.ts'
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
  stop(): void
}

/** Maximum wait of the first page for the caches. */
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

  /** Returns the filled caches. They stay in use until `release` is called. */
  acquire(): Promise<Running> {
    this.#users++
    this.#cancelIdle()
    return (this.#running ??= this.#start())
  }

  release(): void {
    this.#users--
    if (this.#users === 0) this.#cancelIdle = this.#options.clock.after(idleMs, () => void this.stop())
  }

  async stop(): Promise<void> {
    this.#cancelIdle()
    const running = this.#running
    this.#running = undefined
    ;(await running)?.stop()
  }

  async #start(): Promise<Running> {
    const { transport, clock, random, logger } = this.#options
    const client = new Client(transport, { clock, random })
    const caches = new Caches(this.#options)
    const board = new Board(caches, client, clock, logger)
    const topics = new Topics(board, new Reader(client, { clock, maxAgeMs: 5000 }), clock)
    caches.start()
    await caches.synced(patienceMs, clock)
    board.judgeNow()
    return {
      caches,
      topics,
      stop() {
        topics.close()
        board.stop()
        caches.stop()
      },
    }
  }
}
