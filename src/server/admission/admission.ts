import type { Owner } from '../../api/managed-fields/index.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { Turns } from '../../base/turns.ts'
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

/** Facts that only webhooks and policies need, computed on access. */
export interface AdmissionOrigin {
  readonly target: Registered
  readonly registry: Registry
  readonly authorizer: Authorizer
  /** The kind of `object`: that of the subresource if it has its own, such as Scale. */
  readonly kind: GroupVersionKind
  /** The type of `object`; undefined for the options of a connection. */
  readonly type: ObjectType | undefined
  readonly rules: RuleContext
  /** The CreateOptions, UpdateOptions or DeleteOptions of the request; undefined for CONNECT. */
  options(): Record<string, unknown> | undefined
}

/** A request in admission. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  operation: AdmissionOperation
  resource: Resource
  /** '' for the main resource. */
  subresource: string
  namespace: string
  name: string
  /** The request's own copy; undefined for DELETE. `admit` may change or replace it. */
  object: T | undefined
  /** The stored object; undefined for CREATE. It must not be changed. */
  old: T | undefined
  /** The field owners of both objects, which do not contain managedFields. Undefined for untracked objects. */
  owners?: { readonly object: readonly Owner[]; readonly old: readonly Owner[] }
  user: UserInfo
  dryRun: boolean
  /** Aborted when the client disconnects. */
  signal?: () => AbortSignal
  /** The turns of the requester for long evaluations. Default: one turn that does not end. */
  turns?: Turns
  /** Texts of Warning headers are appended here. */
  warnings: string[]
  /** Adds an annotation to the request's audit events. Undefined without auditing. */
  note?: ((key: string, value: string) => void) | undefined
  reader: ObjectReader
  now: number
  /** For plugins that write, or wait for other writes. */
  objects?: ServerObjects
  /** For plugins that wait. */
  clock?: Clock
  /** Undefined only in tests of single plugins. */
  origin?: AdmissionOrigin
  /** Created by the first plugin that needs it. */
  reinvocation?: Reinvocation
  /** Set when validation runs again after a wait for quota: nothing is counted twice. */
  isRepeated?: boolean
}

/**
 * The second round of mutating admission, requested by a webhook or policy that has changed the object. All plugins run
 * again. Webhooks and policies decide by their entry in `state`, under the plugin's name, which of them are called.
 */
export class Reinvocation {
  isWanted = false
  /** True in the second, last round. */
  isUnderWay = false
  readonly state = new Map<string, unknown>()
}

/** The parts of a server that are available to plugins with state. */
export interface PluginServer {
  objects: ServerObjects
  registry: Registry
  authorizer: Authorizer
  clock: Clock
  random: Random
  webhooks: WebhookClient
  metrics: MetricsRegistry
  logger: Logger
  /** Calls `fn` once when the server ends. */
  whenEnded(fn: () => void): void
}

/** A grant of a limited resource for a write. */
export interface Reservation {
  /** Always called. An uncommitted grant is released. */
  finish(committed: boolean): Promise<void>
}

/**
 * An admission plugin, by Kubernetes' name. `admit` may change `object` and runs after defaults, before validation.
 * `validate` runs after validation, and again if the write has waited since. `reserve` runs last and takes quota. All
 * throw an ApiError to reject, and return a promise only if they wait.
 */
export interface AdmissionPlugin {
  name: string
  /** The plugin also handles CONNECT: exec, attach, portforward, proxy. */
  handlesConnect?: boolean
  /** `validate` does not run again after a wait for quota: it only warns, or makes a request of its own. */
  judgesOnce?: boolean
  /** Creates the instance for one server, for plugins with state. */
  forServer?(server: PluginServer): AdmissionPlugin
  admit?(request: AdmissionRequest): Promise<void> | void
  validate?(request: AdmissionRequest): Promise<void> | void
  /** Returns undefined for a request that uses no quota. */
  reserve?(request: AdmissionRequest, objects: Objects): Promise<Reservation | undefined> | undefined
}
