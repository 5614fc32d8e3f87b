import { setMaxListeners } from 'node:events'
import type { KubeObject } from '../api/object.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import type { LagLimits } from './cache/lag.ts'
import { type ResourceType, apiVersionOf } from './resource-type.ts'
import { type InformerScope, SharedInformer, type SharedInformerOptions, absenceText, scopeName } from './shared-informer.ts'
import type { Transport } from './transport.ts'
import type { WatcherRules } from './watcher/index.ts'

export interface InformerFactoryOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
  /** Where the metrics of its informers go. */
  metrics?: MetricsRegistry
  /** Stands before the names of its informers, where a process has several who follow the same objects: `scheduler/pods`. */
  name?: string
  resyncMs?: number
  limits?: Partial<LagLimits>
  rules?: Partial<WatcherRules>
  stream?: boolean
  /** Makes of every object what is to be kept of it, for informers that name no transform of their own. */
  transform?: <T extends KubeObject>(object: T) => T
}

/** What one informer has of its own. */
export type InformerSpec<T extends KubeObject> = Pick<
  SharedInformerOptions<T>,
  'namespace' | 'namespaces' | 'labelSelector' | 'fieldSelector' | 'indexes' | 'transform' | 'notOlderThan'
>

interface Made {
  informer: SharedInformer<never>
  transform: unknown
  hasMetadataOnly: boolean
}

/** Keeps what relations between objects are told by. What is frozen belongs to the server of this process, and costs nothing. */
function withoutRest<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, finalizers, ownerReferences } = object.metadata
  return { metadata: { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, finalizers, ownerReferences } } as T
}

/** Makes informers, one for all who ask for the same objects. */
export class InformerFactory {
  readonly #options: InformerFactoryOptions
  readonly #informers = new Map<string, Made>()
  #isStarted = false

  constructor(options: InformerFactoryOptions) {
    this.#options = options
  }

  /** The informer of a resource in a scope. Asked for again, it is the same one: indexes add up, a transform must be the same. */
  informer<T extends KubeObject>(type: ResourceType<T>, spec: InformerSpec<T> = {}): SharedInformer<T> {
    const known = this.#informers.get(keyOfScope(type, spec))
    if (known?.hasMetadataOnly) throw new Error(`informer ${known.informer.name} has nothing but metadata`)
    if (known) {
      if (known.transform !== spec.transform) throw new Error(`informer ${known.informer.name} has another transform`)
      const informer = known.informer as unknown as SharedInformer<T>
      for (const [name, valuesOf] of Object.entries(spec.indexes ?? {})) informer.addIndex(name, valuesOf)
      return informer
    }
    return this.#make(type, spec, false)
  }

  /** An informer of a resource's metadata: that of the whole objects, where somebody has asked for it before. */
  metadata(type: ResourceType, spec: Pick<InformerSpec<KubeObject>, 'namespace' | 'namespaces' | 'notOlderThan'> = {}): SharedInformer {
    const known = this.#informers.get(keyOfScope(type, spec))
    return known ? (known.informer as unknown as SharedInformer) : this.#make(type, { ...spec, transform: withoutRest }, true)
  }

  /** Stops an informer of metadata whose resource is no more. */
  forget(informer: SharedInformer): void {
    for (const [key, made] of this.#informers) {
      if (!made.hasMetadataOnly || (made.informer as unknown) !== informer) continue
      informer.stop()
      this.#informers.delete(key)
    }
  }

  #make<T extends KubeObject>(type: ResourceType<T>, spec: InformerSpec<T>, metadataOnly: boolean): SharedInformer<T> {
    const scope = scopeName(type, spec)
    const name = this.#options.name ? `${this.#options.name}/${scope}` : scope
    const informer = new SharedInformer<T>({ ...this.#options, ...spec, ...this.#transformOf(spec), type, name, metadataOnly })
    this.#informers.set(keyOfScope(type, spec), { informer: informer as unknown as SharedInformer<never>, transform: spec.transform, hasMetadataOnly: metadataOnly })
    if (this.#isStarted) informer.start()
    return informer
  }

  #transformOf<T extends KubeObject>({ transform = this.#options.transform }: InformerSpec<T>): { transform?: (object: T) => T } {
    return transform ? { transform } : {}
  }

  /** Starts all informers: those that are asked for later, too. */
  start(): void {
    this.#isStarted = true
    for (const { informer } of this.#informers.values()) informer.start()
  }

  stop(): void {
    for (const { informer } of this.#informers.values()) informer.stop()
  }

  /** Resolves when every informer that there is now has its first list; rejects when the signal is aborted first. */
  async waitForSync(signal?: AbortSignal): Promise<void> {
    // Every informer listens to it, and there may be dozens.
    if (signal) setMaxListeners(0, signal)
    await Promise.all([...this.#informers.values()].map(({ informer }) => informer.synced(signal)))
  }

  /** Why readiness should fail, in one sentence per informer that is behind or whose API is absent. */
  problems(counts: (informer: SharedInformer) => boolean = () => true): string[] {
    return this.#all().flatMap((informer) => (counts(informer) ? (informer.problem() ?? []) : []))
  }

  /** A sentence for each API that the server does not serve, or does not allow. */
  absences(): string[] {
    return this.#all().flatMap((informer) => (informer.absence ? absenceText(informer.type, informer.absence) : []))
  }

  #all(): SharedInformer[] {
    return [...this.#informers.values()].map(({ informer }) => informer as unknown as SharedInformer)
  }
}

const keyOfScope = (type: ResourceType, spec: InformerScope): string => `${apiVersionOf(type)} ${scopeName(type, spec)}`
