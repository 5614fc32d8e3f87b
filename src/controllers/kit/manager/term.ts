import { setMaxListeners } from 'node:events'
import type { FeatureGates } from '../../../api/feature-gates.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { Random } from '../../../base/random.ts'
import {
  Client,
  InformerFactory,
  type InformerFactoryOptions,
  type InformerScope,
  type ResourceType,
  type SharedInformer,
  type Transport,
  asIdentity,
  leases,
  resourceName,
} from '../../../client/index.ts'
import { kitIndexes } from '../caches.ts'
import { Controller } from '../controller.ts'
import { typesOf } from '../definition.ts'
import type { Gather } from '../queueing/gathering.ts'
import type { Audit } from '../roster/roster.ts'
import { FreeRunner, type ManagedController, isFree } from './free-controller.ts'
import { type RivalLease, RivalWatch } from './rival-lease.ts'
import { ControllerSlot } from './slot.ts'

export interface TermSettings {
  transport: Transport
  controllers: readonly ManagedController[]
  clock: Clock
  random: Random
  logger: Logger
  metrics?: MetricsRegistry
  gates: FeatureGates
  /** Empty for all namespaces. */
  namespace: string
  /** Takes precedence over `namespace`. */
  namespaces?: readonly string[]
  scopes?: readonly CacheScope[]
  informers: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream' | 'transform'>
  /** If false, `start` rejects if a kind is not served, or may not be read. */
  waitsForKinds: boolean
  /** Builds every roster from scratch as well and is called for each difference. For tests. */
  audit?: Audit
  /** The shortest time between two reconciles of an owner, by its size. Tests use it to delay small owners. */
  gather?: Gather
}

/**
 * The objects of a kind that are cached. A controller should not write objects outside of the scope, because it never
 * sees them.
 */
export interface CacheScope extends Pick<InformerScope, 'namespaces' | 'labelSelector' | 'fieldSelector'> {
  type: ResourceType
}

/** The controllers and caches of a process while it may act. The next term starts from new lists. */
export class Term {
  readonly #informers: InformerFactory
  readonly #slots: ControllerSlot[]
  /** The names of informers without which this process is not ready. */
  readonly #required = new Set<string>()
  /** By `namespace/name` of the lease. */
  readonly #rivals = new Map<string, RivalWatch>()
  readonly #waitsForKinds: boolean
  #hasStarted = false

  /** True when every controller runs, or waits for an absent API. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Lists older than `notOlderThan` are not accepted. */
  constructor(settings: TermSettings, transport: Transport, notOlderThan: string) {
    const { clock, random, logger, metrics, gates, controllers, namespace } = settings
    this.#waitsForKinds = settings.waitsForKinds
    // Caches are shared and filled with the manager's identity. Each controller writes with its own.
    const clientOf = ({ account }: ManagedController) =>
      new Client(
        account === undefined ? transport : asIdentity(transport, { kind: 'service account', name: account }),
        { clock, random },
      )
    this.#informers = new InformerFactory({
      ...settings.informers,
      transport,
      clock,
      random,
      logger,
      ...(metrics ? { metrics } : {}),
    })
    const informers = new Map<string, SharedInformer>()
    const everywhere = settings.namespaces?.length
      ? { namespaces: settings.namespaces }
      : namespace
        ? { namespace }
        : {}
    const scopeOf = (type: ResourceType) => (type.namespaced ? everywhere : {})
    // A metadata cache has no selector: objects that are deleted with an owner may have any labels.
    const ownScopeOf = (type: ResourceType) => {
      const { type: _, ...own } = settings.scopes?.find((scope) => resourceName(scope.type) === resourceName(type)) ?? {
        type,
      }
      return { ...scopeOf(type), ...own }
    }
    for (const controller of controllers) {
      for (const type of typesReadBy(controller)) {
        const informer = this.#informers.informer(type, { ...ownScopeOf(type), indexes: kitIndexes, notOlderThan })
        informers.set(resourceName(type), informer)
        if (!controller.isOptional && !isDispensable(controller, type)) this.#required.add(informer.name)
      }
      for (const { type, name, valuesOf } of (isFree(controller) ? controller.indexes : controller.sources?.indexes) ??
        []) {
        const informer = informers.get(resourceName(type))
        if (!informer) {
          throw new Error(`controller ${controller.name} has an index of ${resourceName(type)}, which it does not read`)
        }
        informer.addIndex(name, valuesOf)
      }
    }
    const { audit, gather } = settings
    const parts = {
      informers,
      clock,
      random,
      gates,
      logger,
      ...(audit ? { audit } : {}),
      ...(gather ? { gather } : {}),
      ...(metrics ? { metrics } : {}),
    }
    const freely = {
      ...parts,
      metadataOf: (type: ResourceType) => this.#informers.metadata(type, { ...scopeOf(type), notOlderThan }),
      forget: (informer: SharedInformer) => this.#informers.forget(informer),
    }
    const informersOf = (types: readonly ResourceType[]) => types.map((type) => informers.get(resourceName(type))!)
    this.#slots = controllers.map(
      (c) =>
        new ControllerSlot({
          name: c.name,
          required: informersOf(typesReadBy(c).filter((type) => !isDispensable(c, type))),
          others: informersOf(typesReadBy(c).filter((type) => isDispensable(c, type))),
          rival: c.rival && this.#rivalOf(c.rival, clock, notOlderThan),
          make: () =>
            isFree(c)
              ? new FreeRunner(c, { ...freely, client: clientOf(c) })
              : new Controller(c, { ...parts, client: clientOf(c) }),
          logger,
        }),
    )
  }

  /** Resolves when every controller runs, or waits for an absent API. */
  async start(signal: AbortSignal): Promise<void> {
    // Every informer of every controller listens to the signal.
    setMaxListeners(0, signal)
    for (const rival of this.#rivals.values()) rival.start()
    this.#informers.start()
    await Promise.race([Promise.all(this.#slots.map((slot) => slot.start(signal))), aborted(signal)])
    const absences = this.#waitsForKinds ? [] : this.#informers.absences()
    if (absences.length) throw new Error(absences.join('; '))
    signal.throwIfAborted()
    this.#hasStarted = true
  }

  problems(): string[] {
    // An unreadable lease is reported with the controllers that wait for it.
    const leasesRead = new Set([...this.#rivals.values()].map(({ informer }) => informer.name))
    const isExcused = ({ absence, name }: SharedInformer) =>
      leasesRead.has(name) || (absence?.kind === 'missing' && !this.#required.has(name))
    return [
      ...this.#informers.problems((informer) => !isExcused(informer)),
      ...this.#slots.flatMap((slot) => slot.problems()),
    ]
  }

  absences(): string[] {
    const waiting = this.#slots.filter((slot) => !slot.isRunning).map(({ name }) => name)
    const absences = this.#informers.absences()
    return absences.length > 0 && waiting.length > 0 ? [...absences, `waiting: ${waiting.join(', ')}`] : absences
  }

  async stop(): Promise<void> {
    for (const rival of this.#rivals.values()) rival.stop()
    await Promise.all(this.#slots.map((slot) => slot.stop()))
    this.#informers.stop()
  }

  #rivalOf(lease: RivalLease, clock: Clock, notOlderThan: string): RivalWatch {
    const { namespace, name } = lease
    let rival = this.#rivals.get(`${namespace}/${name}`)
    if (!rival) {
      const informer = this.#informers.informer(leases, {
        namespace,
        fieldSelector: `metadata.name=${name}`,
        notOlderThan,
      })
      rival = new RivalWatch(lease, informer, clock)
      this.#rivals.set(`${namespace}/${name}`, rival)
    }
    return rival
  }
}

/** All kinds that the caches of a controller hold. */
const typesReadBy = (controller: ManagedController): readonly ResourceType[] =>
  isFree(controller) ? (controller.reads ?? []) : typesOf(controller)

const isDispensable = (controller: ManagedController, type: ResourceType): boolean =>
  !isFree(controller) && (controller.sources?.dispensable?.includes(type) ?? false)

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
