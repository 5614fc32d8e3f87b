import type { ClientAnswer, TlsClient } from '../e2e/tls-client.ts'
import type { SeededRandom } from '../seeded-random.ts'

interface Deployment {
  metadata: { name: string; generation: number }
  spec: { replicas: number; template: { metadata: { annotations?: Record<string, string> } } }
  status: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; availableReplicas?: number }
}

interface Pod {
  metadata: { name: string; uid: string; labels: Record<string, string>; annotations?: Record<string, string>; deletionTimestamp?: string }
}

interface Owned {
  metadata: { uid: string; labels: Record<string, string>; deletionTimestamp?: string; ownerReferences?: { uid: string }[] }
  /** Set for a ReplicaSet. */
  spec: { replicas?: number }
}

/** A change of a pod or a ReplicaSet in etcd: its key, and what it is from then on. */
export interface OwnedChange {
  key: string
  revision: number
  object: Owned | undefined
}

export const podPrefix = '/registry/pods/default/'
export const setPrefix = '/registry/replicasets/default/'

const path = '/apis/apps/v1/namespaces/default/deployments'
const replicas = 3
/** One more in a rollout, as a quarter of three is rounded up. */
const surge = 1
const json = { 'content-type': 'application/json' }
const mark = 'torture/turn'

const waitMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A user who rolls out a few Deployments again and again, through any server, while everything fails. */
export class Rollouts {
  readonly #names = ['web-a', 'web-b']
  readonly #servers: readonly TlsClient[]
  readonly #random: SeededRandom
  #isOver = false
  #running: Promise<void> = Promise.resolve()
  #begun = 0

  constructor(servers: readonly TlsClient[], random: SeededRandom) {
    this.#servers = servers
    this.#random = random
  }

  /** The number of acknowledged rollouts. */
  get begun(): number {
    return this.#begun
  }

  async start(): Promise<void> {
    for (const name of this.#names) {
      const template = { metadata: { labels: { app: name }, annotations: { [mark]: '0' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
      const body = JSON.stringify({ metadata: { name }, spec: { replicas, selector: { matchLabels: { app: name } }, template } })
      const { code, text } = await this.#servers[0]!.http1({ method: 'POST', path, headers: json, body })
      if (code !== 201) throw new Error(`no deployment: ${text}`)
    }
    this.#running = this.#roll()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #roll(): Promise<void> {
    for (let turn = 1; !this.#isOver; turn++) {
      const [name, server] = [this.#pick(this.#names), this.#pick(this.#servers)]
      const body = JSON.stringify({ spec: { template: { metadata: { annotations: { [mark]: String(turn) } } } } })
      const headers = { 'content-type': 'application/merge-patch+json' }
      const answer = await server.http1({ method: 'PATCH', path: `${path}/${name}`, headers, body }).catch(() => undefined)
      if (answer?.code === 200) this.#begun++
      await waitMs(500 + this.#random.next() * 2500)
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random.next() * items.length)]!
  }

  /** Waits until every rollout is finished, up to a time limit. Resolves with what is missing. */
  async unfinished(server: TlsClient, withinMs: number): Promise<string[]> {
    const endMs = Date.now() + withinMs
    for (;;) {
      const missing = await this.#missing(server)
      if (missing.length === 0 || Date.now() > endMs) return missing
      await waitMs(250)
    }
  }

  async #missing(server: TlsClient): Promise<string[]> {
    const [deployments, pods] = [itemsOf<Deployment>(await get(server, path)), itemsOf<Pod>(await get(server, '/api/v1/namespaces/default/pods'))]
    if (!deployments || !pods) return ['the server does not answer']
    return deployments.flatMap(({ metadata: { name, generation }, spec, status }) => {
      const wanted = spec.template.metadata.annotations?.[mark]
      const own = pods.filter(({ metadata }) => metadata.labels['app'] === name)
      const current = own.filter(({ metadata }) => metadata.annotations?.[mark] === wanted && !metadata.deletionTimestamp)
      const counts = [status.replicas, status.updatedReplicas, status.availableReplicas]
      const isDone = status.observedGeneration === generation && counts.every((count) => count === replicas) && own.length === replicas && current.length === replicas
      return isDone ? [] : [`${name} is not rolled out: status ${JSON.stringify(status)} of generation ${generation}, ${own.length} pods, ${current.length} of turn ${wanted}`]
    })
  }
}

async function get(server: TlsClient, at: string): Promise<ClientAnswer | undefined> {
  return server.http1({ path: at }).catch(() => undefined)
}

const itemsOf = <T>(answer: ClientAnswer | undefined): T[] | undefined => (answer?.code === 200 ? (JSON.parse(answer.text) as { items: T[] }).items : undefined)

/**
 * Finds violations in the history of ReplicaSets and pods: ReplicaSets of a Deployment that want more pods together
 * than a rollout may have, a ReplicaSet with more pods than it ever wanted, a name that was used twice. A Deployment
 * may briefly have more pods, because one ReplicaSet may delete more slowly than another creates.
 */
export function judgeRollouts(history: readonly OwnedChange[]): { problems: string[]; mostPods: number } {
  const problems: string[] = []
  const wanted = new Tallies<number>()
  const mostWanted = new Map<string, number>()
  const pods = new Tallies<string>()
  const uids = new Map<string, string>()
  let mostPods = 0
  for (const { key, revision, object } of history) {
    const uid = object?.metadata.uid
    if (uid && (uids.get(key) ?? uid) !== uid) problems.push(`${key} was made twice, the second time at ${revision}`)
    if (uid) uids.set(key, uid)
    const isAlive = object && !object.metadata.deletionTimestamp
    const app = object?.metadata.labels['app'] ?? ''
    if (key.startsWith(setPrefix)) {
      const count = object?.spec.replicas ?? 0
      const all = wanted.set(app, key, isAlive ? count : undefined)
      const sum = [...all.values()].reduce((total, one) => total + one, 0)
      if (sum > replicas + surge) problems.push(`the ReplicaSets of ${app} wanted ${sum} pods at ${revision}`)
      if (uid) mostWanted.set(uid, Math.max(mostWanted.get(uid) ?? 0, count))
      continue
    }
    const owner = object?.metadata.ownerReferences?.[0]?.uid ?? ''
    const all = pods.set(app, key, isAlive ? owner : undefined)
    mostPods = Math.max(mostPods, all.size)
    const own = [...all.values()].filter((one) => one === owner).length
    if (isAlive && own > (mostWanted.get(owner) ?? replicas)) problems.push(`${app} had ${own} pods of one ReplicaSet at ${revision}, which never wanted more than ${mostWanted.get(owner)}`)
  }
  return { problems, mostPods }
}

/** Values by app and key. */
class Tallies<T> {
  readonly #byApp = new Map<string, Map<string, T>>()
  readonly #appOf = new Map<string, string>()

  /** Those of the app of a key, after the key has got another value, or none. What is gone is found by its key. */
  set(app: string, key: string, value: T | undefined): ReadonlyMap<string, T> {
    const known = this.#appOf.get(key) ?? app
    this.#appOf.set(key, known)
    const all = this.#byApp.get(known) ?? new Map<string, T>()
    this.#byApp.set(known, all)
    if (value === undefined) all.delete(key)
    else all.set(key, value)
    return all
  }
}
