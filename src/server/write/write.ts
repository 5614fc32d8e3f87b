import type { Owner, PackedOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { WriteRules } from './rules.ts'

/** The operation of a write, as admission names it. */
type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/**
 * An object that represents another one, such as the Scale of a Deployment. Clients and admission see the facade; the
 * object behind it is stored.
 */
export interface Facade {
  /** The facade of a stored object. */
  of(object: KubeObject): KubeObject
  /** Returns a copy of the object behind, with the changes of the sent facade. */
  put(behind: KubeObject, sent: KubeObject): KubeObject
}

/** A requested change, as parsed by a verb. */
export interface Change {
  operation: Operation
  /**
   * Computes the new object: from nothing (CREATE) or from the current one (UPDATE). `owners` manage the current one's
   * fields. It is called again after a conflict and must return a new object each time. Not called for DELETE.
   */
  next?(current: KubeObject | undefined, owners: PackedOwners): KubeObject | Promise<KubeObject>
  /** For DELETE only. */
  deletion?: DeleteOptions
  rules: WriteRules
  facade?: Facade
  /** Runs in place of storing an object, for actions such as pods/eviction. It handles `dryRun` itself. */
  action?(): Promise<void>
  /** The field owners after an apply. Default: they follow from the difference. */
  owners?(write: Write): readonly Owner[]
  /** A PATCH of application/apply-patch+yaml, which may create its object. */
  isApply?: boolean
  /** The change is relative, like a patch, so it can be applied again to a newer object. */
  isRelative?: boolean
  dryRun: boolean
}

/** A grant for the duration of a write: addresses, quota. `finish` is always called. */
interface Held {
  finish(committed: boolean): Promise<void> | void
}

/** One attempt of a change. Each stage reads the fields that earlier stages have set. */
export interface Write {
  readonly request: ResourceRequest
  readonly change: Change
  /** A PUT of a missing object becomes a CREATE. */
  operation: Operation
  /** The stored object. */
  stored: StoredObject | undefined
  /** The stored object in the request's API version. It must not be changed. */
  old: KubeObject | undefined
  /** The requested object or facade, as admission sees it. Undefined for a DELETE. */
  sent: KubeObject | undefined
  /** The object to store; for a DELETE, the marked object. Undefined for actions. */
  object: KubeObject | undefined
  /** The owners of the fields of `object`. Undefined if they do not change. */
  owners: PackedOwners | undefined
  /** The write removes the object. */
  isRemoval: boolean
  /** The attempt may be repeated after a conflict, on the newer object or under another generated name. */
  canRepeat: boolean
  readonly held: Held[]
  /** Set by the last stage. */
  result: StoredObject | undefined
}

/** The result of a write. */
export interface Outcome {
  /** The current object, or its last state if it is removed. */
  stored: StoredObject
  isCreated: boolean
  isRemoved: boolean
}
