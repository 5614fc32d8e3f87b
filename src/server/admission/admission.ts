import type { KubeObject } from '../../api/object.ts'
import type { ObjectReader, Objects, UserInfo } from '../objects/objects.ts'
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
}

/** What a write was granted of something that is limited. */
export interface Reservation {
  /** Always called, after the write or instead of it: what was taken for a write that did not happen is given back. */
  finish(committed: boolean): Promise<void>
}

/**
 * A rule on requests, by Kubernetes' name for it. `admit` may change `object` and runs after decoding and defaults, before the
 * kind's own validation; `validate` only judges, after it. `reserve` comes last: it may wait, and take what the write will use. All
 * refuse by an ApiError.
 */
export interface AdmissionPlugin {
  name: string
  admit?(request: AdmissionRequest): void
  validate?(request: AdmissionRequest): void
  /** Nothing, at once, for a request that uses nothing. */
  reserve?(request: AdmissionRequest, objects: Objects): Promise<Reservation | undefined> | undefined
}
