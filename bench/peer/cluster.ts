import { randomBytes } from 'node:crypto'
import { type Api, countOf, podsPath } from '../growth/api.ts'
import { type KindName, kindNames, kinds } from '../growth/kinds.ts'
import type { Limit } from '../growth/limit.ts'
import { Kubelet } from '../load/kubelet.ts'

/** The component that schedules and runs pods: the cluster itself, or the load instead of scheduler and nodes. */
export const runners = ['cluster', 'load'] as const
export type Runner = (typeof runners)[number]

/** A cluster without nodes has nobody who would run pods. */
export async function findRunner(api: Api): Promise<Runner> {
  return (await countOf(api, '/api/v1/nodes')) > 0 ? 'cluster' : 'load'
}

/** The kinds that the server has. A DaemonSet has as many pods as the cluster has nodes, which is no size to choose. */
export async function servedKinds(api: Api): Promise<KindName[]> {
  const served: KindName[] = []
  const has = new Map<string, boolean>()
  for (const name of kindNames) {
    const { api: path } = kinds[name]
    if (!has.has(path)) has.set(path, await api.has(path))
    if (has.get(path) && name !== 'daemonset') served.push(name)
  }
  return served
}

/** Stands in for scheduler and nodes until it is stopped, and takes the node that it makes for that away again. */
export async function standIn(api: Api): Promise<() => Promise<void>> {
  const kubelet = await Kubelet.start(api.target)
  return async () => {
    kubelet.stop()
    await api.send('DELETE', '/api/v1/nodes/bench-node')
    await api.send('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/bench-node')
  }
}

/** The namespaces of one run, with names that no other has. */
export class Namespaces {
  readonly #api: Api
  readonly #prefix = `bench-peer-${randomBytes(3).toString('hex')}`
  readonly #names = new Set<string>()
  readonly #making = new Set<Promise<void>>()
  #isClosed = false

  constructor(api: Api) {
    this.#api = api
  }

  async make(what: string): Promise<string> {
    if (this.#isClosed) throw new Error('the run is being cleaned up')
    const name = `${this.#prefix}-${what}`
    // Noted first: a create whose answer is lost is cleaned up as well.
    this.#names.add(name)
    const making = this.#api.makeNamespace(name)
    this.#making.add(making)
    await making
    return name
  }

  /**
   * Deletes all namespaces with what is in them, and waits until they are gone; no more can be made. Answers what is
   * left, in words. Pods that no node has go at once, even where no controller runs.
   */
  async removeAll(limit: Limit): Promise<string[]> {
    this.#isClosed = true
    await Promise.allSettled(this.#making)
    const left: string[] = []
    const remove = async (name: string) => {
      try {
        await this.#remove(name, limit)
        this.#names.delete(name)
      } catch (e) {
        left.push(`namespace ${name} is left: ${e instanceof Error ? e.message : String(e)}`)
      }
    }
    await Promise.all(Array.from(this.#names, remove))
    return left
  }

  async #remove(name: string, limit: Limit): Promise<void> {
    const path = `/api/v1/namespaces/${name}`
    const { code, text } = await this.#api.send('DELETE', path)
    if (code === 404) return
    if (code >= 400 && code !== 409) throw new Error(`${code} ${text.slice(0, 200)}`)
    await this.#api.send('DELETE', podsPath(name), { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 })
    await limit.until(async () => {
      const isDone = !(await this.#api.has(path))
      return { isDone, done: 0, wanted: 1, what: 'namespaces are gone; does the cluster run a namespace controller?' }
    })
  }
}
