import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { Authorizer } from '../auth/authorize.ts'
import type { ObjectReader, Objects, ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { Resource, RuleContext } from '../registry/resource.ts'
import type { WebhookClient } from '../webhooks/client.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

/** Facts about a request that only webhooks and policies ask for. They are computed when they are asked for. */
export interface AdmissionOrigin {
  readonly target: Registered
  readonly registry: Registry
  readonly authorizer: Authorizer
  /** The kind of `object`: that of the subresource where it has one of its own, such as Scale. */
  readonly kind: GroupVersionKind
  /** The type of `object`; undefined for the options of a connection. */
  readonly type: ObjectType | undefined
  readonly rules: RuleContext
  /** The CreateOptions, UpdateOptions or DeleteOptions of the request; undefined for CONNECT. */
  options(): Record<string, unknown> | undefined
}

/** A request on its way to the store. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  operation: AdmissionOperation
  resource: Resource
  /** '' for the main resource. */
  subresource: string
  namespace: string
  name: string
  /** The request's own copy, absent for a delete. `admit` may change it, or put another in its place. */
  object: T | undefined
  /** What is stored now; absent for a create. Not to be changed. */
  old: T | undefined
  user: UserInfo
  dryRun: boolean
  /** Sentences for Warning headers are added here. */
  warnings: string[]
  /** Adds an annotation to the request's audit events. Absent where nothing is audited. */
  note?: ((key: string, value: string) => void) | undefined
  reader: ObjectReader
  now: number
  /** For plugins that write, or wait for what others write. */
  objects?: ServerObjects
  /** For plugins that wait. */
  clock?: Clock
  /** Absent only in tests of single plugins. */
  origin?: AdmissionOrigin
  /** Made by the first plugin that needs it. */
  reinvocation?: Reinvocation
  /** The plugins have judged this very write before, and something has waited since: nothing is counted again. */
  isRepeated?: boolean
}

/**
 * The second round of mutating plugins, which a webhook or policy asks for that has changed the object. All plugins run again; webhooks and
 * policies decide by what they have kept in `state`, under their plugin's name, which of them do.
 */
export class Reinvocation {
  isWanted = false
  /** True in the second round, which is the last. */
  isUnderWay = false
  readonly state = new Map<string, unknown>()
}

/** The parts of a server that plugins with state of their own are made for. */
export interface PluginServer {
  objects: ServerObjects
  registry: Registry
  authorizer: Authorizer
  clock: Clock
  random: Random
  webhooks: WebhookClient
  metrics: MetricsRegistry
  logger: Logger
  /** Calls `fn` once when the server has ended. */
  whenEnded(fn: () => void): void
}

/** What a write was granted of something that is limited. */
export interface Reservation {
  /** Always called, after the write or instead of it: what was taken for a write that did not happen is given back. */
  finish(committed: boolean): Promise<void>
}

/**
 * A rule on requests, by Kubernetes' name for it. `admit` may change `object` and runs after decoding and defaults, before the
 * kind's own validation; `validate` only judges, after it, and may be asked again where something has waited since. `reserve` comes
 * last and takes what the write will use. All refuse by an ApiError, and answer a promise only where they have to wait.
 */
export interface AdmissionPlugin {
  name: string
  /** Requests for connections (exec, attach, portforward, proxy) are judged, too, as CONNECT. */
  handlesConnect?: boolean
  /** `validate` is not repeated where quota was waited for: what it says is for the user, or costs a request of its own. */
  judgesOnce?: boolean
  /** Makes the plugin of one server, where it keeps state: it takes this one's place. */
  forServer?(server: PluginServer): AdmissionPlugin
  admit?(request: AdmissionRequest): Promise<void> | void
  validate?(request: AdmissionRequest): Promise<void> | void
  /** Nothing, at once, for a request that uses nothing. */
  reserve?(request: AdmissionRequest, objects: Objects): Promise<Reservation | undefined> | undefined
}
