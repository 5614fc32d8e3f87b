import type { ObjectReference } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { TokenBucket } from '../queue/index.ts'
import { type EventNames, type EventRecord, type Occurrence, eventNamespace } from './event-object.ts'
import { LruMap } from './lru-map.ts'

/** Upstream's numbers. */
const maxRemembered = 4096
/** So many different messages of one reason, each at most so long after the one before, are combined. */
const maxSimilar = 10
const similarWithinMs = 600_000
/** What may be written about one object: so many at once, and one every five minutes in the long run. */
const spamBurst = 25
const spamPerSecond = 1 / 300

interface Similar {
  /** At most nine: the tenth is what makes them too many. Most reasons have one message for an object, and no set. */
  messages: string | Set<string>
  lastAtMs: number
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
  readonly #records = new LruMap<string, R>(maxRemembered)
  readonly #similar = new LruMap<string, Similar>(maxRemembered)
  readonly #buckets = new LruMap<string, TokenBucket>(maxRemembered)

  constructor(clock: Clock, names: EventNames, makeRecord: (record: EventRecord) => R) {
    this.#clock = clock
    this.#names = names
    this.#makeRecord = makeRecord
  }

  /** Counts an occurrence in. */
  add(occurrence: Occurrence): Correlated<R> {
    const object = objectKey(occurrence.ref)
    return { record: this.#count(occurrence, object), isSpam: !this.#bucket(object).tryTake() }
  }

  #count(occurrence: Occurrence, object: string): R {
    const { ref, type, reason, atMs } = occurrence
    const group = keyOf(object, type, reason)
    const isCombined = this.#isOneOfMany(group, occurrence)
    const message = isCombined ? `(combined from similar events): ${occurrence.message}` : occurrence.message
    const key = isCombined ? group : keyOf(group, ref.fieldPath ?? '', occurrence.message)
    const there = this.#records.get(key)
    if (there) {
      there.count++
      there.message = message
      there.lastAtMs = Math.max(there.lastAtMs, atMs)
      return there
    }
    const name = this.#names.next(ref.name ?? '', atMs)
    const record = this.#makeRecord({ name, namespace: eventNamespace(ref), first: occurrence, message, count: 1, lastAtMs: atMs })
    this.#records.set(key, record)
    return record
  }

  #isOneOfMany(group: string, { message, atMs }: Occurrence): boolean {
    const similar = this.#similar.get(group)
    if (!similar || atMs - similar.lastAtMs > similarWithinMs) {
      this.#similar.set(group, { messages: message, lastAtMs: atMs })
      return false
    }
    similar.lastAtMs = atMs
    if (similar.messages === message) return false
    if (typeof similar.messages === 'string') similar.messages = new Set([similar.messages])
    const { messages } = similar
    messages.add(message)
    if (messages.size < maxSimilar) return false
    messages.delete(messages.values().next().value!)
    return true
  }

  #bucket(object: string): TokenBucket {
    let bucket = this.#buckets.get(object)
    if (!bucket) this.#buckets.set(object, (bucket = new TokenBucket(spamPerSecond, spamBurst, this.#clock)))
    return bucket
  }
}

/** Joins what has no such character, but for the last. */
const keyOf = (...parts: readonly string[]): string => parts.join('\0')

/** The uid alone names an object. The key stands in each of those above: a node remembers about ten for each pod. */
const objectKey = ({ kind = '', namespace = '', name = '', uid, apiVersion = '' }: ObjectReference): string =>
  uid ? uid : keyOf(kind, namespace, name, apiVersion)
