import { setMaxListeners } from 'node:events'
import type { FeatureGates } from '../../../api/feature-gates.ts'
import type { ObjectReference } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { MetricsRegistry } from '../../../base/metrics.ts'
import type { Random } from '../../../base/random.ts'
import { type Client, EventRecorder, type ResourceType, type SharedInformer } from '../../../client/index.ts'
import { Caches } from '../caches.ts'
import { type ControllerParts, type RunningController, defaultWorkers } from '../controller.ts'
import type { AnyController, ControllerIdentity } from '../definition.ts'
import type { CacheIndex } from '../sources.ts'

/** The context of a free controller for one term, in which this process may act. */
export interface FreeContext {
  readonly client: Client
  /** The caches of the kinds in `reads`, filled before the start. */
  readonly caches: Caches
  /** A cache of a kind's metadata, shared with all controllers that cache the whole kind. It fills after the call. */
  metadataOf(type: ResourceType): SharedInformer
  /** Releases the cache of a kind that is no longer served. */
  forget(informer: SharedInformer): void
  /** Emits an event. */
  event(about: KubeObject | ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void
  /** The number of keys to process concurrently. */
  readonly workers: number
  readonly clock: Clock
  readonly random: Random
  readonly gates: FeatureGates
  readonly logger: Logger
  readonly metrics: MetricsRegistry | undefined
  /** Aborted when requests in progress must be given up. */
  readonly signal: AbortSignal
}

/** A free controller that runs. */
export interface Running {
  /** Starts nothing more, and resolves when the work in progress has ended. */
  stop(): Promise<void>
  /** Resolves when the controller knows enough to act. Default: immediately. */
  ready?(): Promise<void>
  /** The reasons for which readiness fails. */
  problems?(): string[]
}

/**
 * A controller that is not a loop over owners. It listens and decides in its own way, and shares with the others the
 * caches, the client that cannot write while another process leads, the events and the shutdown.
 */
export interface FreeController extends ControllerIdentity {
  /** Kinds that are cached completely before the start. */
  reads?: readonly ResourceType[]
  indexes?: readonly CacheIndex[]
  /** Default: 5. */
  workers?: number
  /** Called once per term. */
  start(ctx: FreeContext): Running
}

/** Any controller that a manager runs. */
export type ManagedController = AnyController | FreeController

export const isFree = (controller: ManagedController): controller is FreeController => 'start' in controller

export interface FreeParts extends ControllerParts {
  client: Client
  metadataOf(type: ResourceType): SharedInformer
  forget(informer: SharedInformer): void
}

/** Runs one free controller for a term. */
export class FreeRunner implements RunningController {
  readonly name: string
  readonly #controller: FreeController
  readonly #parts: FreeParts
  readonly #recorder: EventRecorder
  readonly #giveUp = new AbortController()
  #running: Running | undefined

  constructor(controller: FreeController, parts: FreeParts) {
    const { client, clock, random, metrics } = parts
    this.name = controller.name
    this.#controller = controller
    this.#parts = { ...parts, logger: parts.logger.child({ controller: controller.name }) }
    const measured = metrics ? { metrics } : {}
    this.#recorder = new EventRecorder(client, {
      component: `${controller.name}-controller`,
      clock,
      random,
      logger: this.#parts.logger,
      ...measured,
    })
    setMaxListeners(0, this.#giveUp.signal)
  }

  start(): void {
    const { informers, metrics, ...parts } = this.#parts
    this.#running = this.#controller.start({
      ...parts,
      metrics,
      caches: new Caches(informers),
      event: (about, type, reason, message) => this.#recorder.event(about, type, reason, message),
      workers: this.#controller.workers ?? defaultWorkers,
      signal: this.#giveUp.signal,
    })
  }

  async ready(): Promise<void> {
    await this.#running?.ready?.()
  }

  problems(): string[] {
    return this.#running?.problems?.() ?? []
  }

  async stop(graceMs = 3000): Promise<void> {
    const cancel = this.#parts.clock.after(graceMs, () =>
      this.#giveUp.abort(new Error(`controller ${this.name} is stopped`)),
    )
    await this.#running?.stop()
    await this.#recorder.flush(this.#giveUp.signal).catch(() => {}) // events that are not written by now are dropped
    cancel()
    this.#recorder.close()
  }
}
