import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { ObjectReader, Objects, ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Resource } from '../registry/resource.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A request on its way to the store. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  operation: AdmissionOperation
  resource: Resource
  /** '' for the main resource. */
  subresource: string
  namespace: string
  name: string
  /** The request's own copy; absent for a delete. */
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
  admit?(request: AdmissionRequest): Promise<void> | void
  validate?(request: AdmissionRequest): Promise<void> | void
  /** Nothing, at once, for a request that uses nothing. */
  reserve?(request: AdmissionRequest, objects: Objects): Promise<Reservation | undefined> | undefined
}
