import { onTestFinished } from 'vitest'
import type { GateName } from '../../../src/api/feature-gates.ts'
import { Logger } from '../../../src/base/logger.ts'
import { events, pods } from '../../../src/client/index.ts'
import { SeededRandom, type TestCluster, type TestClusterOptions, VirtualClock, passTime, settled, startCluster } from '../../../src/cluster/testing.ts'
import { crew } from './crew.ts'
import { RecordedTransport } from './recorded-transport.ts'

export interface SceneOptions extends Pick<TestClusterOptions, 'controllers' | 'manager' | 'store'> {
  gates?: Partial<Record<GateName, boolean>>
  startMs?: number
  /** The clock of an earlier scene. */
  clock?: VirtualClock
}

/** A cluster on a virtual clock, with controllers whose wire can be watched and broken. Ends with the test. */
export class Scene {
  readonly cluster: TestCluster
  readonly clock: VirtualClock
  readonly wire: RecordedTransport
  /** Logged warnings and errors. */
  readonly warnings: string[]
  #stopped: Promise<void> | undefined

  private constructor(cluster: TestCluster, clock: VirtualClock, wire: RecordedTransport, warnings: string[]) {
    this.cluster = cluster
    this.clock = clock
    this.wire = wire
    this.warnings = warnings
  }

  static async start(options: SceneOptions = {}): Promise<Scene> {
    const clock = options.clock ?? new VirtualClock(options.startMs)
    const warnings: string[] = []
    let wire!: RecordedTransport
    const cluster = await startCluster({
      controllers: [crew],
      ...options,
      clock,
      random: new SeededRandom(1),
      // How long a request holds the event loop depends on the machine.
      logger: new Logger((line) => void (line.includes('held the event loop') || warnings.push(line)), 'warn', {}, () => clock.now()),
      wrapTransport: (t) => (wire = new RecordedTransport(t, clock)),
    })
    const scene = new Scene(cluster, clock, wire, warnings)
    onTestFinished(() => scene.stop())
    return scene
  }

  /** Ends it before the test does: another one may go on with its clock and its store. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  async #stop(): Promise<void> {
    const stopped = this.cluster.stop()
    // A wire that the test has broken is waited for a while.
    await passTime(this.clock, 10_000)
    await stopped
  }

  get client() {
    return this.cluster.client
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  /** Lets happen what needs no time. */
  settle(): Promise<void> {
    return settled()
  }

  async podsOf(app: string) {
    return (await this.client.list(pods, 'default', { labelSelector: `app=${app}` })).items
  }

  /** The events about an object: `Warning FailedCreate ×2: …` */
  async events(name: string): Promise<string[]> {
    const { items } = await this.client.list(events, 'default', { fieldSelector: `involvedObject.name=${name}` })
    return items.map((e) => `${e.type} ${e.reason} ×${e.count}: ${e.message}`)
  }

  /** The sum of all series of a metric of the controllers whose labels contain `labels`. */
  metric(name: string, labels = ''): number {
    const lines = this.cluster.metrics.text().split('\n').filter((l) => (l.startsWith(`${name}{`) || l.startsWith(`${name} `)) && l.includes(labels))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
}
