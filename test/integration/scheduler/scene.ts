import { onTestFinished } from 'vitest'
import type { Node, Pod, PodSpec } from '../../../src/api/generated/types.ts'
import { Logger } from '../../../src/base/logger.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { type Draft, events, nodes, pods } from '../../../src/client/index.ts'
import { schedulerUser } from '../../../src/cluster/parts/users.ts'
import { InProcessTransport, SeededRandom, type TestCluster, type TestClusterOptions, VirtualClock, passTime, settled, startCluster } from '../../../src/cluster/testing.ts'
import { Scheduler, type SchedulerOptions } from '../../../src/scheduler/index.ts'
import { RecordedTransport } from '../kit/recorded-transport.ts'

export interface SceneOptions extends Pick<TestClusterOptions, 'controllers'> {
  seed?: number
  scheduler?: Partial<Pick<SchedulerOptions, 'schedulerName' | 'leaderElection'>>
}

interface NodeSketch {
  labels?: Record<string, string>
  allocatable?: Record<string, string>
  spec?: Node['spec']
  images?: { names: string[]; sizeBytes: number }[]
}

/** A cluster on a virtual clock with a scheduler and no node agents. Ends with the test. */
export class SchedulerScene {
  readonly cluster: TestCluster
  readonly clock: VirtualClock
  readonly wire: RecordedTransport
  readonly scheduler: Scheduler
  readonly metrics: MetricsRegistry
  /** Logged warnings and errors. */
  readonly warnings: string[]

  private constructor(parts: Pick<SchedulerScene, 'cluster' | 'clock' | 'wire' | 'scheduler' | 'metrics' | 'warnings'>) {
    this.cluster = parts.cluster
    this.clock = parts.clock
    this.wire = parts.wire
    this.scheduler = parts.scheduler
    this.metrics = parts.metrics
    this.warnings = parts.warnings
  }

  static async start({ controllers, seed = 1, scheduler: more }: SceneOptions = {}): Promise<SchedulerScene> {
    const clock = new VirtualClock()
    const random = new SeededRandom(seed)
    const cluster = await startCluster({ clock, random, ...(controllers ? { controllers } : {}) })
    const wire = new RecordedTransport(new InProcessTransport(cluster.server, schedulerUser), clock)
    const warnings: string[] = []
    const metrics = new MetricsRegistry()
    // How long a request holds the event loop depends on the machine.
    const logger = new Logger((line) => void (line.includes('held the event loop') || warnings.push(line)), 'warn', {}, () => clock.now())
    const scheduler = new Scheduler({ transport: wire, clock, random, logger, metrics, ...more })
    onTestFinished(async () => {
      const stopped = scheduler.stop().then(() => cluster.stop())
      await passTime(clock, 20_000)
      await stopped
    })
    await scheduler.start()
    return new SchedulerScene({ cluster, clock, wire, scheduler, metrics, warnings })
  }

  get client() {
    return this.cluster.client
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await settled()
  }

  async node(name: string, { labels, allocatable, spec, images }: NodeSketch = {}): Promise<void> {
    const amounts = { cpu: '4', memory: '8Gi', pods: '110', ...allocatable }
    const made = { metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } }, ...(spec ? { spec } : {}) }
    await this.client.create(nodes, made as unknown as Node)
    await this.client.patch(nodes, '', name, { status: { allocatable: amounts, capacity: amounts, ...(images ? { images } : {}) } }, { type: 'strategic', subresource: 'status' })
    await this.untaint(name)
  }

  /** Node agents that are ready have that taint taken away by a controller. */
  async untaint(name: string, taints: NonNullable<Node['spec']>['taints'] | null = null): Promise<void> {
    const { spec } = await this.client.get(nodes, '', name)
    const kept = (spec?.taints ?? []).filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
    await this.client.patch(nodes, '', name, { spec: { taints: taints ?? kept } }, { type: 'merge' })
  }

  async pod(name: string, spec: Partial<Draft<PodSpec>> = {}, metadata: Partial<Pod['metadata']> = {}): Promise<Pod> {
    const made = { metadata: { name, namespace: 'default', ...metadata }, spec: { containers: [asking()], ...spec } }
    const pod = await this.client.create(pods, made as Draft<Pod> as Pod)
    await this.settle()
    return pod
  }

  async nodeOf(name: string): Promise<string | undefined> {
    return (await this.get(name)).spec.nodeName
  }

  get(name: string): Promise<Pod> {
    return this.client.get(pods, 'default', name)
  }

  /** `Unschedulable: 0/1 nodes…`, or undefined if the pod was scheduled or not yet looked at. */
  async whyNot(name: string): Promise<string | undefined> {
    const { status } = await this.get(name)
    const condition = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
    return condition && `${condition.reason}: ${condition.message}`
  }

  /** The end of the pod, as a node agent confirms it. */
  async remove(name: string): Promise<void> {
    await this.client.delete(pods, 'default', name, { gracePeriodSeconds: 0 })
    await this.settle()
  }

  async events(name: string): Promise<string[]> {
    const { items } = await this.client.list(events, 'default', { fieldSelector: `involvedObject.name=${name}` })
    return items.map((e) => `${e.type} ${e.reason} ×${e.count}: ${e.message}`)
  }

  metric(name: string, labels = ''): number {
    const lines = this.metrics.text().split('\n').filter((l) => (l.startsWith(`${name}{`) || l.startsWith(`${name} `)) && l.includes(labels))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
}

/** A container that asks for these amounts. */
export const asking = (requests: Record<string, string> = { cpu: '100m', memory: '64Mi' }, more: object = {}) => ({ name: 'main', image: 'registry.example/app:1', resources: { requests }, ...more })
