import type { CoreV1Event, ObjectReference } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Random } from '../../base/random.ts'
import { type ResourceType, apiVersionOf } from '../resource-type.ts'

export type EventType = 'Normal' | 'Warning'

/** Something that happened to an object, once. */
export interface Occurrence {
  ref: ObjectReference
  type: EventType
  reason: string
  message: string
  action: string | undefined
  related: ObjectReference | undefined
  atMs: number
}

/** What stands in events about who wrote them. */
export interface EventSource {
  component: string
  /** '' where it does not matter. */
  host: string
}

/** An Event as it should be at the API: counts every occurrence. */
export interface EventRecord {
  name: string
  readonly namespace: string
  /** The first of its occurrences; `message` is that of the latest. */
  readonly first: Occurrence
  message: string
  count: number
  lastAtMs: number
}

/** How events refer to an object; undefined if it does not say what it is. `type` fills in for objects that do not name their kind. */
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

/** Events about what is in no namespace are in this one. */
export const eventNamespace = (ref: ObjectReference): string => ref.namespace ?? 'default'

const validName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** Makes names as upstream does: `web-0.17a3f0c2b5d1e8f9`, the time in nanoseconds. Where the clock does not tell them, chance does. */
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
    // Names of some kinds, such as system:node, are no names for events.
    return name.length <= 253 && validName.test(name) ? name : this.#random.uuid()
  }
}

const toSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** The whole Event. */
export function eventObject({ name, namespace, first, message, count, lastAtMs }: EventRecord, { component, host }: EventSource): CoreV1Event {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: first.ref,
    reason: first.reason,
    message,
    source: { component, ...(host ? { host } : {}) },
    firstTimestamp: toSeconds(first.atMs),
    lastTimestamp: toSeconds(lastAtMs),
    count,
    type: first.type,
    ...(first.action ? { action: first.action } : {}),
    ...(first.related ? { related: first.related } : {}),
    reportingComponent: component,
    reportingInstance: host,
  }
}

/** What changes in an Event when it happens again. */
export const eventPatch = ({ message, count, lastAtMs }: EventRecord): object => ({ count, lastTimestamp: toSeconds(lastAtMs), message })
