import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { turnsOf } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import { stepByStep } from '../../base/turns.ts'
import { type Handlers, HandlerList } from './handler-list.ts'
import type { IndexFunction } from './index-set.ts'
import { type InformerMetrics, informerMetrics } from './informer-metrics.ts'
import { type SharedInformerOptions, absenceText, namespacesOf, scopeName } from './informer-options.ts'
import { LagMeter, defaultLagLimits } from './lag.ts'
import { type CacheChange, ObjectCache } from './object-cache.ts'
import type { Informer, InformerHandler, InformerLag } from './informer.ts'
import type { ResourceType } from '../resource-type.ts'
import { type Absence, Watcher, type WatcherListener, type WatcherState } from '../watcher/index.ts'

/** The unit of list and watch: one namespace, or all of them. */
interface Part<T extends KubeObject> {
  readonly namespace: string
  readonly lag: LagMeter
  readonly watcher: Watcher<T>
  /** '' before the first list. */
  seen: string
  absence: Absence | undefined
}

/** '' sorts before all versions. */
const isBefore = (a: string, b: string): boolean => a === '' || (b !== '' && compareResourceVersions(a, b) < 0)

/** A cache kept up to date by list and watch, shared by all users of the same objects. */
export class SharedInformer<T extends KubeObject = KubeObject> implements Informer<T> {
  readonly type: ResourceType<T>
  readonly name: string
  /** The separately followed namespaces; `['']` means all at once. */
  readonly namespaces: readonly string[]
  readonly #options: SharedInformerOptions<T>
  readonly #cache: ObjectCache<T>
  readonly #parts: readonly Part<T>[]
  readonly #logger: Logger
  readonly #metrics: InformerMetrics | undefined
  readonly #handlers = new HandlerList<T>((what, error) => this.#failed(what, error))
  #waiting: (() => void)[] = []
  readonly #absenceListeners = new Set<() => void>()
  #seen = ''
  #hasSynced = false
  #hasStarted = false
  #undo: (() => void)[] = []
  /** Events that arrived while handlers are being told of a list; undefined otherwise. */
  #held: (() => void)[] | undefined
  #isStopped = false

  constructor(options: SharedInformerOptions<T>) {
    this.#options = options
    this.type = options.type
    this.name = options.name ?? scopeName(options.type, options)
    this.#logger = (options.logger ?? silentLogger).child({ informer: this.name })
    this.#metrics = options.metrics && informerMetrics(options.metrics, this.name)
    this.#cache = new ObjectCache((index, error) => this.#failed(`index ${index}`, error))
    this.namespaces = namespacesOf(options)
    this.#parts = this.namespaces.map((namespace) => this.#part(namespace))
    for (const [name, valuesOf] of Object.entries(options.indexes ?? {})) this.addIndex(name, valuesOf)
  }

  get(key: string): T | undefined {
    return this.#cache.all.get(key)
  }

  list(): T[] {
    return [...this.#cache.all.values()]
  }

  byIndex(index: string, value: string): T[] {
    return this.#cache.indexes.get(index, value)
  }

  /** Adds an index; cached objects are indexed immediately. Adding another function under the same name fails. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#cache.indexes.add(name, valuesOf)
  }

  addHandler(handler: InformerHandler<T>): () => void {
    return this.#handlers.add(handler, (added) => {
      for (const object of this.list()) this.#handlers.notify(added, { kind: 'add', object }, true)
      if (this.#hasSynced) for (const part of this.#parts) this.#notifyBookmark(added, part)
    })
  }

  get lastSyncResourceVersion(): string {
    return this.#seen
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get lag(): InformerLag {
    const lags = this.#parts.map((part) => part.lag)
    if (lags.length === 1) return lags[0]!
    return {
      unseenWriteSeconds: () => Math.max(...lags.map((lag) => lag.unseenWriteSeconds())),
      silentSeconds: () => Math.max(...lags.map((lag) => lag.silentSeconds())),
      problem: () => lags.map((lag) => lag.problem()).find((problem) => problem !== undefined),
    }
  }

  /** Set while the API is not served or not allowed. The cache keeps its state. */
  get absence(): Absence | undefined {
    return this.#parts.find((part) => part.absence)?.absence
  }

  /**
   * Calls `listener` when the API becomes absent, and when the cache is up to date again, until the returned function
   * is called.
   */
  onAbsence(listener: () => void): () => void {
    this.#absenceListeners.add(listener)
    return () => this.#absenceListeners.delete(listener)
  }

  /** Returns the reason why readiness should fail: an absent API or the lag of the cache. Undefined otherwise. */
  problem(): string | undefined {
    const { absence } = this
    return absence ? absenceText(this.type, absence) : this.lag.problem()
  }

  /** Number of cached objects. */
  get size(): number {
    return this.#cache.all.size
  }

  /** Number of objects received but not cached yet. */
  get queued(): number {
    return this.#parts.reduce((sum, part) => sum + part.watcher.gathered, 0)
  }

  /** The state of the watcher, of the first namespace if there are several. */
  get state(): WatcherState {
    return this.#parts[0]!.watcher.state
  }

  /** Returns the version up to which one of the followed namespaces is complete. */
  seenIn(namespace: string): string {
    return this.#parts.find((part) => part.namespace === namespace)?.seen ?? ''
  }

  /**
   * Returns true if objects of this namespace are in scope, ignoring selectors. Use undefined or '' for a
   * cluster-scoped kind.
   */
  covers(namespace: string | undefined): boolean {
    return this.#parts.some((part) => !part.namespace || part.namespace === namespace)
  }

  /** Records a write that this informer will receive: readiness fails if it does not arrive in time. */
  noteWrite(resourceVersion: string, namespace = ''): void {
    const part = this.#parts.find((p) => !p.namespace || p.namespace === namespace)
    part?.lag.noteWrite(resourceVersion)
  }

  synced(signal?: AbortSignal): Promise<void> {
    if (this.#hasSynced) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting = this.#waiting.filter((w) => w !== done)
        reject(signal!.reason as Error)
      }
      const done = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(done)
    })
  }

  /** Resolves when the cache is filled or its API is known to be absent; rejects if the signal is aborted first. */
  async settled(signal?: AbortSignal): Promise<void> {
    if (this.absence) return
    const waiting = new AbortController()
    const isAbsent = new Promise<void>((resolve) => {
      const remove = this.onAbsence(resolve)
      waiting.signal.addEventListener('abort', remove, { once: true })
    })
    try {
      await Promise.race([isAbsent, this.synced(signal ? AbortSignal.any([signal, waiting.signal]) : waiting.signal)])
    } finally {
      waiting.abort()
    }
  }

  /** Starts list and watch. Further calls do nothing. */
  start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    if (this.#metrics) this.#undo.push(this.#metrics.measure(this))
    this.#scheduleResync()
    for (const { watcher } of this.#parts) watcher.start()
  }

  /** Stops list and watch for good. The cache keeps its last state. */
  stop(): void {
    this.#isStopped = true
    for (const { watcher } of this.#parts) watcher.stop()
    for (const undo of this.#undo.splice(0)) undo()
  }

  #part(namespace: string): Part<T> {
    const options = this.#options
    const name = this.namespaces.length > 1 ? `${this.name} (${namespace})` : this.name
    const lag = new LagMeter(name, options.clock, { ...defaultLagLimits, ...options.limits })
    const listener = this.#listener(() => part)
    const part: Part<T> = {
      namespace,
      lag,
      seen: '',
      absence: undefined,
      watcher: new Watcher<T>({ ...options, namespace, logger: this.#logger, listener }),
    }
    return part
  }

  #listener(part: () => Part<T>): WatcherListener<T> {
    const metrics = this.#metrics
    const count = {
      ADDED: metrics?.events('ADDED'),
      MODIFIED: metrics?.events('MODIFIED'),
      DELETED: metrics?.events('DELETED'),
    }
    const bookmarks = metrics?.events('BOOKMARK')
    return {
      keep: (object) => this.#transformed(object),
      replace: (objects, resourceVersion) => this.#inTurn(() => this.#replace(part(), objects, resourceVersion)),
      change: (type, object, seen) =>
        this.#inTurn(() => {
          count[type]?.inc()
          const handlers = this.#handlers.current
          const changes = this.#cache.apply(type, this.#transformed(object))
          this.#progress(part(), seen)
          for (const change of changes) this.#handlers.notify(handlers, change, false)
          this.#notifyBookmark(handlers, part())
        }),
      bookmark: (resourceVersion) =>
        this.#inTurn(() => {
          bookmarks?.inc()
          // One of several namespaces advances the generations of deletions for all.
          if (part() === this.#parts[0]) this.#cache.bookmark()
          this.#progress(part(), resourceVersion, true)
          this.#notifyBookmark(this.#handlers.current, part())
        }),
      opened: () => part().lag.opened(),
      absence: (absence) =>
        this.#inTurn(() => {
          part().absence = absence
          for (const listener of this.#absenceListeners) listener()
        }),
      asked: (how) => metrics?.lists(how).inc(),
      restarted: (reason) => metrics?.restarts(reason).inc(),
    }
  }

  /** Delays events while handlers are being told of a list. */
  #inTurn(take: () => void): void {
    if (this.#held) this.#held.push(take)
    else take()
  }

  /** Updates the cache and then notifies handlers, both in slices. */
  #replace(part: Part<T>, objects: Map<string, T>, resourceVersion: string): void {
    const cache = this.#cache
    const turns = turnsOf(this.#options.clock)
    const isFirst = part.seen === ''
    const handlers = this.#handlers.current
    const changes: CacheChange<T>[] = []
    this.#held = []
    const take = (key: string) => {
      if (this.#isStopped) return
      for (const change of cache.replaceOne(key, objects.get(key))) changes.push(change)
    }
    const notify = (change: CacheChange<T>) => this.#isStopped || this.#handlers.notify(handlers, change, isFirst)
    const told = () => {
      if (this.#isStopped) return
      this.#progress(part, resourceVersion)
      this.#hasSynced = this.#parts.every((p) => p.seen !== '')
      this.#notifyBookmark(handlers, part)
      if (this.#hasSynced) for (const done of this.#waiting.splice(0)) done()
      const held = this.#held ?? []
      this.#held = undefined
      // A list among them may start holding the rest again.
      for (const next of held) this.#inTurn(next)
    }
    const isAlone = this.#parts.length === 1
    const taken = () => {
      if (isAlone) cache.replaced()
      stepByStep(turns, changes, notify, told)
    }
    const within = isAlone ? '' : `${part.namespace}/`
    stepByStep(turns, cache.keysToReplace(objects, within), take, taken)
  }

  #progress(part: Part<T>, seen: string, isBookmark = false): void {
    part.seen = seen
    part.lag.heard(seen, isBookmark)
    this.#seen =
      this.#parts.length === 1 ? seen : this.#parts.map((p) => p.seen).reduce((a, b) => (isBefore(a, b) ? a : b))
  }

  #transformed(object: T): T {
    const { transform } = this.#options
    if (!transform) return object
    try {
      return transform(object, this.type as unknown as ResourceType)
    } catch (e) {
      this.#failed('transform', e)
      return object
    }
  }

  #notifyBookmark(to: Handlers<T>, { seen, namespace }: Part<T>): void {
    this.#handlers.notifyBookmark(to, seen, this.#parts.length > 1 ? namespace : '')
  }

  /** Logs the error of a handler; the cache and other handlers continue. */
  #failed(what: string, error: unknown): void {
    this.#metrics?.failures.inc()
    this.#logger.error('an informer callback failed', { what, error })
  }

  #scheduleResync(): void {
    const { resyncMs, clock } = this.#options
    if (!resyncMs) return
    let cancel = () => {}
    let stopNotifying = () => {}
    const again = () => {
      const notify = (key: string) => {
        const object = this.get(key)
        if (object) this.#handlers.notify(this.#handlers.current, { kind: 'update', old: object, object }, false)
      }
      stopNotifying = stepByStep(turnsOf(clock), this.#hasSynced ? [...this.#cache.all.keys()] : [], notify, () => {
        cancel = clock.after(resyncMs, again)
      })
    }
    cancel = clock.after(resyncMs, again)
    this.#undo.push(
      () => cancel(),
      () => stopNotifying(),
    )
  }
}
