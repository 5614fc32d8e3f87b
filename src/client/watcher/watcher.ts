import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { forgetManagedFields } from '../cache/forget-managed-fields.ts'
import { type ResourceType, keyOf, pathOf, resourceName } from '../resource-type.ts'
import { type Transport, type WatchEvent, acceptMetadata } from '../transport/transport.ts'
import {
  type Absence,
  type ChangeType,
  type Failure,
  type RestartReason,
  type WatcherEffect,
  type WatcherInput,
  type WatcherRules,
  type WatcherState,
  defaultRules,
  initialState,
} from './state.ts'
import { transition } from './transition.ts'

/** Receives the results of a watcher, in order. It must not throw: an error ends the watcher. */
export interface WatcherListener<T extends KubeObject = KubeObject> {
  /**
   * The complete state by `namespace/name` at a resource version. Objects that are not in it are gone. The listener
   * owns the map.
   */
  replace(objects: Map<string, T>, resourceVersion: string): void
  /** One change, and the version seen with it. It may be a repetition, or older than a known state. */
  change(type: ChangeType, object: T, seen: string): void
  /** All changes up to this version have been seen. */
  bookmark(resourceVersion: string): void
  /** The server has accepted a watch that continues from what has been seen. */
  opened?(): void
  /** The API has become absent (reported once per absence), or is available again: undefined. */
  absence?(absence: Absence | undefined): void
  /** Returns the part of an object to keep until the state is complete; default: all of it. */
  keep?(object: T): T
  /** The state is requested, by a list (called for each page) or a streaming list. */
  asked?(how: 'list' | 'stream'): void
  /** The watcher restarted, or replaced its watch. */
  restarted?(reason: RestartReason): void
}

/** The objects to watch. */
export interface WatchScope {
  /** '' means all namespaces. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
}

export interface WatcherOptions<T extends KubeObject> extends WatchScope {
  transport: Transport
  type: ResourceType<T>
  listener: WatcherListener<T>
  clock: Clock
  random: Random
  logger?: Logger
  rules?: Partial<WatcherRules>
  /** The minimum resource version of a list, besides the last seen one. */
  notOlderThan?: string
  /** True if only metadata is needed: other members may be missing. */
  metadataOnly?: boolean
  /** Use a streaming list if the server supports it; otherwise a list. */
  stream?: boolean
}

/** Follows the objects of a resource until it is stopped. Retries after every failure and logs it. */
export class Watcher<T extends KubeObject = KubeObject> {
  readonly #options: WatcherOptions<T>
  readonly #listener: WatcherListener<T>
  readonly #clock: Clock
  readonly #rules: WatcherRules
  readonly #logger: Logger
  #state: WatcherState
  readonly #inputs: WatcherInput<T>[] = []
  #isBusy = false
  #gathered = new Map<string, T>()
  /** Number of the newest request; responses to older ones are ignored. */
  #request = 0
  #stopRequest: () => void = () => {}
  #cancelWake: () => void = () => {}

  constructor(options: WatcherOptions<T>) {
    this.#options = options
    this.#listener = options.listener
    this.#clock = options.clock
    this.#rules = { ...defaultRules, ...options.rules }
    this.#logger = (options.logger ?? silentLogger).child({ resource: resourceName(options.type) })
    this.#state = initialState(options)
  }

  get state(): WatcherState {
    return this.#state
  }

  /** Number of collected objects of an incomplete state. */
  get gathered(): number {
    return this.#gathered.size
  }

  start(): void {
    this.#take({ kind: 'start' })
  }

  /** Stops the watcher for good. */
  stop(): void {
    this.#take({ kind: 'stop' })
  }

  /** Processes one input at a time: inputs that an effect causes synchronously are queued. */
  #take(input: WatcherInput<T>): void {
    this.#inputs.push(input)
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) {
        const { state, effects } = transition(this.#state, next, {
          nowMs: this.#clock.now(),
          chance: needsChance(next) ? this.#options.random.next() : 0,
          rules: this.#rules,
        })
        this.#state = state
        for (const effect of effects) this.#perform(effect)
      }
    } finally {
      this.#isBusy = false
    }
  }

  #perform(effect: WatcherEffect<T>): void {
    switch (effect.kind) {
      case 'notify':
        return this.#listener.change(effect.type, effect.object, effect.seen)
      case 'notifyBookmark':
        return this.#listener.bookmark(effect.resourceVersion)
      case 'tellOpened':
        return this.#listener.opened?.()
      case 'tellAbsence':
        return this.#tellAbsence(effect.absence)
      case 'gatherChange':
        if (effect.type === 'DELETED') this.#gathered.delete(keyOf(effect.object))
        else this.#gather(effect.object)
        return
      case 'gather':
        for (const object of effect.objects) this.#gather(object)
        return
      case 'discardGathered':
        this.#gathered = new Map()
        return
      case 'replace': {
        const objects = this.#gathered
        this.#gathered = new Map()
        return this.#listener.replace(objects, effect.resourceVersion)
      }
      case 'abandon':
        this.#request++
        return this.#stopRequest()
      case 'wake':
        this.#cancelWake()
        this.#cancelWake =
          effect.afterMs === undefined
            ? () => {}
            : this.#clock.after(effect.afterMs, () => this.#take({ kind: 'woke' }))
        return
      case 'list':
        return this.#list(effect)
      case 'watch':
        return this.#watch(effect)
      case 'report': {
        const { reason, message } = effect
        this.#listener.restarted?.(reason)
        if (reason === 'ended') this.#logger.debug('resuming a watch', { reason, message })
        else this.#logger.warn('restarting a watch', { reason, message, state: this.#state.kind })
      }
    }
  }

  #tellAbsence(absence: Absence | undefined): void {
    if (absence)
      this.#logger.warn('the API is not available, retrying', {
        reason: absence.kind,
        message: absence.message,
      })
    else this.#logger.info('the API is available')
    this.#listener.absence?.(absence)
  }

  #gather(object: T): void {
    if (object.metadata.managedFields) forgetManagedFields(object)
    this.#gathered.set(keyOf(object), this.#listener.keep?.(object) ?? object)
  }

  #list({ token, limit }: WatcherEffect<T> & { kind: 'list' }): void {
    const { transport, type } = this.#options
    const request = ++this.#request
    const aborter = new AbortController()
    this.#stopRequest = () => aborter.abort()
    this.#listener.asked?.('list')
    const query = {
      ...this.#selectors(),
      ...(limit ? { limit: String(limit) } : {}),
      ...(token ? { continue: token } : {}),
    }
    const take = (input: WatcherInput<T>) => {
      if (request === this.#request) this.#take(input)
    }
    transport
      .send<Listed<T>>({
        method: 'GET',
        path: pathOf(type, this.#options.namespace),
        query,
        signal: aborter.signal,
        ...this.#form('PartialObjectMetadataList'),
      })
      .then(
        ({ items, metadata }) =>
          take({
            kind: 'page',
            objects: items ?? [],
            resourceVersion: metadata?.resourceVersion ?? '',
            token: metadata?.continue ?? '',
          }),
        (e: unknown) => take({ kind: 'listFailed', failure: failureOf(e) }),
      )
  }

  #watch({ resourceVersion, sendsInitial, timeoutSeconds }: WatcherEffect<T> & { kind: 'watch' }): void {
    const { transport, type } = this.#options
    const request = ++this.#request
    if (sendsInitial) this.#listener.asked?.('stream')
    const query = {
      ...this.#selectors(),
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(sendsInitial ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' } : {}),
    }
    this.#stopRequest = transport.watch<T>(
      { method: 'GET', path: pathOf(type, this.#options.namespace), query, ...this.#form('PartialObjectMetadata') },
      {
        opened: () => {
          if (request === this.#request) this.#take({ kind: 'opened' })
        },
        event: (event) => {
          if (request === this.#request) this.#take(inputOf(event))
        },
        closed: (error) => {
          if (request === this.#request) this.#take({ kind: 'closed', failure: error && failureOf(error) })
        },
      },
    )
  }

  #form(partial: Parameters<typeof acceptMetadata>[0]): { accept?: string } {
    return this.#options.metadataOnly ? { accept: acceptMetadata(partial) } : {}
  }

  #selectors(): Record<string, string> {
    const { labelSelector, fieldSelector } = this.#options
    return { ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) }
  }
}

interface Listed<T> {
  items?: T[] | null
  metadata?: { resourceVersion?: string; continue?: string }
}

/** Changes are frequent and need no random number. */
const needsChance = ({ kind }: WatcherInput) => kind !== 'change'

const initialEnd = 'k8s.io/initial-events-end'

function inputOf<T extends KubeObject>({ type, object }: WatchEvent<T>): WatcherInput<T> {
  if (type !== 'BOOKMARK') return { kind: 'change', type, object }
  return {
    kind: 'bookmark',
    resourceVersion: object.metadata.resourceVersion ?? '',
    isInitialEnd: object.metadata.annotations?.[initialEnd] === 'true',
  }
}

const failureKinds: Readonly<Record<number, Failure['kind']>> = {
  400: 'refused',
  403: 'forbidden',
  404: 'missing',
  410: 'expired',
  422: 'refused',
}

/** Converts an error to a Failure. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof ApiError)) return { kind: 'other', message }
  const retryAfterMs = (error.details?.retryAfterSeconds ?? 0) * 1000
  return { kind: failureKinds[error.code] ?? 'other', message, ...(retryAfterMs ? { retryAfterMs } : {}) }
}
