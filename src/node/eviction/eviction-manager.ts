import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Machine } from '../machine/machine.ts'
import { isCritical } from '../pods/critical.ts'
import type { PodWorker } from '../pods/pod-worker.ts'
import { type Candidate, evictionMessage, rankForEviction } from './rank.ts'
import { type Met, type Pressure, type Threshold, signals, thresholdsMet } from './signals.ts'

interface EvictionOptions {
  thresholds: readonly Threshold[]
  machine: Machine
  clock: Clock
  logger: Logger
  workers(): Iterable<PodWorker>
  /** What the containers of a pod take. */
  containers(uid: string): Promise<Candidate['containers']>
  /** An event about the node. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void
  /** The node is under something else than before. */
  turned(): void
}

const lookMs = 10_000
/** A pressure is told of until it has not been seen for so long: nodes that swing would be filled again and again. */
const lastingMs = 300_000
const graceSeconds = 1
/** How often, and how long, it is looked whether a pod that is evicted has ended. */
const waitMs = 1000
const mostWaits = 30

/** Looks what the node has left, says when it is too little, and evicts pods then: one at a time. */
export class EvictionManager {
  readonly #o: EvictionOptions
  /** When each was last seen. */
  readonly #seenMs = new Map<Pressure, number>()
  #pressures: readonly Pressure[] = []
  #cancel = () => {}
  #isStopped = false

  constructor(options: EvictionOptions) {
    this.#o = options
  }

  /** What the node is under, or was a short while ago. */
  get pressures(): readonly Pressure[] {
    return this.#pressures
  }

  start(): void {
    if (this.#o.thresholds.length > 0) this.#lookIn(lookMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #lookIn(delayMs: number): void {
    if (this.#isStopped) return
    this.#cancel = this.#o.clock.after(delayMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    try {
      const met = thresholdsMet(this.#o.thresholds, await this.#o.machine.look())
      if (this.#isStopped) return
      this.#note(met)
      const evicted = met[0] && (await this.#evict(met[0]))
      if (evicted) return this.#waitFor(evicted, mostWaits)
    } catch (error) {
      this.#o.logger.warn('it could not be seen what the node has left', { error })
    }
    this.#lookIn(lookMs)
  }

  /** When it has gone, what is left may be enough. */
  #waitFor(worker: PodWorker, waits: number): void {
    if (worker.hasEnded || waits === 0) void this.#look()
    else if (!this.#isStopped) this.#cancel = this.#o.clock.after(waitMs, () => this.#waitFor(worker, waits - 1))
  }

  #note(met: readonly Met[]): void {
    const nowMs = this.#o.clock.now()
    for (const { signal } of met) this.#seenMs.set(signals[signal].pressure, nowMs)
    const pressures = [...this.#seenMs]
      .filter(([, atMs]) => nowMs - atMs < lastingMs)
      .map(([pressure]) => pressure)
      .sort()
    if (pressures.join() === this.#pressures.join()) return
    this.#pressures = pressures
    this.#o.turned()
  }

  async #evict(met: Met): Promise<PodWorker | undefined> {
    const { resource } = signals[met.signal]
    this.#o.event('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`)
    const candidates: (Candidate & { worker: PodWorker })[] = []
    for (const worker of this.#o.workers()) {
      if (worker.isEnding || isCritical(worker.pod)) continue
      candidates.push({
        worker,
        pod: worker.pod,
        containers: resource === 'memory' ? await this.#o.containers(worker.uid) : [],
      })
    }
    const [first] = rankForEviction(resource, candidates) as typeof candidates
    if (!first || this.#isStopped) return undefined
    const message = evictionMessage(met, first)
    this.#o.logger.info('a pod is evicted', { pod: first.pod.metadata.name, message })
    first.worker.evict(message, graceSeconds)
    return first.worker
  }
}
