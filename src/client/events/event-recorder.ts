import { ApiError, isAlreadyExists, isNotFound } from '../../api/errors.ts'
import type { ObjectReference } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { Client } from '../client.ts'
import { EventCorrelator, EventNames, eventObject, eventPatch, measureRecorder, referenceTo } from './index.ts'
import type { EventRecord, EventSource, EventType, RecorderMetrics } from './index.ts'
import type { ResourceType } from '../resource-type.ts'
import { events } from '../resources.ts'
import { waitFor } from '../transport/retry.ts'
import { TransportError } from '../transport/transport.ts'

export interface EventRecorderOptions {
  /** The reporting component: `deployment-controller`. */
  component: string
  /** The reporting host; set by kubelets. */
  host?: string
  clock: Clock
  random: Random
  /** Maximum number of queued events; further ones are dropped. Default: 1000. */
  maxQueued?: number
  /** Maximum number of attempts for an event. Default: 12. */
  maxTries?: number
  /** Delay between attempts. Default: 10 s. */
  retryDelayMs?: number
  logger?: Logger
  metrics?: MetricsRegistry
}

export interface EventOptions {
  /** The action that was taken, or failed, for the object. */
  action?: string
  /** A related object. */
  related?: KubeObject | ObjectReference
  /** The resource of the object, if it has no apiVersion and kind. */
  resource?: ResourceType
}

/** Not queued; queued; being written; being written and changed since. */
type State = 'idle' | 'queued' | 'writing' | 'writing, outdated'

interface Queued extends EventRecord {
  state: State
  /** True if the Event exists; 'maybe' after a write without a response. */
  isThere: 'no' | 'maybe' | 'yes'
}

/**
 * Writes Events about objects, which kubectl shows. Never throws and never blocks the caller: an event is dropped and
 * counted if the API is unavailable for too long, rejects it, or there are too many.
 */
export class EventRecorder {
  readonly #client: Client
  readonly #options: Required<Omit<EventRecorderOptions, 'logger' | 'metrics'>>
  readonly #source: EventSource
  readonly #logger: Logger
  readonly #metrics: RecorderMetrics
  readonly #names: EventNames
  readonly #correlator: EventCorrelator<Queued>
  /** Each record is queued at most once. */
  readonly #queue: Queued[] = []
  readonly #closing = new AbortController()
  #isWriting = false
  readonly #idleListeners = new Set<() => void>()

  constructor(client: Client, options: EventRecorderOptions) {
    const { logger = silentLogger, metrics, ...rest } = options
    this.#client = client
    this.#options = { host: '', maxQueued: 1000, maxTries: 12, retryDelayMs: 10_000, ...rest }
    this.#source = { component: this.#options.component, host: this.#options.host }
    this.#logger = logger
    this.#metrics = measureRecorder(this.#options.component, () => this.#queue.length, metrics)
    this.#names = new EventNames(this.#options.random)
    this.#correlator = new EventCorrelator(this.#options.clock, this.#names, (record) => ({
      ...record,
      state: 'idle',
      isThere: 'no',
    }))
  }

  /** Records an event about an object. */
  event(
    object: KubeObject | ObjectReference,
    type: EventType,
    reason: string,
    message: string,
    options: EventOptions = {},
  ): void {
    try {
      this.#note(object, type, reason, message, options)
    } catch (error) {
      this.#metrics.dropped('invalid')
      this.#logger.error('failed to build an event', { reason, error })
    }
  }

  /** Forgets a deleted object. Its queued events are still written. */
  forget(uid: string): void {
    this.#correlator.forget(uid)
  }

  /** Resolves when no event is queued. */
  flush(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#isWriting) return resolve()
      if (signal?.aborted) return reject(signal.reason as Error)
      const onAbort = () => {
        this.#idleListeners.delete(onIdle)
        reject(signal!.reason as Error)
      }
      const onIdle = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#idleListeners.add(onIdle)
    })
  }

  /** Drops queued events and all later ones. */
  close(): void {
    if (this.#closing.signal.aborted) return
    for (let left = this.#queue.length; left > 0; left--) this.#metrics.dropped('closed')
    this.#queue.length = 0
    this.#closing.abort(new Error('the event recorder is closed'))
    this.#metrics.close()
  }

  #note(
    object: KubeObject | ObjectReference,
    type: EventType,
    reason: string,
    message: string,
    { action, related, resource }: EventOptions,
  ): void {
    if (this.#closing.signal.aborted) return this.#metrics.dropped('closed')
    const ref = referenceTo(object, resource)
    if (!ref || (type !== 'Normal' && type !== 'Warning') || !reason) return this.#metrics.dropped('invalid')
    this.#metrics.recorded(type)
    const relatedRef = related && referenceTo(related)
    const { record, isSpam } = this.#correlator.add({
      ref,
      type,
      reason,
      message,
      action,
      related: relatedRef,
      atMs: this.#options.clock.now(),
    })
    if (isSpam) return this.#metrics.dropped('spam')
    if (record.state === 'writing') record.state = 'writing, outdated'
    else if (record.state === 'idle') this.#enqueue(record)
  }

  #enqueue(record: Queued): void {
    if (this.#queue.length >= this.#options.maxQueued) {
      record.state = 'idle'
      return this.#metrics.dropped('queue_full')
    }
    record.state = 'queued'
    this.#queue.push(record)
    if (!this.#isWriting) void this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Lets the caller continue first, so that events of one turn are aggregated before they are written.
    await Promise.resolve()
    for (let record = this.#queue.shift(); record; record = this.#queue.shift()) {
      record.state = 'writing'
      await this.#writeWithRetries(record)
      if (this.#isOutdated(record) && !this.#closing.signal.aborted) this.#enqueue(record)
      else record.state = 'idle'
    }
    this.#isWriting = false
    for (const listener of this.#idleListeners) listener()
    this.#idleListeners.clear()
  }

  #isOutdated({ state }: Queued): boolean {
    return state === 'writing, outdated'
  }

  async #writeWithRetries(record: Queued): Promise<void> {
    const { maxTries, retryDelayMs, clock, random } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        return await this.#write(record)
      } catch (error) {
        if (this.#closing.signal.aborted) return this.#metrics.dropped('closed')
        if (!mayPass(error)) return this.#drop(record, 'rejected', error)
        if (tries >= maxTries) return this.#drop(record, 'retries', error)
      }
      this.#metrics.retried.inc()
      // Clients that lost the API at the same time retry at different times.
      await waitFor(clock, tries === 1 ? retryDelayMs * random.next() : retryDelayMs, this.#closing.signal).catch(
        () => {},
      ) // closed: the next attempt reports it
      if (this.#closing.signal.aborted) return this.#metrics.dropped('closed')
    }
  }

  async #write(record: Queued): Promise<void> {
    if (record.isThere === 'yes') {
      try {
        return await this.#send(record, 'patch')
      } catch (error) {
        if (!isNotFound(error)) throw error
        record.isThere = 'no' // the server deletes events after an hour
      }
    }
    try {
      await this.#send(record, 'create')
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      // an earlier attempt succeeded without a response
      if (record.isThere === 'maybe') return this.#send(record, 'patch')
      record.name = this.#names.next(record.first.ref.name ?? '', record.lastAtMs)
      await this.#send(record, 'create')
    }
  }

  async #send(record: Queued, verb: 'create' | 'patch'): Promise<void> {
    const { name, namespace } = record
    const { signal } = this.#closing
    record.state = 'writing' // later occurrences are not part of this request
    try {
      if (verb === 'create') await this.#client.create(events, eventObject(record, this.#source), { signal })
      else await this.#client.patch(events, namespace, name, eventPatch(record), { type: 'strategic', signal })
      record.isThere = 'yes'
      this.#metrics.written(verb)
    } catch (error) {
      if (verb === 'create' && mayHaveTakenEffect(error)) record.isThere = 'maybe'
      throw error
    }
  }

  #drop(record: Queued, reason: 'rejected' | 'retries', error: unknown): void {
    this.#metrics.dropped(reason)
    const { kind, namespace, name } = record.first.ref
    const message = error instanceof Error ? error.message : String(error)
    this.#logger.warn('dropped an event', {
      object: `${kind} ${namespace ?? ''}/${name}`,
      reason: record.first.reason,
      error: message,
    })
  }
}

/** Returns true if a retry may succeed: no response, or a temporary refusal. */
const mayPass = (error: unknown): boolean =>
  error instanceof TransportError ||
  (error instanceof ApiError && (error.code >= 500 || error.code === 429 || error.code === 408))

const mayHaveTakenEffect = (error: unknown): boolean =>
  error instanceof TransportError ? !error.isUnsent : error instanceof ApiError && error.code >= 500
