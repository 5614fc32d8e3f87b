import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import type { DaemonSet, Node, Pod } from '../../../src/api/generated/types.ts'
import { daemonsets, nodes, pods } from '../../../src/client/index.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/controller.ts'
import { ControllerManager, type ManagedController } from '../../../src/controllers/kit/index.ts'
import { type Condition, findCondition, isPodReady, isPodTerminating } from '../../../src/controllers/kit/workload/index.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet, type PodState } from './kubelet.ts'

type Gates = Partial<Record<GateName, boolean>>

/** DaemonSets, their controller, and nodes on which the test says what happens. */
export class DaemonSetScene {
  readonly scene: Scene
  readonly kubelet: Kubelet

  private constructor(scene: Scene) {
    this.scene = scene
    this.kubelet = new Kubelet(scene.client, scene.clock)
  }

  static async of(nodeCount: number, { gates = {}, others = [] }: { gates?: Gates; others?: readonly ManagedController[] } = {}): Promise<DaemonSetScene> {
    const scene = await Scene.start({ controllers: [daemonSetController, ...others], gates, startMs: Date.parse('2026-01-01T00:00:00Z') })
    const made = new DaemonSetScene(scene)
    for (let i = 1; i <= nodeCount; i++) await made.addNode(`n${i}`)
    return made
  }

  async addNode(name: string, over: { labels?: Record<string, string>; spec?: object } = {}): Promise<void> {
    const labels = { role: 'worker', ...over.labels }
    await this.scene.client.create(nodes, { metadata: { name, labels }, spec: over.spec ?? {} } as unknown as Node)
    // New nodes are tainted until they say that they are ready.
    await this.changeNode(name, { spec: { taints: null } })
  }

  async changeNode(name: string, patch: object): Promise<void> {
    await this.scene.client.patch(nodes, '', name, patch, { type: 'merge' })
    await this.pass(100)
  }

  async create(spec: object = {}, podSpec: object = {}): Promise<void> {
    const labels = { app: 'd' }
    const template = {
      metadata: { labels },
      spec: { nodeSelector: { role: 'worker' }, terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: 'app:1', resources: {} }], ...podSpec },
    }
    const set = { metadata: { name: 'd', namespace: 'default' }, spec: { selector: { matchLabels: labels }, template, ...spec } }
    await this.scene.client.create(daemonsets, set as unknown as DaemonSet)
    await this.pass(100)
  }

  async change(spec: object): Promise<void> {
    await this.scene.client.patch(daemonsets, 'default', 'd', { spec }, { type: 'strategic' })
    await this.pass(100)
  }

  setImage(image: string): Promise<void> {
    return this.change({ template: { spec: { containers: [{ name: 'main', image }] } } })
  }

  /** Reports the pods for some nodes, or for all. */
  async report(state: PodState, ...names: string[]): Promise<void> {
    const some = (await this.pods()).filter((p) => !isPodTerminating(p) && (names.length === 0 || names.includes(nodeOf(p))))
    await Promise.all(some.map((pod) => this.kubelet.report(state, [pod], nodeOf(pod))))
    await this.pass(100)
  }

  async reap(): Promise<void> {
    await this.kubelet.reap(await this.pods())
    await this.pass(100)
  }

  /** Lets every pod come up, and those that go be gone, until nothing changes. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const some = await this.pods()
      const late = some.filter((p) => !isPodTerminating(p) && !isPodReady(p))
      const going = some.filter(isPodTerminating)
      await this.kubelet.reap(going)
      await Promise.all(late.map((pod) => this.kubelet.report('ready', [pod], nodeOf(pod))))
      await this.pass(100)
      quiet = late.length + going.length > 0 ? 0 : quiet + 1
    }
  }

  pass(ms: number): Promise<void> {
    return this.scene.pass(ms)
  }

  /** Ends the controllers, and starts others in their place. */
  async restart(gates: Gates = {}): Promise<void> {
    const { cluster, clock } = this.scene
    const stopped = cluster.manager!.stop()
    await this.pass(10_000)
    await stopped
    await new ControllerManager({ transport: cluster.transport, controllers: [daemonSetController], clock, gates: FeatureGates.of(gates) }).start()
  }

  get(): Promise<DaemonSet> {
    return this.scene.client.get(daemonsets, 'default', 'd')
  }

  async pods(): Promise<Pod[]> {
    return (await this.scene.client.list(pods, 'default')).items.toSorted((a, b) => (nodeOf(a) < nodeOf(b) ? -1 : 1))
  }

  /** The nodes of pods, by state and image: `n1@1 n2@2! n3@1-` has the second not ready and the third going. */
  async places(): Promise<string> {
    const told = (p: Pod) => `${nodeOf(p)}@${p.spec.containers[0]!.image!.slice('app:'.length)}${isPodTerminating(p) ? '-' : isPodReady(p) ? '' : '!'}`
    return (await this.pods()).map(told).sort().join(' ')
  }

  /** desired, current, misscheduled, ready, available, updated */
  async numbers(): Promise<string> {
    const { status: s } = await this.get()
    return [s.desiredNumberScheduled, s.currentNumberScheduled, s.numberMisscheduled, s.numberReady, s.numberAvailable ?? 0, s.updatedNumberScheduled ?? 0].join(' ')
  }

  async condition(type = 'Progressing'): Promise<Condition | undefined> {
    return findCondition((await this.get()).status.conditions, type)
  }

  /** `True NewRevisionAvailable`. */
  async says(type = 'Progressing'): Promise<string> {
    const condition = await this.condition(type)
    return condition ? `${condition.status} ${condition.reason}` : 'nothing'
  }

  writes(what: string): number {
    return this.scene.wire.counts()[what] ?? 0
  }
}

/** The node of a pod, or the one it was made for. */
export const nodeOf = ({ spec }: Pod): string =>
  spec.nodeName ?? spec.affinity!.nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms[0]!.matchFields![0]!.values![0]!
