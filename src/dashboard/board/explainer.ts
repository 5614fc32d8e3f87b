import type { Cause } from '../../api/explain/index.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Client } from '../../client/index.ts'
import { causesOf, isInTheWay, withProgram } from '../../insight/workload/explained.ts'
import { gather } from '../../insight/workload/gather.ts'
import { Reader } from '../../insight/workload/reader.ts'
import type { Row } from '../../insight/workload/row.ts'
import { standingWith } from '../../insight/workload/standing.ts'
import type { Workload } from '../../insight/workload/object.ts'
import type { Caches } from './caches.ts'
import { kindsIn } from './values.ts'

/**
 * An explanation is refreshed after this multiple of its own cost, which limits it to about 2% of a core for any size
 * of workload.
 */
const restFactor = 50
const restMs = 1000
/** Interval of refreshes without changes: a pod that has been starting for long becomes late. */
const laterMs = 15_000
/** Lifetime of cached nodes, claims and budgets. */
const memoryMs = 5000

export interface ExplainerOptions {
  caches: Caches
  client: Client
  clock: Clock
  logger: Logger
  rowOf(key: string): Row | undefined
  /** Called with the new row after each explanation. */
  explained(key: string, row: Row): void
  /** The machine's time in milliseconds, for costs. Default: `performance.now`. */
  stopwatchMs?(): number
}

/** Explains rows, the oldest request first and one at a time, so that explanations do not delay requests. */
export class Explainer {
  readonly #caches: Caches
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #reader: Reader
  readonly #explained: (key: string, row: Row) => void
  readonly #rowOf: (key: string) => Row | undefined
  /** Earliest time of each waiting row. */
  readonly #waiting = new Map<string, number>()
  readonly #notBefore = new Map<string, number>()
  /** The machine's time in milliseconds, for costs. */
  readonly #stopwatchMs: () => number
  #isRunning = false
  #isStopped = false
  #cancel = () => {}

  constructor({ caches, client, clock, logger, rowOf, explained, stopwatchMs }: ExplainerOptions) {
    this.#caches = caches
    this.#clock = clock
    this.#logger = logger
    this.#reader = new Reader(client, { clock, maxAgeMs: memoryMs })
    this.#rowOf = rowOf
    this.#explained = explained
    this.#stopwatchMs = stopwatchMs ?? (() => performance.now())
  }

  /** Requests an explanation of a row. */
  ask(key: string, delayMs = 0): void {
    const atMs = Math.max(this.#clock.now() + delayMs, this.#notBefore.get(key) ?? 0)
    const known = this.#waiting.get(key)
    if (known !== undefined && known <= atMs) return
    this.#waiting.set(key, atMs)
    if (!this.#isRunning) this.#plan()
  }

  forget(key: string): void {
    this.#waiting.delete(key)
    this.#notBefore.delete(key)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #plan(): void {
    this.#cancel()
    if (this.#waiting.size === 0 || this.#isStopped) return
    let soonest = Infinity
    for (const atMs of this.#waiting.values()) if (atMs < soonest) soonest = atMs
    this.#cancel = this.#clock.after(Math.max(0, soonest - this.#clock.now()), () => void this.#run())
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      const nowMs = this.#clock.now()
      for (const [key, atMs] of this.#waiting) {
        if (atMs > nowMs || this.#isStopped) continue
        this.#waiting.delete(key)
        await this.#explain(key)
      }
    } finally {
      this.#isRunning = false
      this.#plan()
    }
  }

  async #explain(key: string): Promise<void> {
    const row = this.#rowOf(key)
    if (!row) return
    const startedMs = this.#stopwatchMs()
    try {
      const around = await gather(this.#reader, this.#caches.sourceOf(row.kind, row.object), row.kind, row.object)
      const causes = withProgram(causesOf(row.kind, row.object, around, this.#clock.now()), 'coxswain')
      this.#explained(key, { ...standingWith(row, causes), causes: toldCauses(causes, row.object) })
    } catch (error) {
      this.#logger.warn('failed to explain a workload', { workload: key, error })
    }
    this.#notBefore.set(key, this.#clock.now() + Math.max(restMs, restFactor * (this.#stopwatchMs() - startedMs)))
    this.ask(key, laterMs)
  }
}

/** Returns the first cause, and the first one that every viewer who may list pods is told. */
function toldCauses(causes: readonly Cause[], object: Workload): Cause[] {
  const plain = causes.find((cause) => isInTheWay(cause) && kindsIn(cause, object).every((kind) => kind === 'Pod'))
  return [...new Set([...causes.slice(0, 1), ...(plain ? [plain] : [])])]
}
