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
  /** The memory usage of a pod's containers. */
  containers(uid: string): Promise<Candidate['containers']>
  /** Records an event for the Node. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void
  /** Called when the pressures of the node have changed. */
  turned(): void
}

const lookMs = 10_000
/**
 * A pressure is reported until it has been absent for this time, because an unstable node would get new pods
 * repeatedly.
 */
const lastingMs = 300_000
const graceSeconds = 1
/** The interval and number of checks whether an evicted pod has ended. */
const waitMs = 1000
const mostWaits = 30

/** Measures the free resources of the node, reports pressures, and evicts pods one at a time. */
export class EvictionManager {
  readonly #o: EvictionOptions
  /** The time at which each pressure was last observed. */
  readonly #seenMs = new Map<Pressure, number>()
  #pressures: readonly Pressure[] = []
  #cancel = () => {}
  #isStopped = false

  constructor(options: EvictionOptions) {
    this.#o = options
  }

  /** The present pressures, and those of the last five minutes. */
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
      this.#o.logger.warn('failed to measure the free resources of the node', { error })
    }
    this.#lookIn(lookMs)
  }

  /** Measures again after the evicted pod has ended, because the free resources may be sufficient then. */
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
    this.#o.logger.info('evicting a pod', { pod: first.pod.metadata.name, message })
    first.worker.evict(message, graceSeconds)
    return first.worker
  }
}
