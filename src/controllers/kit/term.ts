import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import { Client, InformerFactory, type InformerFactoryOptions, type SharedInformer, type Transport, resourceName } from '../../client/index.ts'
import { kitIndexes } from './caches.ts'
import { Controller } from './controller.ts'
import { type AnyController, typesOf } from './definition.ts'

export interface TermSettings {
  transport: Transport
  controllers: readonly AnyController[]
  clock: Clock
  random: Random
  logger: Logger
  metrics?: MetricsRegistry
  gates: FeatureGates
  /** '' for all. */
  namespace: string
  informers: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream'>
}

/** Controllers and their caches for as long as this process acts. What comes after starts anew, from lists. */
export class Term {
  readonly #informers: InformerFactory
  readonly #controllers: Controller[]
  #hasStarted = false

  /** Whether the caches are filled and the controllers run. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** No list that is older than `notOlderThan` is taken. */
  constructor(settings: TermSettings, transport: Transport, notOlderThan: string) {
    const { clock, random, logger, metrics, gates, controllers, namespace } = settings
    const client = new Client(transport, { clock, random })
    this.#informers = new InformerFactory({ ...settings.informers, transport, clock, random, logger, ...(metrics ? { metrics } : {}) })
    const informers = new Map<string, SharedInformer>()
    for (const controller of controllers) {
      for (const type of typesOf(controller)) {
        const scope = type.namespaced && namespace ? { namespace } : {}
        informers.set(resourceName(type), this.#informers.informer(type, { ...scope, indexes: kitIndexes, notOlderThan }))
      }
      for (const { type, name, valuesOf } of controller.indexes ?? []) {
        const informer = informers.get(resourceName(type))
        if (!informer) throw new Error(`controller ${controller.name} has an index of ${resourceName(type)}, which it does not read`)
        informer.addIndex(name, valuesOf)
      }
    }
    this.#controllers = controllers.map((c) => new Controller(c, { client, informers, clock, random, gates, logger, ...(metrics ? { metrics } : {}) }))
  }

  /** Resolves when the caches are filled and the controllers run. */
  async start(signal: AbortSignal): Promise<void> {
    this.#informers.start()
    await this.#informers.waitForSync(signal)
    signal.throwIfAborted()
    this.#hasStarted = true
    for (const controller of this.#controllers) controller.start()
  }

  problems(): string[] {
    return this.#informers.problems()
  }

  async stop(): Promise<void> {
    if (this.#hasStarted) await Promise.all(this.#controllers.map((c) => c.stop()))
    this.#informers.stop()
  }
}
