import { SeededRandom } from '../../test/seeded-random.ts'
import { type Api, mergePatch, podsPath } from '../growth/api.ts'
import { type Images, type KindName, type Owner, donePods, isSettled, kinds } from '../growth/kinds.ts'
import type { Limit } from '../growth/limit.ts'
import { nodePrefix, silence, unsilence } from '../growth/nodes.ts'
import { inParallel } from '../load/measure.ts'
import { pause } from '../load/server.ts'

/** An owner that is changed again and again. */
export interface Churned {
  kind: KindName
  name: string
  pods: number
  /** Counts its images: each rollout has a new one. */
  release: number
}

/** Three of five owners are Deployments. */
const mixture: readonly KindName[] = ['deployment', 'sts-parallel', 'deployment', 'cloneset-inplace', 'deployment']
const mostPodsEach = 100
const fewestOwners = 5

/** Owners with so many pods in all, or a few less. */
export function planOwners(pods: number): Churned[] {
  const podsEach = Math.max(1, Math.min(mostPodsEach, Math.floor(pods / fewestOwners)))
  const kindOf = (index: number) => mixture[index % mixture.length]!
  const make = (_: unknown, i: number) => ({ kind: kindOf(i), name: `churn-${i}`, pods: podsEach, release: 1 })
  return Array.from({ length: Math.max(1, Math.floor(pods / podsEach)) }, make)
}

const image = (release: number) => `registry.example.com/web:${release}`
const imagesOf = (release: number): Images => {
  return { first: image(release), second: image(release + 1), job: image(release) }
}

/** The number of pods that one action deletes. */
const victims = 10
/** A node that is silent for 50 seconds is told to be lost; its pods are left alone for five minutes. */
const flap = { silentMs: 60_000, restMs: 15_000 }

const actionNames = ['roll', 'rescale', 'recreate', 'kill'] as const
export type ActionName = (typeof actionNames)[number]

/** Changes the owners of a namespace and its nodes until it is stopped. */
export class Churn {
  readonly #api: Api
  readonly #namespace: string
  readonly #limit: Limit
  readonly #random: SeededRandom
  readonly counts: Record<ActionName | 'flap', number> = { roll: 0, rescale: 0, recreate: 0, kill: 0, flap: 0 }
  #isStopped = false

  constructor(api: Api, namespace: string, limit: Limit, seed: number) {
    this.#api = api
    this.#namespace = namespace
    this.#limit = limit
    this.#random = new SeededRandom(seed)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Creates all owners and waits until their pods are ready. */
  async create(owners: readonly Churned[]): Promise<void> {
    await inParallel(owners.length, 8, (index) => this.#create(owners[index]!))
    for (const owner of owners) await this.#untilSettled(owner, owner.pods, 1)
  }

  /** So many workers change owners, each its own ones, with a pause after each change. */
  async changeOwners(owners: readonly Churned[], workers: number, pauseMs: number): Promise<void> {
    await inParallel(Math.min(workers, owners.length), workers, async (worker) => {
      const own = owners.filter((_, index) => index % workers === worker)
      while (!this.#isStopped) {
        const action = this.#random.pick(actionNames)
        await this.#act(action, this.#random.pick(own))
        this.counts[action]++
        await pause(pauseMs)
      }
    })
  }

  /** One node after the other is silent for so long that it is told to be lost, and comes back. */
  async flapNodes(nodes: number): Promise<void> {
    while (!this.#isStopped) {
      const node = `${nodePrefix}-${this.#random.below(nodes)}`
      await silence(this.#api, [node])
      await this.#sleep(flap.silentMs)
      await unsilence(this.#api, [node])
      this.counts.flap++
      await this.#sleep(flap.restMs)
    }
  }

  async #act(action: ActionName, owner: Churned): Promise<void> {
    if (action === 'roll') await this.#roll(owner)
    else if (action === 'rescale') await this.#rescale(owner)
    else if (action === 'recreate') await this.#recreate(owner)
    else await this.#kill(owner)
  }

  async #create({ kind, name, pods, release }: Churned): Promise<void> {
    await this.#api.ask('POST', this.#pathOf(kind), kinds[kind].make(name, pods, imagesOf(release)))
  }

  async #roll(owner: Churned): Promise<void> {
    for (const { patch, pods } of kinds[owner.kind].rolls(owner.pods, imagesOf(owner.release))) {
      await this.#patch(owner, patch, pods)
    }
    owner.release++
  }

  async #rescale(owner: Churned): Promise<void> {
    await this.#patch(owner, { spec: { replicas: Math.floor(owner.pods / 2) } }, Math.floor(owner.pods / 2))
    await this.#patch(owner, { spec: { replicas: owner.pods } }, owner.pods)
  }

  async #recreate(owner: Churned): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
    await this.#api.ask('DELETE', `${this.#pathOf(owner.kind)}/${owner.name}`, options)
    await this.#limit.until(async () => {
      const left = await this.#podNames(owner, 1)
      return { isDone: left.length === 0, done: 0, wanted: owner.pods, what: `pods of ${owner.name} are gone` }
    })
    await this.#create(owner)
    await this.#untilSettled(owner, owner.pods, 1)
  }

  async #kill(owner: Churned): Promise<void> {
    for (const name of await this.#podNames(owner, victims)) {
      const { code, text } = await this.#api.send('DELETE', `${podsPath(this.#namespace)}/${name}`)
      if (code !== 200 && code !== 404) throw new Error(`pod ${name} cannot be deleted: ${code} ${text}`)
    }
    await this.#untilSettled(owner, owner.pods, 1)
  }

  async #patch(owner: Churned, patch: object, pods: number): Promise<void> {
    const path = `${this.#pathOf(owner.kind)}/${owner.name}`
    const { metadata } = await this.#api.ask<Owner>('PATCH', path, patch, mergePatch)
    await this.#untilSettled(owner, pods, metadata.generation ?? 1)
  }

  async #untilSettled({ kind, name }: Churned, pods: number, generation: number): Promise<void> {
    await this.#limit.until(async () => {
      const seen = await this.#api.ask<Owner>('GET', `${this.#pathOf(kind)}/${name}`)
      const isDone = isSettled(kinds[kind], seen, pods, generation)
      return { isDone, done: donePods(kinds[kind], seen, generation), wanted: pods, what: `pods of ${name} are ready` }
    })
  }

  async #podNames({ name }: Churned, limit: number): Promise<string[]> {
    interface PodList {
      items: { metadata: { name: string } }[]
    }
    const query = `labelSelector=app%3D${name}&limit=${limit}`
    const { items } = await this.#api.ask<PodList>('GET', `${podsPath(this.#namespace)}?${query}`)
    return items.map(({ metadata }) => metadata.name)
  }

  #pathOf(kind: KindName): string {
    return `${kinds[kind].api}/namespaces/${this.#namespace}/${kinds[kind].plural}`
  }

  async #sleep(ms: number): Promise<void> {
    for (let left = ms; left > 0 && !this.#isStopped; left -= 250) await pause(250)
  }
}
