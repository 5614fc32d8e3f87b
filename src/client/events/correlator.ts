import type { ObjectReference } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { TokenBucket } from '../queue/index.ts'
import { type EventNames, type EventRecord, type Occurrence, eventNamespace } from './event-object.ts'

/** Upstream's numbers. */
const maxRemembered = 4096
/** So many different messages of one reason, each at most so long after the one before, are combined. */
const maxSimilar = 10
const similarWithinMs = 600_000
/** What may be written about one object: so many at once, and one every five minutes in the long run. */
const spamBurst = 25
const spamPerSecond = 1 / 300

/** So many events of one type and reason about one object are remembered; within ten minutes there are never more than ten. */
const maxOfKind = 64

/** Events of one type and reason about one object. */
interface Kind<R> {
  readonly type: string
  readonly reason: string
  /** At most nine: the tenth is what makes them too many. Most reasons have one message for an object, and no set. */
  messages: string | Set<string>
  lastAtMs: number
  /** The oldest first. Never grown but replaced: a list that grows, by spreading too, has room for 17. */
  records: readonly R[]
  combined: R | undefined
}

/** All that is remembered of one object. */
interface Told<R> {
  readonly bucket: TokenBucket
  /** Few: a search through them is cheaper than keys, of which a process with 100,000 pods would hold a million. */
  kinds: readonly Kind<R>[]
}

export interface Correlated<R extends EventRecord> {
  record: R
  /** Counted, but not to be written: the object has had its share. */
  isSpam: boolean
}

/** Turns occurrences into few events, as upstream does: the same again counts, many similar ones are combined, and too many are not written. */
export class EventCorrelator<R extends EventRecord> {
  readonly #clock: Clock
  readonly #names: EventNames
  readonly #makeRecord: (record: EventRecord) => R
  /** By object; the least recently used first. */
  readonly #objects = new Map<string, Told<R>>()
  /** How many records all objects have. */
  #remembered = 0

  constructor(clock: Clock, names: EventNames, makeRecord: (record: EventRecord) => R) {
    this.#clock = clock
    this.#names = names
    this.#makeRecord = makeRecord
  }

  /** Counts an occurrence in. */
  add(occurrence: Occurrence): Correlated<R> {
    const told = this.#told(objectKey(occurrence.ref))
    const correlated = { record: this.#count(occurrence, told), isSpam: !told.bucket.tryTake() }
    this.#forgetOldest()
    return correlated
  }

  /** The object of this uid is gone: nothing will be said of it any more. */
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
    const record = this.#makeRecord({ name, namespace: eventNamespace(ref), first: occurrence, message, count: 1, lastAtMs: atMs })
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

/** True if there are too many different messages of this kind to be told one by one. */
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

/** Joins what has no such character, but for the last. */
const keyOf = (...parts: readonly string[]): string => parts.join('\0')

/** The uid alone names an object. */
const objectKey = ({ kind = '', namespace = '', name = '', uid, apiVersion = '' }: ObjectReference): string =>
  uid ? uid : keyOf(kind, namespace, name, apiVersion)
