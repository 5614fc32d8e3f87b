import { onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import type { Node, Pod } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { Logger } from '../../../src/base/logger.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { type Client, type ResourceType, nodes, pods } from '../../../src/client/index.ts'
import {
  InProcessTransport, SeededRandom, type TestCluster, type TestClusterOptions, VirtualClock, passTime, settled, startCluster,
} from '../../../src/cluster/testing.ts'
import {
  ControllerManager, type ManagedController, type PublisherOptions, publishers, selectControllers, slim, slimWithoutTemplates, workloadStatusDefinition,
} from '../../../src/controllers/index.ts'
import { Kubelet, type PodState } from '../controllers/kubelet.ts'
import { TappedTransport } from '../tapped-transport.ts'
import { StockStatusTransport } from './stock-manager.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const workloadControllers = [
  'deployment-controller', 'replicaset-controller', 'replicationcontroller-controller', 'statefulset-controller', 'daemonset-controller', 'job-controller',
]

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

/** Controllers of Kubernetes' own workloads, and the garbage collector. */
export const stockControllers = (): ManagedController[] =>
  [...selectControllers([...workloadControllers, 'garbage-collector-controller'], { rootCa: '', timeZone: 'UTC', volumesDir: '/v' }).values()].flat()

/** A publisher over a transport of its own. */
export interface RunningPublisher {
  manager: ControllerManager
  wire: TappedTransport
  metrics: MetricsRegistry
  lines: string[]
  stop(): Promise<void>
}

/** A stock cluster whose controllers write statuses as Kubernetes' do, and publishers beside them. */
export class StockScene {
  readonly cluster: TestCluster
  readonly clock: VirtualClock
  readonly kubelet: Kubelet

  private constructor(cluster: TestCluster, clock: VirtualClock) {
    this.cluster = cluster
    this.clock = clock
    this.kubelet = new Kubelet(cluster.client, clock)
  }

  static async begin(options: Partial<TestClusterOptions> & { isDefined?: boolean } = {}): Promise<StockScene> {
    const { isDefined = true, ...more } = options
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const cluster = await startCluster({
      stock: true, clock, random: new SeededRandom(1), controllers: stockControllers(), wrapTransport: (t) => new StockStatusTransport(t), ...more,
    })
    const scene = new StockScene(cluster, clock)
    onTestFinished(async () => {
      const stopped = cluster.stop()
      await scene.pass(5000)
      await stopped
    })
    await scene.addNode('n1')
    if (isDefined) await scene.define()
    return scene
  }

  get client(): Client {
    return this.cluster.client
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  /** Brings the kind of companions. */
  async define(): Promise<void> {
    await this.client.transport.send({ method: 'POST', path: definitions, body: workloadStatusDefinition })
    await settled()
  }

  async undefine(): Promise<void> {
    await this.client.transport.send({ method: 'DELETE', path: `${definitions}/workloadstatuses.coxswain.dev` })
    await settled()
  }

  async addNode(name: string): Promise<void> {
    await this.client.create(nodes, { metadata: { name } } as unknown as Node)
    await this.client.patch(nodes, '', name, { spec: { taints: null } }, { type: 'merge' })
    await this.client.patch(nodes, '', name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } } as never, { type: 'merge', subresource: 'status' })
  }

  async publish(options: Partial<PublisherOptions> = {}, random = 2): Promise<RunningPublisher> {
    const inner = new InProcessTransport(this.cluster.server, { name: 'system:serviceaccount:coxswain-system:coxswain-publisher', groups: ['system:masters'] })
    const wire = new TappedTransport(() => inner, this.clock)
    const metrics = new MetricsRegistry()
    const lines: string[] = []
    const keep = options.companions?.includes('deployments') ? slim : slimWithoutTemplates
    const manager = new ControllerManager({
      transport: wire, clock: this.clock, random: new SeededRandom(random), metrics, gates: FeatureGates.of(),
      controllers: publishers({ writesPerSecond: 50, clock: this.clock, ...options }),
      // As over HTTP: objects of its own, of which it keeps what it needs.
      informers: { transform: (object, type) => keep(structuredClone(object), type) },
      logger: new Logger((line) => lines.push(line), 'info', {}, () => this.clock.now()),
    })
    let stopped: Promise<void> | undefined
    const stop = () => (stopped ??= (async () => {
      const ended = manager.stop()
      await this.pass(5000)
      await ended
    })())
    onTestFinished(stop)
    await manager.start()
    await this.pass(100)
    return { manager, wire, metrics, lines, stop }
  }

  async podsOf(app: string): Promise<Pod[]> {
    return (await this.client.list(pods, 'default', { labelSelector: `app=${app}` })).items
  }

  /** Has all pods of a workload report so, again and again until none is left to be made. */
  async report(app: string, state: PodState = 'ready'): Promise<void> {
    for (let round = 0; round < 10; round++) {
      const some = await this.podsOf(app)
      await this.kubelet.reap(some)
      await this.kubelet.report(state, some.filter((pod) => !pod.metadata.deletionTimestamp))
      await this.pass(100)
    }
  }

  async get(type: ResourceType, name: string): Promise<KubeObject & { status?: any; spec?: any }> {
    return this.client.get(type, 'default', name)
  }

  async conditions(type: ResourceType, name: string): Promise<Condition[]> {
    return ((await this.get(type, name)).status?.conditions ?? []) as Condition[]
  }

  /** `Available=True MinimumReplicasAvailable` for each condition. */
  async said(type: ResourceType, name: string): Promise<string[]> {
    return (await this.conditions(type, name)).map(({ type: about, status, reason }) => `${about}=${status} ${reason}`).sort()
  }
}

/** Requests of a publisher that would change something, in words: `PATCH statefulsets/web/status`. */
export const writesOf = ({ wire }: RunningPublisher): string[] =>
  wire.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path.replace(/^.*\/namespaces\/[^/]+\//, '')}`)
