import type { CoreV1Event, ObjectReference } from '../../api/generated/types.ts'
import { type KubeObject, timestamp } from '../../api/object.ts'
import type { Random } from '../../base/random.ts'
import { type ResourceType, apiVersionOf } from '../resource-type.ts'

export type EventType = 'Normal' | 'Warning'

/** One occurrence of something that happened to an object. */
export interface Occurrence {
  ref: ObjectReference
  type: EventType
  reason: string
  message: string
  action: string | undefined
  related: ObjectReference | undefined
  atMs: number
}

/** The reporter of events. */
export interface EventSource {
  component: string
  /** '' if it does not matter. */
  host: string
}

/** The desired state of an Event: counts every occurrence. */
export interface EventRecord {
  name: string
  readonly namespace: string
  /** The first occurrence; `message` is the one of the latest. */
  readonly first: Occurrence
  message: string
  count: number
  lastAtMs: number
}

/**
 * Returns a reference to an object; undefined if its kind is unknown. `type` is used for objects without apiVersion and
 * kind.
 */
export function referenceTo(object: KubeObject | ObjectReference, type?: ResourceType): ObjectReference | undefined {
  const isObject = 'metadata' in object
  const kind = object.kind ?? type?.kind
  const apiVersion = object.apiVersion ?? (type && apiVersionOf(type))
  const { name, namespace, uid, resourceVersion } = isObject ? object.metadata : object
  if (!kind || !name) return undefined
  return {
    kind,
    ...(namespace ? { namespace } : {}),
    name,
    ...(uid ? { uid } : {}),
    ...(apiVersion ? { apiVersion } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(!isObject && object.fieldPath ? { fieldPath: object.fieldPath } : {}),
  }
}

/** The namespace of an Event; `default` for cluster-scoped objects. */
export const eventNamespace = (ref: ObjectReference): string => ref.namespace ?? 'default'

const validName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * Generates names as client-go does: `web-0.17a3f0c2b5d1e8f9`, with the time in nanoseconds. Digits below the
 * resolution of the clock are random.
 */
export class EventNames {
  readonly #random: Random
  #last = 0n

  constructor(random: Random) {
    this.#random = random
  }

  next(objectName: string, nowMs: number): string {
    const now = BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(Math.floor(this.#random.next() * 1_000_000))
    this.#last = now > this.#last ? now : this.#last + 1n
    const name = `${objectName}.${this.#last.toString(16)}`
    // Names of some kinds, such as system:node, are not valid names of Events.
    return name.length <= 253 && validName.test(name) ? name : this.#random.uuid()
  }
}

/** Builds the complete Event. */
export function eventObject(
  { name, namespace, first, message, count, lastAtMs }: EventRecord,
  { component, host }: EventSource,
): CoreV1Event {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: first.ref,
    reason: first.reason,
    message,
    source: { component, ...(host ? { host } : {}) },
    firstTimestamp: timestamp(first.atMs),
    lastTimestamp: timestamp(lastAtMs),
    count,
    type: first.type,
    ...(first.action ? { action: first.action } : {}),
    ...(first.related ? { related: first.related } : {}),
    reportingComponent: component,
    reportingInstance: host,
  }
}

/** Returns the patch of an Event that occurs again. */
export const eventPatch = ({ message, count, lastAtMs }: EventRecord): object => ({
  count,
  lastTimestamp: timestamp(lastAtMs),
  message,
})
