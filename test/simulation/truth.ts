import type { KubeObject } from '../../src/api/object.ts'
import { systemRandom } from '../../src/base/random.ts'
import { Registry } from '../../src/server/registry/registry.ts'
import { allResources } from '../../src/server/resources/index.ts'
import { findByKey, registryPrefix } from '../../src/server/objects/stored-keys.ts'
import type { Store, StoreEvent } from '../../src/store/index.ts'
import type { Timeline } from './timeline.ts'

/** A committed write. `before` and `after` are undefined for a missing object. */
export interface Change {
  readonly revision: number
  readonly atMs: number
  /** `pods`, `leases` */
  readonly plural: string
  /** `namespace/name` or `name` */
  readonly key: string
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

const places = new Map(new Registry(allResources(systemRandom), []).storages().map((place) => [place.prefix, place]))

/** Everything that was ever committed, read from the disk. It survives crashes and compaction. */
export class Truth {
  /** By revision. */
  readonly #changes: (Change | undefined)[] = []
  /** plural → key → changes of it, in order. */
  readonly #byKey = new Map<string, Map<string, Change[]>>()
  readonly #lastChanges = new Map<string, number>()
  readonly #listeners: ((change: Change) => void)[] = []
  readonly #timeline: Timeline
  #revision = 0

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  async follow(store: Store): Promise<void> {
    await store.watch(registryPrefix, 0, (events) => {
      for (const event of events) this.#take(event)
    })
  }

  /** Called with every change, before the writer gets its response. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  get revision(): number {
    return this.#revision
  }

  change(revision: number): Change | undefined {
    return this.#changes[revision]
  }

  /** The revision at which a kind last changed. */
  lastChangeOf(plural: string): number {
    return this.#lastChanges.get(plural) ?? 0
  }

  /** All changes of objects with this name. */
  changesOf(plural: string, key: string): readonly Change[] {
    return this.#byKey.get(plural)?.get(key) ?? []
  }

  keys(plural: string): Iterable<string> {
    return this.#byKey.get(plural)?.keys() ?? []
  }

  get(plural: string, key: string): KubeObject | undefined {
    return this.changesOf(plural, key).at(-1)?.after
  }

  getAt(plural: string, key: string, revision: number): KubeObject | undefined {
    return this.changesOf(plural, key).findLast((c) => c.revision <= revision)?.after
  }

  list(plural: string): KubeObject[] {
    return this.listAt(plural, this.#revision)
  }

  /** The objects at a revision. */
  listAt(plural: string, revision: number): KubeObject[] {
    const objects: KubeObject[] = []
    for (const changes of this.#byKey.get(plural)?.values() ?? []) {
      let at = changes.length - 1
      while (at >= 0 && changes[at]!.revision > revision) at--
      const object = changes[at]?.after
      if (object) objects.push(object)
    }
    return objects
  }

  #take(event: StoreEvent): void {
    const place = findByKey(places, event.key)
    // Internal keys of servers have no objects.
    if (!place) return
    const { prefix, resource: { plural } } = place
    const key = event.key.slice(prefix.length)
    let ofPlural = this.#byKey.get(plural)
    if (!ofPlural) this.#byKey.set(plural, (ofPlural = new Map()))
    let changes = ofPlural.get(key)
    if (!changes) ofPlural.set(key, (changes = []))
    const after = event.type === 'put' ? (JSON.parse(event.value.toString()) as KubeObject) : undefined
    if (after) after.metadata.resourceVersion = String(event.revision)
    const change: Change = { revision: event.revision, atMs: this.#timeline.nowMs, plural, key, before: changes.at(-1)?.after, after }
    changes.push(change)
    this.#changes[event.revision] = change
    this.#revision = event.revision
    this.#lastChanges.set(plural, event.revision)
    for (const listener of this.#listeners) listener(change)
  }
}
