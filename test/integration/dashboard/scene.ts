import { onTestFinished } from 'vitest'
import type { WebSocket } from 'ws'
import type { Pod } from '../../../src/api/generated/types.ts'
import { Logger } from '../../../src/base/logger.ts'
import { type Transport, deployments, nodes, pods } from '../../../src/client/index.ts'
import { FaultyTransport, InProcessTransport, SeededRandom, type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { selectControllers } from '../../../src/controllers/index.ts'
import { nodeColumns, podColumns, workloadColumns } from '../../../src/dashboard/stream/columns.ts'
import { StreamConnection } from '../../../src/dashboard/stream/connection.ts'
import { FakeSocket } from '../../../src/dashboard/stream/testing.ts'
import { Live, type Running } from '../../../src/dashboard/live.ts'
import { Viewer } from '../../../src/dashboard/login/viewer.ts'
import { Mirror } from '../../../web/stream/mirror.ts'
import { Kubelet, type PodState } from '../controllers/kubelet.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const settings = { rootCa: '', timeZone: 'UTC', volumesDir: '/volumes' }
const controllers = ['deployment-controller', 'replicaset-controller', 'statefulset-controller', 'daemonset-controller']

export interface Rule {
  verbs: string[]
  apiGroups: string[]
  resources: string[]
}

export const reads = (apiGroups: string[], ...resources: string[]): Rule => ({ verbs: ['get', 'list', 'watch'], apiGroups, resources })

/** A page that shows topics, with a copy of each. */
export class FakePage {
  readonly socket = new FakeSocket()
  readonly mirrors = new Map<string, Mirror>()
  readonly errors = new Map<string, string>()

  show(...names: string[]): void {
    for (const name of names) {
      const columns = name === 'workloads' ? workloadColumns : name === 'nodes' ? nodeColumns : podColumns
      if (!this.mirrors.has(name)) this.mirrors.set(name, new Mirror(Object.values(columns)))
    }
    this.socket.wishes(...names.map((name) => ({ name })))
  }

  /** The rows of a topic as objects, with the frames that have arrived. */
  rows(topic: string): Record<string, string | number>[] {
    for (const text of this.socket.texts) {
      const { c, e, error, ...frame } = JSON.parse(text)
      if (error === undefined) this.errors.delete(c)
      if (error === undefined) this.mirrors.get(c)!.take(e, frame)
      else this.errors.set(c, error)
    }
    const columns = Object.keys(topic === 'workloads' ? workloadColumns : topic === 'nodes' ? nodeColumns : podColumns)
    return [...this.mirrors.get(topic)!.rows.values()].map((values) => Object.fromEntries(values.map((value, i) => [columns[i], value])))
  }
}

/** A cluster with RBAC and controllers, and the dashboard's caches, on a virtual clock. */
export class DashboardScene {
  readonly clock: VirtualClock
  readonly cluster: TestCluster
  readonly live: Live
  readonly running: Running
  /** Between the dashboard and the API server. */
  readonly transport: FaultyTransport
  readonly log: string[]
  readonly #kubelet: Kubelet

  private constructor(clock: VirtualClock, cluster: TestCluster, live: Live, running: Running, transport: FaultyTransport, log: string[]) {
    this.clock = clock
    this.cluster = cluster
    this.live = live
    this.running = running
    this.transport = transport
    this.log = log
    this.#kubelet = new Kubelet(cluster.client, clock)
  }

  static async start(concerns: (request: { path: string }) => boolean = () => true): Promise<DashboardScene> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const random = new SeededRandom(1)
    const selected = [...selectControllers(controllers, settings).values()].flat()
    const starting = startCluster({ clock, random, controllers: selected, authorization: [{ type: 'RBAC' }] })
    await passTime(clock, 1000)
    const cluster = await starting
    const transport = new FaultyTransport(cluster.transport, { clock, random, concerns })
    const log: string[] = []
    const live = new Live({ transport, namespace: '', clock, random, logger: new Logger((line) => log.push(line), 'warn') })
    const acquiring = live.acquire()
    await passTime(clock, 1000)
    const scene = new DashboardScene(clock, cluster, live, await acquiring, transport, log)
    onTestFinished(async () => {
      const stopped = live.stop().then(() => cluster.stop())
      await passTime(clock, 15_000)
      await stopped
    })
    return scene
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  /** Gives a user a Role in a namespace, or in all; replaces the one it had there. */
  async allow(name: string, rules: readonly Rule[], namespace = ''): Promise<void> {
    const { transport } = this.cluster.client
    const base = namespace ? `${rbac}/namespaces/${namespace}/` : `${rbac}/cluster`
    const kind = namespace ? 'Role' : 'ClusterRole'
    const body = (of: string, more: object) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: of, metadata: { name }, ...more })
    const roles = `${base}roles`
    await transport.send({ method: 'DELETE', path: `${roles}/${name}` }).catch(() => {})
    await transport.send({ method: 'POST', path: roles, body: body(kind, { rules }) })
    const binding = body(`${kind}Binding`, { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name }, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }] })
    await transport.send({ method: 'POST', path: `${base}rolebindings`, body: binding }).catch(() => {})
  }

  async viewer(name: string, wrap: (transport: Transport) => Transport = (inner) => inner): Promise<Viewer> {
    const transport = wrap(new InProcessTransport(this.cluster.server, { name, groups: ['system:authenticated'] }))
    return Viewer.by(transport, {} as never, this.clock, new SeededRandom(2))
  }

  page(viewer: Viewer): FakePage {
    const page = new FakePage()
    new StreamConnection(page.socket as unknown as WebSocket, this.running.topics, viewer, this.clock).start()
    onTestFinished(() => page.socket.close())
    return page
  }

  async namespace(name: string): Promise<void> {
    await this.cluster.transport.send({ method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } })
  }

  /** Creates a node that takes pods. */
  async node(name: string): Promise<void> {
    await this.cluster.client.create(nodes, { metadata: { name } } as never)
    await this.cluster.client.patch(nodes, '', name, { spec: { taints: null } }, { type: 'merge' })
  }

  async deployment(name: string, replicas: number, namespace = 'default', spec: object = {}): Promise<void> {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
    await this.cluster.client.create(deployments, { metadata: { name, namespace }, spec: { replicas, selector: { matchLabels: { app: name } }, template, ...spec } } as never)
    await this.pass(2000)
  }

  async podsOf(app: string, namespace = 'default'): Promise<Pod[]> {
    return (await this.cluster.client.list(pods, namespace, { labelSelector: `app=${app}` })).items
  }

  async report(state: PodState, app: string, namespace = 'default', node?: string): Promise<void> {
    await this.#kubelet.report(state, await this.podsOf(app, namespace), node)
    await this.pass(1000)
  }
}
