import { setMaxListeners } from 'node:events'
import {
  type Discovered,
  type ResourceType,
  type ServedResource,
  type SharedInformer,
  apiVersionOf,
  discover,
} from '../../../client/index.ts'
import type { FreeContext } from './free-controller.ts'

/** The interval of discovery. */
const refreshMs = 30_000
/** The time after which a controller starts without caches that are still empty. */
const patienceMs = 60_000

/** A kind and its cache. */
export interface FollowedKind {
  readonly type: ResourceType
  readonly informer: SharedInformer
}

export interface ServedKindsListener {
  /** The cache of a kind is filled. The returned function is called when the kind is no longer served. */
  follow(kind: FollowedKind): () => void
  /** All initial kinds are followed, or their caches have timed out. */
  ready(): void
}

/**
 * Follows the kinds that the server serves, including custom and aggregated ones, with a metadata cache of each wanted
 * kind.
 */
export class ServedKinds {
  readonly #ctx: FreeContext
  /** The name of the controller in logs and problems. */
  readonly #owner: string
  readonly #isWanted: (type: ServedResource) => boolean
  readonly #listener: ServedKindsListener
  /** By apiVersion and kind, for all versions. */
  #served = new Map<string, ResourceType>()
  /** By group and kind. */
  readonly #followed = new Map<string, FollowedKind & { stop: () => void }>()
  readonly #stopping = new AbortController()
  #cancel: () => void = () => {}
  #unsubscribe: () => void = () => {}
  #problem: string | undefined

  /** `isWanted` is called with kinds in the preferred version of their group. */
  constructor(
    ctx: FreeContext,
    owner: string,
    isWanted: (type: ServedResource) => boolean,
    listener: ServedKindsListener,
  ) {
    this.#ctx = ctx
    this.#owner = owner
    this.#problem = `the ${owner} has not completed discovery yet`
    this.#isWanted = isWanted
    this.#listener = listener
    setMaxListeners(0, this.#stopping.signal)
  }

  /** Undefined for a kind that is not served, or not yet known. */
  served(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#served.get(`${apiVersion} ${kind}`)
  }

  /** The cache of a kind, in any version. */
  followed({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): FollowedKind | undefined {
    return this.#followed.get(`${group} ${kind}`)
  }

  all(): Iterable<FollowedKind> {
    return this.#followed.values()
  }

  problems(): string[] {
    return this.#problem ? [this.#problem] : []
  }

  start(): void {
    void this.#begin()
  }

  stop(): void {
    this.#stopping.abort(new Error(`the ${this.#owner} is stopped`))
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
    // Owners are looked up in all caches, so they must be filled before the first dependent is processed.
    await Promise.all(
      [...this.#followed.values()].map(({ informer }) => informer.settled(until).catch(() => undefined)),
    )
    cancel()
    if (signal.aborted) return
    for (const followed of this.#followed.values()) this.#attend(followed)
    this.#problem = undefined
    this.#listener.ready()
    // A server in the same process reports changes. Other servers are polled. Kinds may have been added since the first
    // discovery.
    this.#later(1000, () => this.#again())
    this.#unsubscribe = this.#ctx.client.transport.whenKindsChange?.(() => this.#soon()) ?? (() => {})
  }

  async #again(): Promise<void> {
    for (const followed of await this.#refresh()) this.#attend(followed)
    this.#later(refreshMs, () => this.#again())
  }

  /** Starts a discovery at once. Kinds that are added together are found together. */
  #soon(): void {
    this.#cancel()
    this.#later(0, () => this.#again())
  }

  #later(ms: number, then: () => Promise<void>): void {
    this.#cancel()
    if (!this.#stopping.signal.aborted) this.#cancel = this.#ctx.clock.after(ms, () => void then())
  }

  /** Returns the new kinds. */
  async #refresh(): Promise<(FollowedKind & { stop: () => void })[]> {
    let found: Discovered
    try {
      found = await discover(this.#ctx.client, this.#stopping.signal)
    } catch (e) {
      if (!this.#stopping.signal.aborted) {
        this.#ctx.logger.warn('discovery failed', { error: e instanceof Error ? e.message : String(e) })
      }
      return []
    }
    if (this.#stopping.signal.aborted || found.resources.length === 0) return []
    this.#served = new Map(found.resources.map((type) => [`${apiVersionOf(type)} ${type.kind}`, type]))
    const wanted = new Map(
      found.resources
        .filter((type) => type.isPreferred && this.#isWanted(type))
        .map((type) => [`${type.group} ${type.kind}`, type]),
    )
    // A group whose discovery failed keeps its kinds.
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

  /** Adds a handler to a cache once it is filled. */
  #attend(followed: FollowedKind & { stop: () => void }): void {
    followed.informer.synced(this.#stopping.signal).then(
      () => {
        if (this.#followed.get(`${followed.type.group} ${followed.type.kind}`) === followed) {
          followed.stop = this.#listener.follow(followed)
        }
      },
      () => {}, // stopped
    )
  }
}
