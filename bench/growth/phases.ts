import { inParallel, rounded } from '../load/measure.ts'
import type { Api } from './api.ts'
import { type Images, type KindName, kinds } from './kinds.ts'
import type { Limit } from './limit.ts'
import { loseNodes, twentieth } from './nodes.ts'
import { Owners } from './owners.ts'

export const phaseNames = ['create', 'roll', 'lose', 'scale'] as const
export type PhaseName = (typeof phaseNames)[number]

/** Owners of one kind: a single one, or a cluster of many. */
export interface Load {
  title: string
  /** Loads of a series differ in size alone, and are compared. */
  series: string
  /** True if it stands for a whole cluster, of which nodes are lost. */
  isCluster: boolean
  kind: KindName
  owners: number
  podsEach: number
  /** The number of simulated nodes. 0 uses the nodes of another cluster. */
  nodes: number
}

export const podsOf = ({ owners, podsEach }: Load): number => owners * podsEach

/** A part of a load that is measured. */
export interface Phase {
  name: PhaseName
  /** The number of pods that it creates, replaces or removes. */
  pods: number
  run(): Promise<void>
  detail: Record<string, unknown>
  close(): void
}

/** The environment of a load. */
export interface Scene {
  api: Api
  namespace: string
  images: Images
  limit: Limit
}

/** The number of owners written concurrently. */
const width = 8

/** Makes the phases of a load ready one after the other, in the order of `phaseNames`. */
export class LoadRun {
  readonly load: Load
  readonly #scene: Scene
  readonly #owners: Owners
  readonly #names: string[]

  private constructor(load: Load, scene: Scene, owners: Owners) {
    this.load = load
    this.#scene = scene
    this.#owners = owners
    this.#names = Array.from({ length: load.owners }, (_, i) => `web-${i}`)
  }

  static async open(load: Load, scene: Scene): Promise<LoadRun> {
    return new LoadRun(load, scene, await Owners.open(scene.api, kinds[load.kind], scene.namespace))
  }

  close(): void {
    this.#owners.close()
  }

  /** Undefined if the load has no such phase. */
  async phase(name: PhaseName): Promise<Phase | undefined> {
    const pods = podsOf(this.load)
    const phase = (changed: number, run: () => Promise<void>): Phase => {
      return { name, pods: changed, run, detail: {}, close: () => {} }
    }
    if (name === 'create') return phase(pods, () => this.#create())
    if (name === 'scale') return phase(pods, () => this.#scale())
    if (name === 'lose') return this.#loss()
    // A quarter of many owners, or the only one.
    const rolled = this.#names.slice(0, Math.ceil(this.#names.length / 4))
    const { podsEach, kind } = this.load
    if (kinds[kind].rolls(podsEach, this.#scene.images).length === 0) return undefined
    return phase(rolled.length * podsEach, () => this.#roll(rolled))
  }

  async #create(): Promise<void> {
    const { kind, podsEach } = this.load
    const { images, limit } = this.#scene
    const make = (name: string) => this.#owners.create(name, kinds[kind].make(name, podsEach, images), podsEach)
    await inParallel(this.#names.length, width, (index) => make(this.#names[index]!))
    await this.#owners.untilSettled(this.#names, limit)
  }

  async #roll(names: readonly string[]): Promise<void> {
    const { kind, podsEach } = this.load
    for (const { patch, pods } of kinds[kind].rolls(podsEach, this.#scene.images)) {
      await inParallel(names.length, width, (index) => this.#owners.patch(names[index]!, patch, pods))
      await this.#owners.untilSettled(names, this.#scene.limit)
    }
  }

  async #scale(): Promise<void> {
    const isScaled = kinds[this.load.kind].ends === 'scale'
    const end = (name: string) =>
      isScaled ? this.#owners.patch(name, { spec: { replicas: 0 } }, 0) : this.#owners.delete(name)
    await inParallel(this.#names.length, width, (index) => end(this.#names[index]!))
    await this.#owners.untilNoPods(this.#scene.limit)
    if (isScaled) await this.#owners.untilSettled(this.#names, this.#scene.limit)
  }

  /** Measured from the moment the first pod is given up. Undefined where nodes may not be lost. */
  async #loss(): Promise<Phase | undefined> {
    const { nodes, isCluster } = this.load
    if (!isCluster || nodes < 2) return undefined
    const { api, namespace, limit } = this.#scene
    const lost = twentieth(nodes)
    const loss = await loseNodes(api, namespace, lost, limit)
    return {
      name: 'lose',
      pods: loss.pods,
      run: async () => {
        await loss.untilReplaced(limit)
        await this.#owners.untilSettled(this.#names, limit)
      },
      detail: { lostNodes: lost.length, quarantineSeconds: rounded(loss.quarantineSeconds) },
      close: () => loss.close(),
    }
  }
}
