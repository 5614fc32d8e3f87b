import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import type { Pod, PodCondition } from '../../../src/api/generated/types.ts'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type Client, type Draft, TransportError, type Transport, type ApiRequest, type WatchListener, events, isNotFound, nodes, pods } from '../../../src/client/index.ts'
import { type TestCluster, type TestClusterOptions, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { type Disk, type Faults, NodeAgent, type NodeShape, NodeSources, SimulatedRuntime, annotationFaults, noDisk, simulatedMachine, simulatedProber } from '../../../src/node/index.ts'

/** Between a node and its API server: what is watched comes late, and nothing comes while the server is away. */
export class NodeLink implements Transport {
  readonly #inner: Transport
  readonly #clock: VirtualClock
  /** The delay of the node's watches. */
  latencyMs = 0
  /** The additional delay of some kinds, by their path. */
  readonly lagsMs = new Map<string, number>()
  isAway = false
  /** True for a request of the node that is lost. */
  loses: ((request: ApiRequest) => boolean) | undefined
  /** The delay of a request of the node. */
  delayMs: ((request: ApiRequest) => number) | undefined
  /** Happens before a write of the node arrives. */
  beforeWrite: ((body: unknown) => Promise<void>) | undefined
  /** The sent requests with method and path. */
  readonly sent: { method: string; path: string; body: unknown; atMs: number }[] = []

  constructor(inner: Transport, clock: VirtualClock) {
    this.#inner = inner
    this.#clock = clock
  }

  async send<T>(request: ApiRequest): Promise<T> {
    if (this.isAway || this.loses?.(request)) throw new TransportError('connect ECONNREFUSED', true)
    const delayMs = this.delayMs?.(request) ?? 0
    if (delayMs > 0) await new Promise<void>((resolve) => this.#clock.after(delayMs, resolve))
    if (request.method !== 'GET') this.sent.push({ method: request.method, path: request.path, body: request.body, atMs: this.#clock.now() })
    if (request.method !== 'GET') await this.beforeWrite?.(request.body)
    return this.#inner.send<T>(request)
  }

  watch(request: ApiRequest, listener: WatchListener<never>): () => void {
    return this.#inner.watch<never>(request, {
      opened: () => listener.opened(),
      event: (event) => {
        const lateMs = this.latencyMs + (this.lagsMs.get(request.path) ?? 0)
        if (lateMs > 0) this.#clock.after(lateMs, () => listener.event(event))
        else listener.event(event)
      },
      closed: (error) => listener.closed(error),
    })
  }

  async close(): Promise<void> {
    await this.#inner.close()
  }

  /** Patches of a pod's status. */
  patches(pod: string): { body: unknown; atMs: number }[] {
    return this.sent.filter(({ method, path }) => method === 'PATCH' && path.endsWith(`/pods/${pod}/status`))
  }
}

const shape: NodeShape = {
  labels: {},
  taints: [],
  capacity: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' },
  allocatable: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' },
  addresses: [{ type: 'InternalIP', address: '192.168.0.1' }, { type: 'Hostname', address: 'n1' }],
  podCidr: undefined,
  nodeInfo: {
    architecture: 'amd64', bootID: '', containerRuntimeVersion: 'simulated://1.0.0', kernelVersion: '', kubeProxyVersion: '', kubeletVersion: 'v1.36.0',
    machineID: '', operatingSystem: 'linux', osImage: 'Simulated', systemUUID: '',
  },
  port: 0,
}

export interface NodeSceneOptions extends Pick<TestClusterOptions, 'controllers'> {
  startMs?: number
  faults?: Faults
  gates?: Partial<Record<GateName, boolean>>
  latencyMs?: number
  /** Default: one that keeps nothing. */
  disk?: Disk
}

/** An API server and one simulated node under a virtual clock. The agent can be killed and started again; the runtime stays. */
export class NodeScene {
  readonly clock: VirtualClock
  readonly cluster: TestCluster
  readonly runtime: SimulatedRuntime
  readonly link: NodeLink
  readonly #options: NodeSceneOptions
  readonly #random = new SeededRandom(7)
  agent!: NodeAgent
  #sources!: NodeSources

  private constructor(cluster: TestCluster, clock: VirtualClock, options: NodeSceneOptions) {
    this.cluster = cluster
    this.clock = clock
    this.#options = options
    this.link = new NodeLink(cluster.transport, clock)
    this.runtime = new SimulatedRuntime({ clock, random: this.#random, podSubnet: '10.244.1' })
  }

  static async start(options: NodeSceneOptions = {}): Promise<NodeScene> {
    const clock = new VirtualClock(options.startMs)
    const cluster = await startCluster({ clock, random: new SeededRandom(1), ...(options.controllers ? { controllers: options.controllers } : {}) })
    const scene = new NodeScene(cluster, clock, options)
    await scene.startAgent()
    scene.link.latencyMs = options.latencyMs ?? 0
    return scene
  }

  get client(): Client {
    return this.cluster.client
  }

  /** Starts an agent on the runtime as it is. */
  async startAgent(): Promise<void> {
    const common = { clock: this.clock, random: this.#random }
    this.#sources = new NodeSources({ ...common, transport: this.link, nodeName: 'n1' })
    this.#sources.start()
    const { faults } = this.#options
    this.agent = new NodeAgent({
      ...common,
      nodeName: 'n1',
      shape,
      runtime: this.runtime,
      machine: simulatedMachine(this.runtime, shape.capacity),
      log: (container, wanted, reader) => this.runtime.log(container, wanted, reader),
      prober: simulatedProber(this.clock),
      disk: this.#options.disk ?? noDisk,
      root: '/var/lib/coxswain',
      sources: this.#sources,
      gates: FeatureGates.of(this.#options.gates),
      faults: faults ?? annotationFaults,
    })
    const started = this.agent.start()
    await this.pass(0)
    await Promise.race([started, this.pass(5)])
  }

  /** The agent's process is gone; what it ran goes on. */
  async kill(): Promise<void> {
    await this.agent.stop()
    this.#sources.stop()
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  /** To a time of day, such as `2022-12-06T15:33:47Z`. */
  passTo(time: string): Promise<void> {
    return this.pass(Date.parse(time) - this.clock.now())
  }

  async createPod(name: string, spec: Partial<Draft<Pod['spec']>> = {}, annotations: Record<string, string> = {}): Promise<Pod> {
    const containers = [{ name: 'app', image: 'app:1' }]
    return this.client.create(pods, { metadata: { name, namespace: 'default', annotations }, spec: { containers, ...spec } })
  }

  async bind(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: 'default' }, target: { kind: 'Node', name: 'n1' } }
    await this.client.subresource(pods, 'default', name, 'binding', { method: 'POST', body })
  }

  /** A pod that is on the node, after all that takes no time. */
  async run(name: string, spec: Partial<Draft<Pod['spec']>> = {}, annotations: Record<string, string> = {}): Promise<Pod> {
    await this.createPod(name, spec, annotations)
    await this.bind(name)
    await this.pass(50)
    return this.pod(name)
  }

  pod(name: string): Promise<Pod> {
    return this.client.get(pods, 'default', name)
  }

  async exists(name: string): Promise<boolean> {
    return this.pod(name).then(() => true, (e: unknown) => {
      if (isNotFound(e)) return false
      throw e
    })
  }

  async condition(name: string, type: string): Promise<PodCondition | undefined> {
    return (await this.pod(name)).status?.conditions?.find((c) => c.type === type)
  }

  async events(reason?: string): Promise<{ type: string; reason: string; message: string; count: number }[]> {
    const { items } = await this.client.list(events, 'default')
    return items.filter((e) => !reason || e.reason === reason).map((e) => ({ type: e.type ?? '', reason: e.reason ?? '', message: e.message ?? '', count: e.count ?? 0 }))
  }

  node() {
    return this.client.get(nodes, '', 'n1')
  }

  async stop(): Promise<void> {
    await this.kill()
    await this.cluster.stop()
  }
}
