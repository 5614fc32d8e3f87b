import type { ObjectReference } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { TokenBucket } from '../queue/index.ts'
import { type EventNames, type EventRecord, type Occurrence, eventNamespace } from './event-object.ts'

/** Limits of client-go. */
const maxRemembered = 4096
/**
 * Events with different messages and one reason are combined after this number, if each follows the previous one within
 * the interval.
 */
const maxSimilar = 10
const similarWithinMs = 600_000
/** Events per object: a burst, and then one every five minutes. */
const spamBurst = 25
const spamPerSecond = 1 / 300

/**
 * Maximum number of remembered events of one type and reason about one object; within ten minutes there are never more
 * than ten.
 */
const maxOfKind = 64

/** Events of one type and reason about one object. */
interface Kind<R> {
  readonly type: string
  readonly reason: string
  /**
   * At most nine messages: the tenth triggers the combination. Most reasons have one message per object, and then no
   * set.
   */
  messages: string | Set<string>
  lastAtMs: number
  /** Oldest first. Replaced instead of grown: a growing array reserves room for 17. */
  records: readonly R[]
  combined: R | undefined
}

/** The remembered events of one object. */
interface Told<R> {
  readonly bucket: TokenBucket
  /** A short list: a search costs less than keys, of which a process with 100,000 pods would hold a million. */
  kinds: readonly Kind<R>[]
}

export interface Correlated<R extends EventRecord> {
  record: R
  /** True if the event is counted but not written, because the object has used its share. */
  isSpam: boolean
}

/**
 * Aggregates occurrences into events as client-go does: repeated events are counted, many similar ones are combined,
 * and excess ones are not written.
 */
export class EventCorrelator<R extends EventRecord> {
  readonly #clock: Clock
  readonly #names: EventNames
  readonly #makeRecord: (record: EventRecord) => R
  /** By object; least recently used first. */
  readonly #objects = new Map<string, Told<R>>()
  /** Number of records of all objects. */
  #remembered = 0

  constructor(clock: Clock, names: EventNames, makeRecord: (record: EventRecord) => R) {
    this.#clock = clock
    this.#names = names
    this.#makeRecord = makeRecord
  }

  /** Adds an occurrence. */
  add(occurrence: Occurrence): Correlated<R> {
    const told = this.#told(objectKey(occurrence.ref))
    const correlated = { record: this.#count(occurrence, told), isSpam: !told.bucket.tryTake() }
    this.#forgetOldest()
    return correlated
  }

  /** Removes the records of a deleted object. */
  forget(uid: string): void {
    const told = this.#objects.get(uid)
    if (!told) return
    this.#objects.delete(uid)
    for (const kind of told.kinds) this.#remembered -= sizeOf(kind)
  }

  #told(object: string): Told<R> {
    let told = this.#objects.get(object)
    if (told) this.#objects.delete(object)
    else told = { bucket: new TokenBucket(spamPerSecond, spamBurst, this.#clock), kinds: [] }
    this.#objects.set(object, told)
    return told
  }

  #forgetOldest(): void {
    for (const object of this.#objects.keys()) {
      if (this.#remembered <= maxRemembered) return
      this.forget(object)
    }
  }

  #count(occurrence: Occurrence, told: Told<R>): R {
    const { ref, type, reason, atMs } = occurrence
    let kind = told.kinds.find((k) => k.reason === reason && k.type === type)
    const isCombined = kind !== undefined && isOneOfMany(kind, occurrence)
    if (!kind) {
      kind = { type, reason, messages: occurrence.message, lastAtMs: atMs, records: [], combined: undefined }
      told.kinds = told.kinds.concat(kind)
    }
    const message = isCombined ? `(combined from similar events): ${occurrence.message}` : occurrence.message
    const there = isCombined ? kind.combined : kind.records.find((record) => isSame(record, occurrence))
    if (there) {
      there.count++
      there.message = message
      there.lastAtMs = Math.max(there.lastAtMs, atMs)
      return there
    }
    const name = this.#names.next(ref.name ?? '', atMs)
    const record = this.#makeRecord({
      name,
      namespace: eventNamespace(ref),
      first: occurrence,
      message,
      count: 1,
      lastAtMs: atMs,
    })
    this.#remembered++
    if (isCombined) return (kind.combined = record)
    const kept = kind.records.slice(1 - maxOfKind)
    this.#remembered -= kind.records.length - kept.length
    kind.records = kept.concat(record)
    return record
  }
}

const isSame = ({ first }: EventRecord, { ref, message }: Occurrence): boolean =>
  first.message === message && (first.ref.fieldPath ?? '') === (ref.fieldPath ?? '')

const sizeOf = ({ records, combined }: Kind<unknown>): number => records.length + (combined ? 1 : 0)

/** Returns true if this kind has too many different messages to write each of them. */
function isOneOfMany(kind: Kind<unknown>, { message, atMs }: Occurrence): boolean {
  const isLongAgo = atMs - kind.lastAtMs > similarWithinMs
  kind.lastAtMs = atMs
  if (isLongAgo) {
    kind.messages = message
    return false
  }
  if (kind.messages === message) return false
  if (typeof kind.messages === 'string') kind.messages = new Set([kind.messages])
  const { messages } = kind
  messages.add(message)
  if (messages.size < maxSimilar) return false
  messages.delete(messages.values().next().value!)
  return true
}

/** Joins strings of which only the last may contain a zero byte. */
const keyOf = (...parts: readonly string[]): string => parts.join('\0')

/** Returns the key of an object: its uid, or its other fields without one. */
const objectKey = ({ kind = '', namespace = '', name = '', uid, apiVersion = '' }: ObjectReference): string =>
  uid ? uid : keyOf(kind, namespace, name, apiVersion)
