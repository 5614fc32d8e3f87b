import type { KubeObject } from '../../src/api/object.ts'
import { type SharedInformer, keyOf } from '../../src/client/index.ts'
import type { World } from './world.ts'

const rule = 'a cache never goes back in time'

/** Compares all events and objects of a cache with the truth. */
export class CacheWatch {
  readonly informer: SharedInformer
  readonly #world: World
  readonly #who: string
  /** The last reported version of each object. */
  readonly #told = new Map<string, number>()
  #bookmark = 0

  constructor(world: World, who: string, informer: SharedInformer) {
    this.#world = world
    this.#who = who
    this.informer = informer
    informer.addHandler({
      add: (object) => this.#tell('add', object),
      update: (_old, object) => this.#tell('update', object),
      delete: (object, isFinal) => {
        // An object whose deletion was missed is reported in its last known state.
        if (isFinal) this.#tell('delete', object)
      },
      bookmark: (version) => {
        if (Number(version) < this.#bookmark) this.#wrong(`after ${this.#bookmark} it has seen everything up to ${version} only`)
        this.#bookmark = Number(version)
      },
    })
  }

  /** Checks that the cache has the state of the version that it reports. */
  check(): void {
    const { type, lastSyncResourceVersion } = this.informer
    const truth = this.#world.truth.listAt(type.plural, Number(lastSyncResourceVersion))
    const cached = this.informer.list()
    if (truth.length !== cached.length) this.#wrong(`at ${lastSyncResourceVersion} it holds ${names(cached)} instead of ${names(truth)}`)
    for (const object of truth) {
      const version = this.informer.get(keyOf(object))?.metadata.resourceVersion
      if (version !== object.metadata.resourceVersion) {
        this.#wrong(`at ${lastSyncResourceVersion} it holds ${keyOf(object)} at ${version ?? 'no version'} instead of ${object.metadata.resourceVersion}`)
      }
    }
  }

  /** True if the cache is in use and has not reached a revision. */
  isOlderThan(revision: number): boolean {
    const { state, hasSynced, lastSyncResourceVersion } = this.informer
    return state.kind !== 'Stopped' && hasSynced && Number(lastSyncResourceVersion) < revision
  }

  /** Reports a change that the cache has not seen. */
  behind(): string | undefined {
    const { type, lastSyncResourceVersion, state } = this.informer
    if (state.kind === 'Stopped') return undefined
    const last = this.#world.truth.lastChangeOf(type.plural)
    return last > Number(lastSyncResourceVersion) ? `${this.#who}'s cache of ${type.plural} is at ${lastSyncResourceVersion} and not at ${last}` : undefined
  }

  #tell(what: string, object: KubeObject): void {
    const key = keyOf(object)
    const version = Number(object.metadata.resourceVersion)
    const before = this.#told.get(key) ?? 0
    if (version < before) this.#wrong(`${what} of ${key} at ${version} after ${before}`)
    this.#told.set(key, version)
  }

  #wrong(text: string): void {
    this.#world.judge(rule, `${this.#who}'s cache of ${this.informer.type.plural}: ${text}`)
  }
}

const names = (objects: readonly KubeObject[]): string => `[${objects.map((o) => o.metadata.name).sort().join(' ')}]`
