import type { FeatureGates } from '../../api/feature-gates.ts'
import type { ObjectReference } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { Client, ResourceType, SharedInformer } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { AnyController, CacheIndex } from './definition.ts'
import type { RivalLease } from './rival-lease.ts'

/** What a controller of its own kind gets for one term, in which this process may act. */
export interface FreeContext {
  readonly client: Client
  /** Of the kinds in `reads`: filled before the start. */
  readonly caches: Caches
  /** A cache of any kind's metadata, shared with whoever caches it whole. It fills after it was asked for. */
  metadataOf(type: ResourceType): SharedInformer
  /** The kind is no more. */
  forget(informer: SharedInformer): void
  /** Tells users. */
  event(about: KubeObject | ObjectReference, type: 'Normal' | 'Warning', reason: string, message: string): void
  /** How many keys to work on at the same time. */
  readonly workers: number
  readonly clock: Clock
  readonly random: Random
  readonly gates: FeatureGates
  readonly logger: Logger
  readonly metrics: MetricsRegistry | undefined
  /** Aborted when what is still under way has to be given up: requests take it. */
  readonly signal: AbortSignal
}

/** A free controller at work. */
export interface Running {
  /** Begins nothing more, and resolves when what is under way has ended. */
  stop(): Promise<void>
  /** Resolves once it knows what it needs to act. Default: at once. */
  ready?(): Promise<void>
  /** Why readiness should fail. */
  problems?(): string[]
}

/**
 * A controller whose work is not one loop over owners: it listens and decides in its own way, and shares with the others the caches, the
 * client that cannot write when another process leads, the events and the end.
 */
export interface FreeController {
  /** Names its queue, its metrics and its events' source. */
  name: string
  /** The service account of kube-system that it acts as, where the transport allows that. Default: the manager's own identity. */
  account?: string
  /** True for a controller of kinds that a cluster may lack: while they are not served it waits, and readiness does not fail for it. */
  isOptional?: boolean
  /** The lease of another manager that may run the same controller: while it is held, this one does not run. */
  rival?: RivalLease
  /** Kinds that are cached whole, before it starts. */
  reads?: readonly ResourceType[]
  indexes?: readonly CacheIndex[]
  /** Default: 5. */
  workers?: number
  /** Once for each term. */
  start(ctx: FreeContext): Running
}

/** Anything that a manager runs. */
export type ManagedController = AnyController | FreeController

export const isFree = (controller: ManagedController): controller is FreeController => 'start' in controller
