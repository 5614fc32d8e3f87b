import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import type { Transport } from '../../../src/client/index.ts'
import type { VirtualClock } from '../../../src/cluster/testing.ts'
import { Monitor, type MonitorOptions, type SandboxConsumer, type SandboxObservation, type SnapshotStorage } from '../../../src/monitor/index.ts'

/** A snapshot in memory, which can be made to fail. */
export class MemoryStorage implements SnapshotStorage {
  text: string | undefined
  aside: string | undefined
  writes = 0
  problem: Error | undefined

  async read(): Promise<string | undefined> {
    return this.text
  }

  async write(text: string): Promise<void> {
    if (this.problem) throw this.problem
    this.writes++
    this.text = text
  }

  async setAside(): Promise<string> {
    this.aside = this.text
    this.text = undefined
    return 'memory'
  }
}

/** A monitor, with what it has told. */
export class MonitorScene {
  readonly metrics = new MetricsRegistry()
  readonly facts: SandboxObservation[] = []
  readonly monitor: Monitor
  readonly #clock: VirtualClock

  constructor(transport: Transport, clock: VirtualClock, options: Partial<MonitorOptions> = {}) {
    this.#clock = clock
    const listener: SandboxConsumer = { observe: (fact) => this.facts.push(fact) }
    this.monitor = new Monitor({ transport, clock, random: new SeededRandom(3), metrics: this.metrics, ...options, consumers: [listener, ...(options.consumers ?? [])] })
  }

  static async start(transport: Transport, clock: VirtualClock, options: Partial<MonitorOptions> = {}): Promise<MonitorScene> {
    const scene = new MonitorScene(transport, clock, options)
    await scene.monitor.start()
    return scene
  }

  /** The observations in short form: `created pod 3s`. */
  told(): string[] {
    return this.facts.map(({ kind, name, latencyMs, isLate, isUserError }) => {
      const latency = latencyMs === undefined ? '' : ` ${latencyMs / 1000}s`
      return `${kind} ${name}${latency}${isLate ? ' late' : ''}${isUserError ? ' by its user' : ''}`
    })
  }

  /** The lines of metrics that begin so, and are not 0. */
  lines(start: string): string[] {
    return this.metrics.text().split('\n').filter((line) => line.startsWith(start) && !line.endsWith(' 0'))
  }

  get clock(): VirtualClock {
    return this.#clock
  }

  stop(): Promise<void> {
    return this.monitor.stop()
  }
}
