import type { Owner, PackedOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { WriteRules } from './rules.ts'

/** What a write does to its object, in the words of admission. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/**
 * An object that stands for another in requests: the Scale of a Deployment. Clients send and read it, admission judges it, and
 * what is stored is the object behind it.
 */
export interface Facade {
  /** The facade of an object that is stored. */
  of(object: KubeObject): KubeObject
  /** The object behind, changed as the facade that was sent says. It is a copy. */
  put(behind: KubeObject, sent: KubeObject): KubeObject
}

/** One wish for a change, as a verb has read it from its request. */
export interface Change {
  operation: Operation
  /**
   * Makes the object that is wanted: from nothing (CREATE), or from the current one (UPDATE). It is called again where another writer was faster,
   * so it must hand out an object of its own each time. `owners` manage the fields of the current one. Not asked by DELETE.
   */
  next?(current: KubeObject | undefined, owners: PackedOwners): KubeObject
  /** Of a DELETE. */
  deletion?: DeleteOptions
  rules: WriteRules
  facade?: Facade
  /** What is done in place of storing an object: the request is for an action such as pods/eviction. It heeds `dryRun` itself. */
  action?(): Promise<void>
  /** The owners of fields as an apply has settled them. Without it, they follow from what has changed. */
  owners?(write: Write): readonly Owner[]
  /** A PATCH of application/apply-patch+yaml, which may create its object. */
  isApply?: boolean
  /** The wish says what to change, not what the result is: it is made again on top of what a faster writer has written. */
  isRelative?: boolean
  dryRun: boolean
}

/** What a write was granted until it is over: addresses, quota. `finish` is always called. */
export interface Held {
  finish(committed: boolean): Promise<void> | void
}

/** One try of a change on its way through the stages. Each stage reads what those before it have filled in. */
export interface Write {
  readonly request: ResourceRequest
  readonly change: Change
  /** A PUT of a name that is not there becomes a CREATE. */
  operation: Operation
  /** What is stored now. */
  stored: StoredObject | undefined
  /** The same as the request's version of the API shows it. It must not be changed. */
  old: KubeObject | undefined
  /** What the request asks for, as admission judges it: the object, or its facade. Absent for a DELETE. */
  sent: KubeObject | undefined
  /** What is going to be stored; for a DELETE, the object with its marks. Nothing where an action is all that follows. */
  object: KubeObject | undefined
  /** Those who manage the fields of `object`. Undefined where they stay as they are. */
  owners: PackedOwners | undefined
  /** The write ends the object. */
  isRemoval: boolean
  /** Another try is worth it where somebody else was faster: the change can be made on top, or under another name. */
  canRepeat: boolean
  readonly held: Held[]
  /** Filled in by the last stage. */
  result: StoredObject | undefined
}

/** What a write has done. */
export interface Outcome {
  /** The object as it is now, or as it was last. */
  stored: StoredObject
  isCreated: boolean
  isRemoved: boolean
}
