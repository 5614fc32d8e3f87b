import type { FeatureGates, GateName } from '../../api/feature-gates.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { NameRule } from '../../api/validation/names.ts'
import type { Objects, ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Head, StoredObject } from '../objects/stored-object.ts'

/** The context of validation and defaulting, besides the object: no I/O and no clock. */
export interface RuleContext {
  gates: FeatureGates
  /** Milliseconds since the epoch. */
  now: number
  /** The user of the request. Undefined when an object from the store is upgraded. */
  user?: UserInfo
}

/** One column of `kubectl get`. */
export interface Column<T> {
  name: string
  type: 'string' | 'integer' | 'date' | 'boolean' | 'number'
  format?: string
  /**
   * The description, or a function that reads it from the schema on first use: `() => describeField('ObjectMeta',
   * 'name')`.
   */
  description: string | (() => string)
  /** 0 is shown always, 1 only with `-o wide`. */
  priority?: 0 | 1
  cell(obj: T, now: number): string | Int64 | boolean | null
}

/**
 * A subresource that updates a part of the object: status, resize, ephemeralcontainers, finalize. `prepare` restores
 * the fields that it may not change, `validate` validates the result.
 */
export interface PartialUpdate<T> {
  /** Default: get, patch and update. */
  verbs?: readonly ('get' | 'patch' | 'update')[]
  prepare(obj: T, old: T, ctx: RuleContext): void
  validate(obj: T, old: T, ctx: RuleContext): FieldError[]
  validateInSteps?: ValidatesInSteps<T>
  warnings?(obj: T, old: T, ctx: RuleContext): string[]
}

/**
 * Validation that may be slow, such as rules of users. It yields where the server may handle other requests. `found`
 * has the errors of the validation before it. Undefined if there is nothing to validate.
 */
type ValidatesInSteps<T> = (
  obj: T,
  old: T | undefined,
  found: readonly FieldError[],
) => Generator<void, FieldError[]> | undefined

/** The result of an allocation: the grant, or the errors. */
export interface Begun {
  errors: FieldError[]
  finish(committed: boolean): void | Promise<void>
}

/** Maps an object to its autoscaling/v1 Scale and back. */
export interface ScaleMapping<T> {
  specReplicas(obj: T): number
  statusReplicas(obj: T): number
  /** The selector as text, for `status.selector`. */
  selector(obj: T): string
  setReplicas(obj: T, replicas: number): void
  /** Throws if the object has no readable scale. */
  checkRead?(obj: T): void
  /** The field path and message for a negative replica count. Default: those of Scale. */
  negative?: { path: string; saying: string }
}

/** A kind whose objects expire a fixed time after their last write. */
export interface TimeToLive {
  ms: number
  /** Timestamps in the object. After a restart the latest counts as its last write. */
  lastWritten(obj: KubeObject): readonly (string | null | undefined)[]
}

/**
 * Conversion between versions of a kind by a webhook. Stored objects may be of any version: a change of the storage
 * version does not rewrite existing objects.
 */
export interface Conversion {
  /** The current storage version. */
  readonly storage: { group: string; version: string; plural: string }
  readonly isStorage: boolean
  /** Converts stored objects to this version, in the same order. Synchronous if none needs conversion. */
  show(stored: readonly StoredObject[]): readonly StoredObject[] | Promise<readonly StoredObject[]>
  /** Converts an object of this version to the storage version. */
  store(object: KubeObject): KubeObject | Promise<KubeObject>
  /** Converts an object of another version to this one. */
  take(object: KubeObject): Promise<KubeObject>
  /** The head of stored bytes, which names their version. */
  headOf(value: Buffer): Head
  /**
   * Decodes an object that is stored in another than the storage version, by the schema of its own version if there is
   * one.
   */
  readOther(object: KubeObject): KubeObject
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/**
 * The declaration of a kind. Functions are pure, except that they may change the object that they prepare or default,
 * which belongs to the request. `old` is never changed.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  group: string
  version: string
  kind: string
  /** The kind of lists. Default: the kind and the suffix `List`. */
  listKind?: string
  plural: string
  /** Default: the kind in lower case. */
  singular?: string
  shortNames?: readonly string[]
  categories?: readonly string[]
  namespaced: boolean
  /** The feature gate that the kind needs. */
  gate?: GateName
  /** The name of the type in Kubernetes' schema. Default: the kind. */
  type?: string
  /** The type of a kind that is not in Kubernetes' schema. */
  objectType?: ObjectType
  /** A custom resource. Stored objects may come from an older schema, so they are decoded again. */
  isCustom?: boolean
  /** Identifies the schema of a custom resource. */
  schemaTag?: string
  /** This version is stored but not served. */
  isUnserved?: boolean
  /** The text of the Warning header for requests of this version. */
  deprecationWarning?: string
  /** Default: all. */
  verbs?: readonly Verb[]
  nameRule: NameRule

  /**
   * Sets defaults on every decode: create, update, the result of a patch, and objects that another process has stored.
   * It is idempotent.
   */
  defaults?(obj: T, ctx: RuleContext): void
  /**
   * Clears fields that users may not set on create, and fields of disabled gates. A status subresource is cleared for
   * every kind.
   */
  prepareForCreate?(obj: T, ctx: RuleContext): void
  /** Validates everything but the metadata. */
  validate(obj: T, ctx: RuleContext): FieldError[]
  /**
   * Restores fields that an update of the main resource may not change, and clears fields of disabled gates. A status
   * subresource is restored for every kind.
   */
  prepareForUpdate?(obj: T, old: T, ctx: RuleContext): void
  /** Validates the new object and its changes, except the metadata. */
  validateUpdate(obj: T, old: T, ctx: RuleContext): FieldError[]
  /** Runs after `validate` or `validateUpdate`. */
  validateInSteps?: ValidatesInSteps<T>
  /**
   * Allocates addresses and ports and sets them in the object, before validation. `finish` is always called and
   * releases them if the write fails. Both are asynchronous only if they wait for the store.
   */
  begin?(obj: T, old: T | undefined, env: { reader: ServerObjects; dryRun: boolean }): Begun | Promise<Begun>
  /**
   * Resolves when released addresses and ports can be allocated again by any server. The response to a write waits for
   * it.
   */
  released?(): Promise<unknown> | undefined
  /** Texts of Warning headers for valid objects. */
  warnings?(obj: T, old: T | undefined, ctx: RuleContext): string[]

  /**
   * `metadata.generation` is maintained: 1 at creation, incremented when `changed` (default: when the spec
   * differs).
   */
  generation?: { changed?(obj: T, old: T): boolean } | true
  /** A PUT of a missing object creates it. */
  allowCreateOnUpdate?: boolean
  /** A PUT without a resourceVersion is accepted. Default: true. */
  allowUnconditionalUpdate?: boolean

  /**
   * Defaulting, admission and preparation replace nested values on update and never change them in place. A patched
   * object can then share unchanged parts with its predecessor.
   */
  sharesParts?: boolean

  /** The rules of the status subresource. Undefined if there is none. */
  status?: PartialUpdate<T>
  /** A status given on create is kept, as for nodes. */
  keepsStatusOnCreate?: boolean
  scale?: ScaleMapping<T>
  /** More subresources that are partial updates. */
  partialUpdates?: Record<string, PartialUpdate<T>>

  /** The default propagation policy of a delete. Default: background. */
  defaultPropagation?: 'Orphan' | 'Background'
  /** The warning for a delete that relies on that default. */
  defaultPropagationWarning?: string
  /** The grace period of a deletion in seconds, given the requested one. 0 removes the object at once. */
  gracePeriod?(obj: T, requested: Int64 | undefined): Int64
  /** True while something besides finalizers and grace keeps a deleted object, such as the contents of a namespace. */
  isHeld?(obj: T): boolean
  /** Changes the object when its deletion begins: a namespace becomes Terminating. */
  beginDeletion?(obj: T): void
  /** A delete returns the object instead of a Status. */
  deleteAnswersObject?: boolean

  /** Objects expire when this time has passed since their last write. Default: never. */
  timeToLive?: TimeToLive

  /** Fields for field selectors, besides metadata.name and metadata.namespace. */
  selectableFields?: Record<string, (obj: T) => string>
  /** The columns of tables. Default: name and age. */
  columns?: readonly Column<T>[]
  /** The order of table rows. Default: the order of the list. */
  compareRows?(a: T, b: T): number
  /** Conditions of a table row, such as Completed for a finished pod. */
  rowConditions?(obj: T): { type: string; status: string; reason?: string; message?: string }[]

  /** Set for kinds that are answered and never stored. */
  virtual?: VirtualKind
  /** The version that Kubernetes stores, if it differs: discovery contains its hash. */
  toldStorageVersion?: string
  /** For a second version or group of objects that are stored under another resource. */
  storedAs?: {
    group: string
    version: string
    plural: string
    toStored(obj: T): KubeObject
    fromStored(obj: KubeObject): T
  }
  /** For versions that a webhook converts. */
  conversion?: Conversion
}

/** The kind of a resource's lists. */
export const listKindOf = ({ kind, listKind }: { kind: string; listKind?: string | undefined }): string =>
  listKind ?? `${kind}List`

/** The resource whose stored objects this one shows. Undefined if it has its own. */
export const shownFrom = ({ storedAs, conversion }: Resource): { group: string; plural: string } | undefined =>
  storedAs ?? (conversion && !conversion.isStorage ? conversion.storage : undefined)

/** A kind that is answered and never stored: reviews, bindings, metrics of nodes and pods. */
export interface VirtualKind {
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
  verbs: readonly ('create' | 'get' | 'list')[]
  shortNames?: readonly string[]
  /** The name of the body's type in the schema. */
  bodyType?: string
  /** Not listed in discovery. */
  isHidden?: boolean
  answer(ctx: ActionContext): Promise<ActionAnswer>
}

/** The parts of a resource that determine its tables. */
export type Tabular = Pick<Resource, 'columns' | 'compareRows' | 'rowConditions'>

/** The request of an action: pods/binding, pods/eviction, pods/log, serviceaccounts/token. */
export interface ActionContext {
  resource: Resource
  subresource: string
  namespace: string
  name: string
  query: URLSearchParams
  /** The decoded body of an action with a `bodyType`. */
  body: KubeObject | undefined
  user: UserInfo
  dryRun: boolean
  objects: Objects
  rules: RuleContext
  warnings: string[]
  /** Aborted when the client disconnects. */
  signal(): AbortSignal
}

/** The kubelet that answers a relayed request. */
export interface NodePlace {
  host: string
  port: number
  /** Includes the query. */
  path: string
  /** The request upgrades the connection. */
  isConnection: boolean
}

/** The response of an action: an object, a text, or the kubelet to relay to. */
export type ActionAnswer =
  | { code: number; object: object; table?: Tabular }
  | { code: number; text: string }
  | { relay: NodePlace }

/** Declares a virtual kind. */
export function defineVirtual(virtual: VirtualKind): Resource {
  const { group, version, kind, plural, namespaced, verbs } = virtual
  return {
    group,
    version,
    kind,
    plural,
    namespaced,
    verbs,
    nameRule: anyName,
    validate: () => [],
    validateUpdate: () => [],
    virtual,
  }
}

const anyName: NameRule = () => []

/** Declares a resource. The object's type is checked inside and erased outside. */
export function defineResource<T extends KubeObject>(resource: Resource<T>): Resource {
  return resource as unknown as Resource
}
