import type { FeatureGates, GateName } from '../../api/feature-gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { IndexFunction, ResourceType } from '../../client/index.ts'
import type { Caches } from './caches.ts'
import type { RosterKind } from './keep-rosters.ts'
import type { RivalLease } from './rival-lease.ts'
import type { RosterOf } from './roster.ts'
import type { Writer } from './writer.ts'

/** The first and the longest wait after failures. */
export interface BackOff {
  baseDelayMs?: number
  maxDelayMs?: number
}

/** Something to be done, as data. */
export interface AnyAction {
  kind: string
}

/** What to do now and, in `wait`, why nothing later may happen yet. */
export interface Step<Action extends AnyAction> {
  /** Done in this order. What fails keeps those behind it from being tried. */
  actions: readonly Action[]
  /** A sentence for people: conditions and commands show it. */
  wait?: string
  /** Look again after this long even if nothing changes. */
  requeueAfterMs?: number
}

/** What became of a step. Every action is in one of the three lists. */
export interface Outcome<Action extends AnyAction> {
  done: readonly Action[]
  failed: readonly { action: Action; error: Error }[]
  /** Not tried, because one before them failed. */
  skipped: readonly Action[]
  /** What the appliers of the actions that were done have answered: objects as they were made. */
  answers?: ReadonlyMap<Action, unknown>
  wait: string | undefined
}

export interface ObserveContext {
  readonly caches: Caches
  /** The only clock of a plan: milliseconds since the epoch. */
  readonly nowMs: number
  readonly gates: FeatureGates
  /** The roster of an owner, of the kind that the definition names in `rosters`. */
  readonly roster: RosterOf<any>
  /** What `remember` said when this owner was last looked at; undefined in the first look of a process. */
  readonly remembered: unknown
}

export interface ApplyContext<Owner extends KubeObject> {
  /** As it was observed. */
  readonly owner: Owner
  /** The only way to write. */
  readonly writer: Writer
  /** Asks the server at a path, for what no cache can know. */
  ask<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>
  /** Tells the users of the owner, or of another object. */
  event(type: 'Normal' | 'Warning', reason: string, message: string, about?: KubeObject): void
  readonly nowMs: number
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * How actions of one kind that stand together are done. `one by one` stops at the first that fails. `slow start` begins with
 * one, may have one more under way with each that succeeds, and begins nothing more after a failure, so that a thousand creates that are all refused cost one
 * request; it goes on where it got to shortly before. `all at once` tries them all, 256 at a time.
 */
export type Pace = 'one by one' | 'slow start' | 'all at once'

type Run<Owner extends KubeObject, A extends AnyAction> = (ctx: ApplyContext<Owner>, action: A) => Promise<unknown>

/** What users are told. */
export interface Told {
  reason: string
  message: string
}

export interface PacedApplier<Owner extends KubeObject, A extends AnyAction> {
  run: Run<Owner, A>
  /** Default: one by one. */
  pace?: Pace
  /** The event for a failure, told once until something else happens. Default: FailedSync with the error's message. */
  failed?(error: Error, action: A): Told
}

/** Does one kind of action. */
export type Applier<Owner extends KubeObject, A extends AnyAction> = Run<Owner, A> | PacedApplier<Owner, A>

export type Appliers<Owner extends KubeObject, Action extends AnyAction> = {
  [K in Action['kind']]: Applier<Owner, Extract<Action, { kind: K }>>
}

export type StatusOf<Owner> = Owner extends { status?: infer S } ? NonNullable<S> : never

/** Another kind of object whose changes concern an owner. */
export interface Watch<T extends KubeObject = KubeObject> {
  type: ResourceType<T>
  /** Keys of the owners to be looked at. Called for both states of an object that changed. */
  toKeys(object: T, caches: Caches): Iterable<string>
  /** Whether a change could make a difference. Default: any could. */
  concerns?(before: T, after: T): boolean
  /** Whether both states surely lead to the same owners: then one of them will do. Default: nobody knows. */
  hasSameKeys?(before: T, after: T): boolean
}

/** A watch whose objects have a type of their own. */
export const watching = <T extends KubeObject>(type: ResourceType<T>, toKeys: Watch<T>['toKeys'], concerns?: Watch<T>['concerns']): Watch =>
  ({ type, toKeys, ...(concerns ? { concerns } : {}) }) as unknown as Watch

/** A way to find objects in a cache, for `caches.byIndex`. */
export interface CacheIndex<T extends KubeObject = KubeObject> {
  type: ResourceType<T>
  name: string
  valuesOf: IndexFunction<T>
}

/** An index whose objects have a type of their own. Controllers that share it share the function. */
export const indexing = <T extends KubeObject>(type: ResourceType<T>, name: string, valuesOf: IndexFunction<T>): CacheIndex =>
  ({ type, name, valuesOf }) as unknown as CacheIndex

/** What a controller measures about its owners, for as long as this process acts. */
export interface OwnerMeasures<Owner extends KubeObject, Observed> {
  /** An owner was looked at. */
  seen(owner: Owner, seen: Observed): void
  /** It is gone: so are its series. */
  gone(key: string): void
}

/** A controller as data and pure functions; the kit does the rest. */
export interface ControllerDefinition<Owner extends KubeObject, Observed, Action extends AnyAction> {
  /** `replicaset`: names its queue, its metrics and its events' source. */
  name: string
  /** The service account of kube-system that it writes as, where the transport allows that. Default: the manager's own identity. */
  account?: string
  /** True for a controller of kinds that a cluster may lack: while they are not served it waits, and readiness does not fail for it. */
  isOptional?: boolean
  /** The lease of another manager that may run the same controller: while it is held, this one does not run. */
  rival?: RivalLease
  owner: ResourceType<Owner>
  /** Kinds whose objects the owner manages. They are made with a reference to it, and their changes have it looked at. */
  owns?: readonly ResourceType[]
  /** Whether a change of one of these could make a difference. Default: any could. */
  ownedConcern?(before: KubeObject, after: KubeObject): boolean
  watches?: readonly Watch[]
  /** Kinds that are only read: cached, but their changes concern nobody. */
  reads?: readonly ResourceType[]
  /** Kinds among these that a cluster may lack: the controller runs without them, and follows them once they are served. */
  dispensable?: readonly ResourceType[]
  indexes?: readonly CacheIndex[]
  /** How many objects each reconcile goes through, where that is more than what has changed: large owners wait for more. */
  goesThrough?(seen: Observed): number
  /** How rosters are kept: what a reconcile reads of many objects is read once for each version of them. */
  rosters?: RosterKind
  /** Rosters with fewer members than this are made anew at each reconcile, for less memory. Default: all are kept. */
  keepsRostersFrom?: number
  /** The gate of its own, next to StaleControllerConsistency, that makes it wait for its own writes. */
  gate?: GateName
  /** False for a controller that never has to see its own writes. */
  readsItsWrites?: boolean
  /**
   * Kept on every owner, so that one that is deleted stays until a plan for it has nothing to do and nothing to wait for. Without it, nothing is
   * planned for an owner that is being deleted; its status is still kept up.
   */
  finalizer?: string
  /** Plans for owners that are being deleted, too, without a finalizer of its own. */
  plansDeletion?: boolean
  /** Which objects of the owner's type are looked at when they change. Default: all. */
  looksAt?(owner: Owner, caches: Caches): boolean
  /** True for a controller that makes no events: what fails is logged and counted. */
  isSilent?: boolean
  /** How many owners are worked on at the same time. Default: 5. */
  workers?: number
  /** How long an owner waits after a failure: twice as long each time, up to a limit. Default: 5 ms to 1000 s. */
  backOff?: BackOff
  /** The schema's name for the status, by which it is told what would change. Default: that of the owner's kind, in Kubernetes' own groups. */
  statusType?: string
  /** Whether `status.observedGeneration` is filled in. Default: true, for owners that have a generation. */
  observesGeneration?: boolean
  /** Reads what the plan needs, from caches only. */
  observe(ctx: ObserveContext, owner: Owner): Observed
  /** Decides. Pure. */
  plan(seen: Observed): Step<Action>
  apply: Appliers<Owner, Action>
  /** The status that is true now. Pure; written where it says something new. */
  status?(seen: Observed, outcome: Outcome<Action>): StatusOf<Owner>
  /**
   * The time after which this status says something else, though nothing happens: a deadline passes, a pod becomes
   * available.
   */
  changesInMs?(seen: Observed, status: StatusOf<Owner>): number | undefined
  /**
   * Whether what a status says now, after what is stored, may wait for more: then it is written at most every 50 ms, and not for every pod that comes or
   * goes. What people or other controllers wait for should not. Default: nothing waits.
   */
  statusMayWait?(before: StatusOf<Owner>, after: StatusOf<Owner>): boolean
  /** Annotations of the owner that are written with its status, in one write. Others are left alone. */
  annotations?(seen: Observed, outcome: Outcome<Action>): Readonly<Record<string, string>>
  /** Tells users what a status says that was just written. */
  announce?(ctx: ApplyContext<Owner>, before: StatusOf<Owner> | undefined, after: StatusOf<Owner>): void
  /** What the next look at the owner is to know of this one, once its status is written. Lost with the process: only for what may get lost. */
  remember?(seen: Observed, outcome: Outcome<Action>): unknown
  /** Metrics of its own. */
  measures?(registry: MetricsRegistry): OwnerMeasures<Owner, Observed>
}

/** Any controller, for those who run it. */
export type AnyController = ControllerDefinition<any, any, any>

/** Every kind that a controller reads. */
export const typesOf = ({ owner, owns = [], watches = [], reads = [] }: AnyController): ResourceType[] => [owner, ...owns, ...watches.map((w) => w.type), ...reads]

/** Declares a controller. */
export function defineController<Owner extends KubeObject, Observed, Action extends AnyAction>(
  definition: ControllerDefinition<Owner, Observed, Action>,
): ControllerDefinition<Owner, Observed, Action> {
  if (!/^[a-z][a-z0-9-]*$/.test(definition.name)) throw new Error(`${JSON.stringify(definition.name)} is no name for a controller: a-z, 0-9 and - only`)
  return definition
}
