import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { ResourceType } from '../../../src/client/index.ts'
import { VirtualClock } from '../../../src/cluster/testing.ts'
import type { ManagedController } from '../../../src/controllers/kit/index.ts'
import { type Condition, findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { type Store, openMemoryStore } from '../../../src/store/index.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet, type PodState } from './kubelet.ts'

export type Gates = Partial<Record<GateName, boolean>>

/** Those of the controllers are those of the server unless they are named. */
export interface Components {
  server?: Gates
  controllers?: Gates
  /** Further controllers. */
  others?: readonly ManagedController[]
}

/** A cluster that is restarted with its store. */
export interface World {
  scene: Scene
  store: Store
  /** The controllers of every scene. */
  controllers: readonly ManagedController[]
}

const begin = ({ server = {}, controllers = server, others = [] }: Components, own: readonly ManagedController[], clock: VirtualClock, store: Store): Promise<Scene> =>
  Scene.start({ controllers: [...own, ...others], gates: server, manager: { gates: FeatureGates.of(controllers) }, clock, store })

/** A cluster at the beginning of 2026. */
export async function beginWorld(controllers: readonly ManagedController[], components: Components): Promise<World> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const store = openMemoryStore({ clock })
  return { scene: await begin(components, controllers, clock, store), store, controllers }
}

interface WithConditions extends KubeObject {
  status: { conditions?: Condition[] }
}

/** A workload `name` whose pods have the label `app` of that name, its controller, and the nodes. */
export class WorkloadScene<T extends WithConditions> {
  readonly kubelet: Kubelet
  readonly name: string
  protected readonly world: World
  readonly #type: ResourceType<T>

  constructor(type: ResourceType<T>, world: World, name: string) {
    this.#type = type
    this.world = world
    this.name = name
    this.kubelet = new Kubelet(() => this.scene.client, world.scene.clock)
  }

  get scene(): Scene {
    return this.world.scene
  }

  /** Ends server and controllers, and starts others over what they left, after some time without any. */
  async restart(components: Components = {}, meanwhile?: () => Promise<unknown>): Promise<void> {
    const { scene, store, controllers } = this.world
    await scene.stop()
    if (meanwhile) {
      this.world.scene = await begin(components, [], scene.clock, store)
      await meanwhile()
      await this.scene.stop()
    }
    this.world.scene = await begin(components, controllers, scene.clock, store)
    await this.pass(100)
  }

  /** Makes it, with one container of `app:1`. */
  async createWith(spec: object, metadata: object, podSpec: object): Promise<void> {
    const labels = { app: this.name }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }], ...podSpec } }
    const set = { metadata: { name: this.name, namespace: 'default', ...metadata }, spec: { selector: { matchLabels: labels }, template, ...spec } }
    await this.scene.client.create(this.#type, set as unknown as T)
    await this.pass(100)
  }

  async setImage(image: string): Promise<void> {
    await this.change({ template: { spec: { containers: [{ name: 'main', image, resources: {} }] } } })
  }

  async change(spec: object): Promise<void> {
    await this.scene.client.patch(this.#type, 'default', this.name, { spec }, { type: this.patchType })
    await this.pass(100)
  }

  /** The patch type for kinds whose lists the server can merge. */
  protected get patchType(): 'strategic' | 'merge' {
    return 'strategic'
  }

  async reap(): Promise<void> {
    await this.kubelet.reap(await this.pods())
    await this.pass(100)
  }

  /** Says of these pods that they are so. */
  async reportThat(state: PodState, isMeant: (pod: Pod) => boolean): Promise<void> {
    await this.kubelet.report(state, (await this.pods()).filter((pod) => !pod.metadata.deletionTimestamp && isMeant(pod)))
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

  get(): Promise<T> {
    return this.scene.client.get(this.#type, 'default', this.name)
  }

  pods(): Promise<Pod[]> {
    return this.scene.podsOf(this.name)
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

export const isReady = ({ status }: Pod): boolean => status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
