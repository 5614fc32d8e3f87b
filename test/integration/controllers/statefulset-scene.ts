import type { GateName } from '../../../src/api/feature-gates.ts'
import type { Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { pods, statefulsets } from '../../../src/client/index.ts'
import { type Condition, findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/index.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet, type PodState } from './kubelet.ts'

type Gates = Partial<Record<GateName, boolean>>

/** StatefulSets, their controller, and the nodes. */
export class StatefulSetScene {
  readonly scene: Scene
  readonly kubelet: Kubelet

  private constructor(scene: Scene) {
    this.scene = scene
    this.kubelet = new Kubelet(scene.client, scene.clock)
  }

  static async of(gates: Gates = {}): Promise<StatefulSetScene> {
    return new StatefulSetScene(await Scene.start({ controllers: [statefulSetController], gates, startMs: Date.parse('2026-01-01T00:00:00Z') }))
  }

  async create(replicas: number, spec: object = {}, metadata: object = {}): Promise<void> {
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }] } }
    const set = { metadata: { name: 'web', namespace: 'default', ...metadata }, spec: { replicas, serviceName: 'web', selector: { matchLabels: labels }, template, ...spec } }
    await this.scene.client.create(statefulsets, set as unknown as StatefulSet)
    await this.pass(100)
  }

  async change(spec: object): Promise<void> {
    await this.scene.client.patch(statefulsets, 'default', 'web', { spec }, { type: 'strategic' })
    await this.pass(100)
  }

  setImage(image: string): Promise<void> {
    return this.change({ template: { spec: { containers: [{ name: 'main', image }] } } })
  }

  /** Reports pods by ordinal; those that go are gone first, and those that come for it are reported, too. */
  async report(state: PodState, ...ordinals: number[]): Promise<void> {
    await this.kubelet.report(state, (await this.pods()).filter((p) => ordinals.includes(ordinalOf(p)) && !p.metadata.deletionTimestamp))
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
      const late = some.filter((p) => !p.metadata.deletionTimestamp && !isReady(p))
      const going = some.filter((p) => p.metadata.deletionTimestamp)
      await this.kubelet.reap(going)
      await this.kubelet.report('ready', late)
      await this.pass(100)
      quiet = late.length + going.length > 0 ? 0 : quiet + 1
    }
  }

  pass(ms: number): Promise<void> {
    return this.scene.pass(ms)
  }

  get(): Promise<StatefulSet> {
    return this.scene.client.get(statefulsets, 'default', 'web')
  }

  async pods(): Promise<Pod[]> {
    return (await this.scene.client.list(pods, 'default')).items.toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
  }

  /** The ordinals of pods by state: `0 1 2! 3-` has 2 not ready and 3 going. */
  async places(): Promise<string> {
    return (await this.pods()).map((p) => `${ordinalOf(p)}${p.metadata.deletionTimestamp ? '-' : isReady(p) ? '' : '!'}`).join(' ')
  }

  async condition(type: string): Promise<Condition | undefined> {
    return findCondition((await this.get()).status.conditions, type)
  }

  /** `True NewRevisionAvailable`. */
  async says(type = 'Progressing'): Promise<string> {
    const condition = await this.condition(type)
    return condition ? `${condition.status} ${condition.reason}` : 'nothing'
  }
}

const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.slice('web-'.length))
const isReady = ({ status }: Pod): boolean => status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
