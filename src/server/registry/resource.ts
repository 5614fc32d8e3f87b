import type { FeatureGates, GateName } from '../../api/feature-gates.ts'
import type { Int64 } from '../../api/int64.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { NameRule } from '../../api/validation/names.ts'
import type { ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Head, StoredObject } from '../objects/stored-object.ts'
import type { ActionAnswer, ActionContext } from '../subresources/action.ts'

/** What a rule may know besides the object: no I/O, no clock of its own. */
export interface RuleContext {
  gates: FeatureGates
  /** Milliseconds since the epoch. */
  now: number
  /** Who sends the request; nobody where an object is read that another program has stored. */
  user?: UserInfo
}

/** One column of `kubectl get`. */
export interface Column<T> {
  name: string
  type: 'string' | 'integer' | 'date' | 'boolean' | 'number'
  format?: string
  /** Text, or a function where it comes from the schema (`() => describeField('ObjectMeta', 'name')`): loaded only when asked for. */
  description: string | (() => string)
  /** 0 is always shown, 1 only in wide output. */
  priority?: 0 | 1
  cell(obj: T, now: number): string | Int64 | boolean | null
}

/**
 * A subresource that is an update of part of the object: status, resize, ephemeralcontainers, finalize.
 * `prepare` puts back what this door may not change, `validate` judges the result.
 */
export interface PartialUpdate<T> {
  /** Default: get, patch and update. */
  verbs?: readonly ('get' | 'patch' | 'update')[]
  prepare(obj: T, old: T, ctx: RuleContext): void
  validate(obj: T, old: T, ctx: RuleContext): FieldError[]
  warnings?(obj: T, old: T, ctx: RuleContext): string[]
}

/** What was taken for an object, or why nothing could be. */
export interface Begun {
  errors: FieldError[]
  finish(committed: boolean): void | Promise<void>
}

/** How the autoscaling/v1 Scale of an object is read and written. */
export interface ScaleMapping<T> {
  specReplicas(obj: T): number
  statusReplicas(obj: T): number
  /** The selector in its text form, for `status.selector`. */
  selector(obj: T): string
  setReplicas(obj: T, replicas: number): void
  /** Throws where an object has no scale to read. */
  checkRead?(obj: T): void
  /** How a number below zero is refused, where it is not in the words of Scale itself. */
  negative?: { path: string; saying: string }
}

/** A kind whose objects go a fixed time after their last write. */
export interface TimeToLive {
  ms: number
  /** Times that an object states about itself. After a restart the latest of them counts as its last write. */
  lastWritten(obj: KubeObject): readonly (string | null | undefined)[]
}

/**
 * How a version of a kind is converted whose versions another server converts. Stored objects may be of any version:
 * one that was stored before the storage version changed stays as it is until it is written.
 */
export interface Conversion {
  /** The version that objects are written in. */
  readonly storage: { group: string; version: string; plural: string }
  readonly isStorage: boolean
  /** Stored objects as this version shows them, in the same order; at once where none has to be converted. */
  show(stored: readonly StoredObject[]): readonly StoredObject[] | Promise<readonly StoredObject[]>
  /** An object of this version in the version that is written. */
  store(object: KubeObject): KubeObject | Promise<KubeObject>
  /** An object of another version in this one. */
  take(object: KubeObject): Promise<KubeObject>
  /** How stored bytes begin: with the version that they are of. */
  headOf(value: Buffer): Head
  /** Reads what is stored in another version than that which is written: by the schema of its own version, if there is one. */
  readOther(object: KubeObject): KubeObject
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/**
 * A kind, declared once: everything the server knows about it. Functions are pure; those that are handed an object to
 * prepare or default may change it (it is the request's own copy), and `old` is never changed.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** '' is the core group. */
  group: string
  version: string
  kind: string
  /** The kind of lists. Default: the kind and `List`. */
  listKind?: string
  plural: string
  /** Default: the kind in lower case. */
  singular?: string
  shortNames?: readonly string[]
  categories?: readonly string[]
  namespaced: boolean
  /** The gate without which the kind is not served. */
  gate?: GateName
  /** The name in the schema table of Kubernetes' own types. Default: the kind. */
  type?: string
  /** The type of a kind that is none of Kubernetes' own. */
  objectType?: ObjectType
  /** Brought by a user: what is stored may have been written by another schema, and is read anew. */
  isCustom?: boolean
  /** Differs wherever the schema of a custom kind does. */
  schemaTag?: string
  /** Objects are stored in this version, which is not served: only others are. */
  isUnserved?: boolean
  /** Told to everybody who uses this version. */
  deprecationWarning?: string
  /** Default: all of them. */
  verbs?: readonly Verb[]
  nameRule: NameRule

  /**
   * Fills in what the user left out, on every decode: create, update, the result of a patch, and objects that another
   * process has stored. Applied again it changes nothing.
   */
  defaults?(obj: T, ctx: RuleContext): void
  /** Clears what a user may not set on create (the status is cleared for every kind that has that subresource), drops gated fields. */
  prepareForCreate?(obj: T, ctx: RuleContext): void
  /** Everything but the metadata, which is judged for every kind alike. */
  validate(obj: T, ctx: RuleContext): FieldError[]
  /** Puts back what an update of the main resource may not change (the status is put back for every kind that has that subresource), drops gated fields. */
  prepareForUpdate?(obj: T, old: T, ctx: RuleContext): void
  /** Everything but the metadata: the new object by itself, and what may not change. */
  validateUpdate(obj: T, old: T, ctx: RuleContext): FieldError[]
  /**
   * Takes what the object needs from a shared supply (addresses, ports) and writes it into the object, before validation. `finish` is
   * always called: what was taken is given back where the write did not happen. Both may wait for the store; a kind
   * that has nothing to wait for answers at once.
   */
  begin?(obj: T, old: T | undefined, env: { reader: ServerObjects; dryRun: boolean }): Begun | Promise<Begun>
  /** What to tell the user in Warning headers though the request is fine. */
  warnings?(obj: T, old: T | undefined, ctx: RuleContext): string[]

  /** Whether `metadata.generation` is kept: 1 at creation, one more when `changed` (default: when spec differs). */
  generation?: { changed?(obj: T, old: T): boolean } | true
  /** PUT of a name that does not exist creates it. */
  allowCreateOnUpdate?: boolean
  /** PUT without a resourceVersion is taken. Default: true. */
  allowUnconditionalUpdate?: boolean

  /**
   * What is done to an object on update (defaults, admission, preparation) changes only its own fields and what it has just made, never something
   * inside its parts in place. Then a patched object shares with the one before what the patch leaves alone.
   */
  sharesParts?: boolean

  /** Whether there is a status subresource, and its rules. */
  status?: PartialUpdate<T>
  /** A status given on creation is kept: a node comes with one. */
  keepsStatusOnCreate?: boolean
  scale?: ScaleMapping<T>
  /** Further subresources that are partial updates. `kind` is what discovery says where it is not this kind. */
  partialUpdates?: Record<string, PartialUpdate<T>>

  /** What happens to dependents when a delete does not say. Default: background. */
  defaultPropagation?: 'Orphan' | 'Background'
  /** What to tell the user of a delete that leaves it to that default. */
  defaultPropagationWarning?: string
  /**
   * For kinds that end gracefully: the seconds between a delete request and the end, given what was asked for (undefined: nothing was).
   * 0 ends it at once.
   */
  gracePeriod?(obj: T, requested: Int64 | undefined): Int64
  /** Something besides finalizers and grace keeps an object that is being deleted: a namespace's contents. */
  isHeld?(obj: T): boolean
  /** Changes the object as it starts to be deleted: a namespace becomes Terminating. */
  beginDeletion?(obj: T): void
  /** The answer to a delete is the object instead of a Status. */
  deleteAnswersObject?: boolean

  /** Objects are removed when this time has passed since their last write. Default: they stay until they are deleted. */
  timeToLive?: TimeToLive

  /** Fields for field selectors besides metadata.name and metadata.namespace. */
  selectableFields?: Record<string, (obj: T) => string>
  /** Default: name and age. */
  columns?: readonly Column<T>[]
  /** The order of a table's rows. Default: that of the list. */
  compareRows?(a: T, b: T): number
  /** Conditions of a table's row, such as Completed of a finished pod. */
  rowConditions?(obj: T): { type: string; status: string; reason?: string; message?: string }[]

  /** Set for a kind that is answered and never stored. */
  virtual?: VirtualKind
  /** The version that Kubernetes stores, where it is not this one: discovery tells a hash of it. */
  toldStorageVersion?: string
  /** For a second version or group of objects that are stored under another resource: where, and how to get there and back. */
  storedAs?: {
    group: string
    version: string
    plural: string
    toStored(obj: T): KubeObject
    fromStored(obj: KubeObject): T
  }
  /** For versions of one kind that another server converts. */
  conversion?: Conversion
}

/** The kind of a resource's lists. */
export const listKindOf = ({ kind, listKind }: { kind: string; listKind?: string | undefined }): string => listKind ?? `${kind}List`

/** The resource whose objects this one shows, where it has none of its own. */
export const shownFrom = ({ storedAs, conversion }: Resource): { group: string; plural: string } | undefined =>
  storedAs ?? (conversion && !conversion.isStorage ? conversion.storage : undefined)

/** A kind that is answered and never stored: the reviews, bindings by their collection, what nodes and pods use. */
export interface VirtualKind {
  group: string
  version: string
  kind: string
  plural: string
  namespaced: boolean
  verbs: readonly ('create' | 'get' | 'list')[]
  shortNames?: readonly string[]
  /** The name in the schema table of what is posted. */
  bodyType?: string
  /** Discovery does not tell of it. */
  isHidden?: boolean
  answer(ctx: ActionContext): Promise<ActionAnswer>
}

/** Declares a kind that is answered and never stored. */
export function defineVirtual(virtual: VirtualKind): Resource {
  const { group, version, kind, plural, namespaced, verbs } = virtual
  return { group, version, kind, plural, namespaced, verbs, nameRule: anyName, validate: () => [], validateUpdate: () => [], virtual }
}

const anyName: NameRule = () => []

/** Declares a resource; keeps the object's own type inside and hands out the general one. */
export function defineResource<T extends KubeObject>(resource: Resource<T>): Resource {
  return resource as unknown as Resource
}
