import { setMaxListeners } from 'node:events'
import { type Discovered, type ResourceType, type ServedResource, type SharedInformer, apiVersionOf, discover, resourceName } from '../../client/index.ts'
import type { FreeContext } from '../kit/index.ts'

/** How often it is looked whether kinds have come or gone. */
const refreshMs = 30_000
/** After this long the collector begins without the caches that are still empty: what it does not know it asks for. */
const patienceMs = 60_000

const collectable = ['delete', 'list', 'watch']

/** One that is followed. */
export interface Followed {
  readonly type: ResourceType
  readonly informer: SharedInformer
}

export interface KindsListener {
  /** The cache of a kind is filled. The function that comes back is called when the kind is gone. */
  follow(kind: Followed): () => void
  /** All kinds that there were at first have been followed, or have taken too long. */
  ready(): void
}

/** Which kinds the server has, and a cache of each that can be collected. */
export class Kinds {
  readonly #ctx: FreeContext
  readonly #isCollected: (type: ResourceType) => boolean
  readonly #listener: KindsListener
  /** By apiVersion and kind, in all versions. */
  #served = new Map<string, ResourceType>()
  /** By group and kind. */
  readonly #followed = new Map<string, Followed & { stop: () => void }>()
  readonly #stopping = new AbortController()
  #cancel: () => void = () => {}
  #unsubscribe: () => void = () => {}
  #problem: string | undefined = 'the garbage collector does not know yet which kinds there are'

  constructor(ctx: FreeContext, isCollected: (type: ResourceType) => boolean, listener: KindsListener) {
    this.#ctx = ctx
    this.#isCollected = isCollected
    this.#listener = listener
    setMaxListeners(0, this.#stopping.signal)
  }

  /** Undefined for what the server does not serve, or not yet. */
  served(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#served.get(`${apiVersion} ${kind}`)
  }

  /** The cache of a kind, in whichever version it is followed. */
  followed({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): Followed | undefined {
    return this.#followed.get(`${group} ${kind}`)
  }

  all(): Iterable<Followed> {
    return this.#followed.values()
  }

  problems(): string[] {
    return this.#problem ? [this.#problem] : []
  }

  start(): void {
    void this.#begin()
  }

  stop(): void {
    this.#stopping.abort(new Error('the garbage collector is stopped'))
    this.#cancel()
    this.#unsubscribe()
    for (const { stop } of this.#followed.values()) stop()
    this.#followed.clear()
  }

  async #begin(): Promise<void> {
    const { signal } = this.#stopping
    await this.#refresh()
    if (this.#served.size === 0) {
      this.#later(1000, () => this.#begin())
      return
    }
    const enough = new AbortController()
    const cancel = this.#ctx.clock.after(patienceMs, () => enough.abort(new Error('takes too long')))
    const until = AbortSignal.any([signal, enough.signal])
    setMaxListeners(0, until)
    // Owners are looked up in all caches: they are to be filled before the first dependent is judged.
    await Promise.all([...this.#followed.values()].map(({ informer }) => informer.settled(until).catch(() => undefined)))
    cancel()
    if (signal.aborted) return
    for (const followed of this.#followed.values()) this.#attend(followed)
    this.#problem = undefined
    this.#listener.ready()
    // A server of the same process tells; any other is asked now and then. Kinds may have come since the first look.
    this.#later(1000, () => this.#again())
    this.#unsubscribe = this.#ctx.client.transport.whenKindsChange?.(() => this.#soon()) ?? (() => {})
  }

  async #again(): Promise<void> {
    for (const followed of await this.#refresh()) this.#attend(followed)
    this.#later(refreshMs, () => this.#again())
  }

  /** Looks again at once; kinds that come together are seen together. */
  #soon(): void {
    this.#cancel()
    this.#later(0, () => this.#again())
  }

  #later(ms: number, then: () => Promise<void>): void {
    this.#cancel()
    if (!this.#stopping.signal.aborted) this.#cancel = this.#ctx.clock.after(ms, () => void then())
  }

  /** Those that are new. */
  async #refresh(): Promise<(Followed & { stop: () => void })[]> {
    let found: Discovered
    try {
      found = await discover(this.#ctx.client, this.#stopping.signal)
    } catch (e) {
      if (!this.#stopping.signal.aborted) this.#ctx.logger.warn('cannot ask which kinds there are', { error: e instanceof Error ? e.message : String(e) })
      return []
    }
    if (this.#stopping.signal.aborted || found.resources.length === 0) return []
    this.#served = new Map(found.resources.map((type) => [`${apiVersionOf(type)} ${type.kind}`, type]))
    const wanted = new Map(found.resources.filter((type) => this.#isFollowed(type)).map((type) => [`${type.group} ${type.kind}`, type]))
    // A group whose kinds are not known for the moment keeps what it has.
    for (const [key, { informer, stop }] of found.failures.length ? [] : this.#followed) {
      if (wanted.has(key)) continue
      stop()
      this.#ctx.forget(informer)
      this.#followed.delete(key)
    }
    const added = [...wanted].filter(([key]) => !this.#followed.has(key))
    return added.map(([key, type]) => {
      const followed = { type, informer: this.#ctx.metadataOf(type), stop: () => {} }
      this.#followed.set(key, followed)
      return followed
    })
  }

  #isFollowed(type: ServedResource): boolean {
    return type.isPreferred && collectable.every((verb) => type.verbs.includes(verb)) && this.#isCollected(type)
  }

  /** Listens to a cache once it is filled. */
  #attend(followed: Followed & { stop: () => void }): void {
    followed.informer.synced(this.#stopping.signal).then(
      () => {
        if (this.#followed.get(`${followed.type.group} ${followed.type.kind}`) === followed) followed.stop = this.#listener.follow(followed)
      },
      () => {}, // stopped
    )
  }
}

/** Events are gone after an hour, and nobody owns them. */
export const isNoEvent = (type: ResourceType): boolean => !['events', 'events.events.k8s.io'].includes(resourceName(type))
