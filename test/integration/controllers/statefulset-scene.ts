import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import type { Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { statefulsets } from '../../../src/client/index.ts'
import { type Condition, findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { VirtualClock } from '../../../src/cluster/testing.ts'
import type { ManagedController } from '../../../src/controllers/kit/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/index.ts'
import { type Store, openMemoryStore } from '../../../src/store/index.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet, type PodState } from './kubelet.ts'

type Gates = Partial<Record<GateName, boolean>>

/** Those of the controllers are those of the server unless they are named. */
interface Components {
  server?: Gates
  controllers?: Gates
  /** What else runs. */
  others?: readonly ManagedController[]
}

/** A cluster that is restarted with its store. */
interface World {
  scene: Scene
  store: Store
}

/** A StatefulSet, its controller, and the nodes. */
export class StatefulSetScene {
  readonly kubelet: Kubelet
  readonly #world: World
  readonly #name: string

  private constructor(world: World, name: string) {
    this.#world = world
    this.#name = name
    this.kubelet = new Kubelet(() => this.scene.client, world.scene.clock)
  }

  static async of(gates: Gates = {}, others: readonly ManagedController[] = []): Promise<StatefulSetScene> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const store = openMemoryStore({ clock })
    return new StatefulSetScene({ scene: await begin({ server: gates, others }, clock, store), store }, 'web')
  }

  /** Another set in the same cluster. */
  another(name: string): StatefulSetScene {
    return new StatefulSetScene(this.#world, name)
  }

  get scene(): Scene {
    return this.#world.scene
  }

  /** Ends server and controllers, and starts others over what they left. */
  async restart(components: Components = {}): Promise<void> {
    const { scene, store } = this.#world
    await scene.stop()
    this.#world.scene = await begin(components, scene.clock, store)
    await this.pass(100)
  }

  async create(replicas: number, spec: object = {}, metadata: object = {}, podSpec: object = {}): Promise<void> {
    const labels = { app: this.#name }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }], ...podSpec } }
    const set = { metadata: { name: this.#name, namespace: 'default', ...metadata }, spec: { replicas, serviceName: 'web', selector: { matchLabels: labels }, template, ...spec } }
    await this.scene.client.create(statefulsets, set as unknown as StatefulSet)
    await this.pass(100)
  }

  async change(spec: object): Promise<void> {
    await this.scene.client.patch(statefulsets, 'default', this.#name, { spec }, { type: 'strategic' })
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
    return this.scene.client.get(statefulsets, 'default', this.#name)
  }

  async pods(): Promise<Pod[]> {
    return (await this.scene.podsOf(this.#name)).toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
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

export const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.slice(metadata.name!.lastIndexOf('-') + 1))
const isReady = ({ status }: Pod): boolean => status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false

const begin = ({ server = {}, controllers = server, others = [] }: Components, clock: VirtualClock, store: Store): Promise<Scene> =>
  Scene.start({ controllers: [statefulSetController, ...others], gates: server, manager: { gates: FeatureGates.of(controllers) }, clock, store })
