import type { FeatureGates, GateName } from '../../api/feature-gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { ResourceType } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { RivalLease } from './manager/rival-lease.ts'
import type { RosterOf } from './roster/roster.ts'
import type { Sources } from './sources.ts'
import type { Writer } from './writes/writer.ts'

/** The first and the longest wait after failures. */
export interface BackOff {
  baseDelayMs?: number
  maxDelayMs?: number
}

/** An operation to be done, as data. */
export interface AnyAction {
  kind: string
}

/** The actions to do now and, in `wait`, the reason why nothing later may happen yet. */
export interface Step<Action extends AnyAction> {
  /** Applied in this order. A failure prevents those after it. */
  actions: readonly Action[]
  /** A sentence that conditions and commands show to users. */
  wait?: string
  /** Reconcile again after this time even if nothing changes. */
  requeueAfterMs?: number
}

/** The result of a step. Every action is in exactly one of the three lists. */
export interface Outcome<Action extends AnyAction> {
  done: readonly Action[]
  failed: readonly { action: Action; error: Error }[]
  /** Not attempted, because an earlier action failed. */
  skipped: readonly Action[]
  /** The results of the appliers, such as created objects, by action. */
  answers?: ReadonlyMap<Action, unknown>
  wait: string | undefined
}

export interface ObserveContext {
  readonly caches: Caches
  /** The only clock of a plan, in milliseconds since the epoch. */
  readonly nowMs: number
  readonly gates: FeatureGates
  /** The roster of an owner, of the kind declared in `sources.rosters`. */
  readonly roster: RosterOf<any>
  /** The value that `remember` returned for this owner. Undefined for the first reconcile of a process. */
  readonly remembered: unknown
}

export interface ApplyContext<Owner extends KubeObject> {
  /** The owner as it was observed. */
  readonly owner: Owner
  /** The only way to write. */
  readonly writer: Writer
  /** Reads a path of the API server, for data that no cache has. */
  ask<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>
  /** Emits an event about the owner, or about another object. */
  event(type: 'Normal' | 'Warning', reason: string, message: string, about?: KubeObject): void
  readonly nowMs: number
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * The pace of adjacent actions of one kind. `one by one` stops at the first failure. `slow start` begins with one
 * action, allows one more in flight after each success, and starts nothing after a failure, so that a thousand rejected
 * creates cost one request. It continues where it stopped shortly before. `all at once` attempts all of them, 256 at a
 * time.
 */
export type Pace = 'one by one' | 'slow start' | 'all at once'

type Run<Owner extends KubeObject, A extends AnyAction> = (ctx: ApplyContext<Owner>, action: A) => Promise<unknown>

/** The reason and the message of an event. */
export interface Told {
  reason: string
  message: string
}

export interface PacedApplier<Owner extends KubeObject, A extends AnyAction> {
  run: Run<Owner, A>
  /** Default: one by one. */
  pace?: Pace
  /**
   * The event for a failure, emitted once until another result follows. Default: FailedSync with the error's message.
   */
  failed?(error: Error, action: A): Told
}

/** Applies one kind of action. */
export type Applier<Owner extends KubeObject, A extends AnyAction> = Run<Owner, A> | PacedApplier<Owner, A>

export type Appliers<Owner extends KubeObject, Action extends AnyAction> = {
  [K in Action['kind']]: Applier<Owner, Extract<Action, { kind: K }>>
}

export type StatusOf<Owner> = Owner extends { status?: infer S } ? NonNullable<S> : never

/** Metrics of a controller about its owners, kept while this process acts. */
export interface OwnerMeasures<Owner extends KubeObject, Observed> {
  /** An owner has been observed. */
  seen(owner: Owner, seen: Observed): void
  /** The owner is deleted, and its series are removed. */
  gone(key: string): void
}

/** The members that every managed controller has: its name, its identity, and when it may run. */
export interface ControllerIdentity {
  /** The name of the queue, the metrics label and the event source, for example `replicaset`. */
  name: string
  /**
   * The service account in kube-system that writes are made as, if the transport supports it. Default: the manager's.
   */
  account?: string
  /** True if the cluster may lack the kinds. The controller then waits for them, and readiness does not fail. */
  isOptional?: boolean
  /** The lease of another manager that may run the same controller. While it is held, this controller does not run. */
  rival?: RivalLease
}

/** The status that a controller writes for its owner. */
export interface StatusStage<Owner extends KubeObject, Derived, Action extends AnyAction> {
  /** Computes the current status. Pure. The kit writes it if it differs from the stored status. */
  compute(derived: Derived, outcome: Outcome<Action>): StatusOf<Owner>
  /** The schema name of the status. Default: that of the owner's kind, for Kubernetes' own API groups. */
  type?: string
  /** Set to false to omit `status.observedGeneration`. Default: true, for owners that have a generation. */
  observesGeneration?: boolean
  /** The time after which this status changes without an event: a deadline passes, a pod becomes available. */
  changesInMs?(derived: Derived, status: StatusOf<Owner>): number | undefined
  /**
   * Reports whether an update may wait. Such updates are written at most every 50 ms, not for every pod that changes.
   * Updates that people or other controllers wait for must not wait. Default: no update waits.
   */
  mayWait?(before: StatusOf<Owner>, after: StatusOf<Owner>): boolean
  /** Annotations of the owner that are written together with the status, in one request. Others stay as they are. */
  annotations?(derived: Derived, outcome: Outcome<Action>): Readonly<Record<string, string>>
  /** Emits events about a status that has just been written. */
  announce?(ctx: ApplyContext<Owner>, before: StatusOf<Owner> | undefined, after: StatusOf<Owner>): void
}

/** The treatment of owners that are being deleted. Default: nothing is planned for them; their status is maintained. */
export interface DeletionRules {
  /** Added to every owner, and removed once a plan for a deleted owner has no action, no wait and no timer. */
  finalizer?: string
  /** Plans owners that are being deleted as any other, without a finalizer. */
  isPlanned?: boolean
}

/** The number of owners that are reconciled concurrently, and the intervals. */
export interface Timing<Derived> {
  /** The number of owners that are reconciled concurrently. Default: 5. */
  workers?: number
  /** The wait after a failure, which doubles each time up to a limit. Default: 5 ms to 1000 s. */
  backOff?: BackOff
  /** The number of objects that a reconcile traverses, if that exceeds what has changed. Large owners wait longer. */
  goesThrough?(derived: Derived): number
  /** Rosters with fewer members are rebuilt by each reconcile, which saves memory. Default: all rosters are kept. */
  keepsRostersFrom?: number
}

/** When a reconcile waits until the caches contain the controller's own writes. Default: always. */
export interface ConsistencyRules {
  /** A feature gate that must be enabled as well as StaleControllerConsistency. */
  gate?: GateName
  /** False for a controller that never depends on its own writes. */
  readsItsWrites?: boolean
}

/**
 * A controller, declared as data and pure functions. The kit runs the stages in this order:
 * observe → derive → plan → apply → status.
 */
export interface ControllerDefinition<
  Owner extends KubeObject,
  Observed,
  Action extends AnyAction,
  Derived = Observed,
> extends ControllerIdentity {
  owner: ResourceType<Owner>
  sources?: Sources<Owner>
  deletion?: DeletionRules
  consistency?: ConsistencyRules
  timing?: Timing<Derived>
  /** True for a controller that emits no events. Its failures are logged and counted. */
  isSilent?: boolean
  /** Reads the input of a reconcile, from caches only. */
  observe(ctx: ObserveContext, owner: Owner): Observed
  /** Computes what several later stages need, once per reconcile. Pure. Default: the observation itself. */
  derive?(seen: Observed): Derived
  /** Decides the next step. Pure. */
  plan(derived: Derived): Step<Action>
  apply: Appliers<Owner, Action>
  status?: StatusStage<Owner, Derived, Action>
  /** Data for the next reconcile of this owner, kept after its status is written. It is lost with the process. */
  remember?(derived: Derived, outcome: Outcome<Action>): unknown
  /** Additional metrics. */
  measures?(registry: MetricsRegistry): OwnerMeasures<Owner, Derived>
}

/** A controller of any type. */
export type AnyController = ControllerDefinition<any, any, any, any>

/** All kinds that a controller reads. */
export const typesOf = ({
  owner,
  sources: { owns = [], watches = [], reads = [] } = {},
}: AnyController): ResourceType[] => [owner, ...owns, ...watches.map((w) => w.type), ...reads]

/** Declares a controller. */
export function defineController<Owner extends KubeObject, Observed, Action extends AnyAction, Derived = Observed>(
  definition: ControllerDefinition<Owner, Observed, Action, Derived>,
): ControllerDefinition<Owner, Observed, Action, Derived> {
  const { name } = definition
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new Error(`${JSON.stringify(name)} is not a valid controller name: a-z, 0-9 and - only`)
  }
  return definition
}
