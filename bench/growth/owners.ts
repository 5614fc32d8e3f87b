import { watchObjects } from '../load/object-watch.ts'
import { type Api, countOf, mergePatch, podsPath } from './api.ts'
import { type Kind, type Owner, donePods, isSettled } from './kinds.ts'
import type { Limit, Progress } from './limit.ts'

/** The desired number of pods of an owner, and the generation that set it. */
interface Wish {
  pods: number
  generation: number
}

/** Owners of one kind in a namespace of their own, watched. */
export class Owners {
  readonly #api: Api
  readonly #kind: Kind
  readonly #namespace: string
  readonly #path: string
  readonly #seen = new Map<string, Owner>()
  readonly #wishes = new Map<string, Wish>()
  #wake = () => {}
  #end = () => {}

  private constructor(api: Api, kind: Kind, namespace: string) {
    this.#api = api
    this.#kind = kind
    this.#namespace = namespace
    this.#path = `${kind.api}/namespaces/${namespace}/${kind.plural}`
  }

  static async open(api: Api, kind: Kind, namespace: string): Promise<Owners> {
    await api.makeNamespace(namespace)
    const owners = new Owners(api, kind, namespace)
    owners.#end = await watchObjects(api.target, owners.#path, (type, object) => {
      // An error of the watch, such as 410, is no object: the wait for it ends by its timeout.
      if (type === 'ERROR') return
      owners.#seen.set(object.metadata.name, object as Owner)
      owners.#wake()
    })
    return owners
  }

  async create(name: string, object: object, pods: number): Promise<void> {
    await this.#api.ask('POST', this.#path, object)
    this.#wishes.set(name, { pods, generation: 1 })
  }

  async patch(name: string, patch: object, pods: number): Promise<void> {
    const { metadata } = await this.#api.ask<Owner>('PATCH', `${this.#path}/${name}`, patch, mergePatch)
    this.#wishes.set(name, { pods, generation: metadata.generation ?? 1 })
  }

  /** Deletes an owner; the garbage collector takes its pods. */
  async delete(name: string): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
    await this.#api.ask('DELETE', `${this.#path}/${name}`, options)
    this.#wishes.delete(name)
  }

  /** Waits until these owners have the pods that were last asked for, all of them as they should be. */
  async untilSettled(names: readonly string[], limit: Limit): Promise<void> {
    // Each look is only at owners that were not settled before.
    let open = [...names]
    let settled = 0
    const wanted = names.reduce((sum, name) => sum + (this.#wishes.get(name)?.pods ?? 0), 0)
    const look = (): Progress => {
      let done = 0
      open = open.filter((name) => {
        const [seen, wish] = [this.#seen.get(name), this.#wishes.get(name)]
        if (!wish || !seen) return true
        const isDone = isSettled(this.#kind, seen, wish.pods, wish.generation)
        if (isDone) settled += wish.pods
        else done += Math.min(wish.pods, donePods(this.#kind, seen, wish.generation))
        return !isDone
      })
      const what = `pods are ready, ${names.length - open.length} of ${names.length} owners are settled`
      return { isDone: open.length === 0, done: settled + done, wanted, what }
    }
    await limit.until(look, (ms) => this.#changed(ms))
  }

  /** Waits until the namespace has no pod. */
  async untilNoPods(limit: Limit): Promise<void> {
    let most = 0
    await limit.until(async () => {
      const left = await countOf(this.#api, podsPath(this.#namespace))
      most = Math.max(most, left)
      return { isDone: left === 0, done: most - left, wanted: most, what: 'pods are gone' }
    })
  }

  close(): void {
    this.#end()
  }

  /** Resolves after the next change, but no sooner than in 10 ms: under load there are many. */
  #changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = () => {}
        setTimeout(resolve, Math.min(10, ms))
      }
    })
  }
}
