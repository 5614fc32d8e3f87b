import { setMaxListeners } from 'node:events'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { LagLimits } from './lag.ts'
import { type ResourceType, apiVersionOf } from '../resource-type.ts'
import { type InformerScope, type SharedInformerOptions, absenceText, scopeName } from './informer-options.ts'
import { SharedInformer } from './shared-informer.ts'
import type { Transport } from '../transport/transport.ts'
import type { WatcherRules } from '../watcher/index.ts'

export interface InformerFactoryOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
  /** Registry for the metrics of the informers. */
  metrics?: MetricsRegistry
  /**
   * Prefix of the informers' names, for a process with several factories that follow the same objects:
   * `scheduler/pods`.
   */
  name?: string
  resyncMs?: number
  limits?: Partial<LagLimits>
  rules?: Partial<WatcherRules>
  stream?: boolean
  /** Default transform of informers that name none: returns the part of an object to cache. */
  transform?: <T extends KubeObject>(object: T, type: ResourceType) => T
}

/** Options of a single informer. */
export type InformerSpec<T extends KubeObject> = Pick<
  SharedInformerOptions<T>,
  'namespace' | 'namespaces' | 'labelSelector' | 'fieldSelector' | 'indexes' | 'transform' | 'notOlderThan'
>

interface Made {
  informer: SharedInformer<never>
  transform: unknown
  hasMetadataOnly: boolean
  /** Number of users of the metadata informer that have not released it. */
  users: number
}

/**
 * Keeps only the metadata that relations between objects need. A frozen object belongs to the server of this process
 * and costs nothing.
 */
function withoutRest<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, finalizers, ownerReferences } =
    object.metadata
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      deletionTimestamp,
      finalizers,
      ownerReferences,
    },
  } as T
}

/** Creates informers and shares one between all users of the same objects. */
export class InformerFactory {
  readonly #options: InformerFactoryOptions
  readonly #informers = new Map<string, Made>()
  #isStarted = false

  constructor(options: InformerFactoryOptions) {
    this.#options = options
  }

  /**
   * Returns the informer of a resource in a scope, the same one for repeated calls: indexes accumulate, and the
   * transform must be the same.
   */
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

  /**
   * Returns an informer of a resource's metadata. If an informer of the whole objects exists, it is returned instead.
   */
  metadata(
    type: ResourceType,
    spec: Pick<InformerSpec<KubeObject>, 'namespace' | 'namespaces' | 'notOlderThan'> = {},
  ): SharedInformer {
    const known = this.#informers.get(keyOfScope(type, spec))
    if (!known) return this.#make(type, { ...spec, transform: withoutRest }, true)
    known.users++
    return known.informer as unknown as SharedInformer
  }

  /** Releases a metadata informer of a resource that no longer exists, and stops it after its last user. */
  forget(informer: SharedInformer): void {
    for (const [key, made] of this.#informers) {
      if (!made.hasMetadataOnly || (made.informer as unknown) !== informer || --made.users > 0) continue
      informer.stop()
      this.#informers.delete(key)
    }
  }

  #make<T extends KubeObject>(type: ResourceType<T>, spec: InformerSpec<T>, metadataOnly: boolean): SharedInformer<T> {
    const scope = scopeName(type, spec)
    const name = this.#options.name ? `${this.#options.name}/${scope}` : scope
    const informer = new SharedInformer<T>({
      ...this.#options,
      ...spec,
      ...this.#transformOf(spec),
      type,
      name,
      metadataOnly,
    })
    this.#informers.set(keyOfScope(type, spec), {
      informer: informer as unknown as SharedInformer<never>,
      transform: spec.transform,
      hasMetadataOnly: metadataOnly,
      users: 1,
    })
    if (this.#isStarted) informer.start()
    return informer
  }

  #transformOf<T extends KubeObject>({
    transform = this.#options.transform,
  }: InformerSpec<T>): Pick<InformerSpec<T>, 'transform'> {
    return transform ? { transform } : {}
  }

  /** Starts all informers, including those that are created later. */
  start(): void {
    this.#isStarted = true
    for (const { informer } of this.#informers.values()) informer.start()
  }

  stop(): void {
    for (const { informer } of this.#informers.values()) informer.stop()
  }

  /** Resolves when every existing informer has its first list; rejects if the signal is aborted first. */
  async waitForSync(signal?: AbortSignal): Promise<void> {
    // Every informer adds a listener, and there may be dozens.
    if (signal) setMaxListeners(0, signal)
    await Promise.all([...this.#informers.values()].map(({ informer }) => informer.synced(signal)))
  }

  /** Returns the reasons why readiness should fail: a sentence for each informer that lags or whose API is absent. */
  problems(counts: (informer: SharedInformer) => boolean = () => true): string[] {
    return this.#all().flatMap((informer) => (counts(informer) ? (informer.problem() ?? []) : []))
  }

  /** Returns a sentence for each API that the server does not serve or does not allow. */
  absences(): string[] {
    return this.#all().flatMap((informer) => (informer.absence ? absenceText(informer.type, informer.absence) : []))
  }

  #all(): SharedInformer[] {
    return [...this.#informers.values()].map(({ informer }) => informer as unknown as SharedInformer)
  }
}

const keyOfScope = (type: ResourceType, spec: InformerScope): string => `${apiVersionOf(type)} ${scopeName(type, spec)}`
