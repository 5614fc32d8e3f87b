import { setMaxListeners } from 'node:events'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import {
  type Client,
  ConsistencyStore,
  EventRecorder,
  type ResourceType,
  type SharedInformer,
  WorkQueue,
  keyOf,
  resourceName,
  resyncPriority,
} from '../../client/index.ts'
import { Caches, type Informers, partName, resourceOfPart } from './caches.ts'
import { type ControllerMetrics, measureController } from './metrics.ts'
import { type AnyController, type Told, typesOf } from './definition.ts'
import { Reconciler, type Verdict } from './reconciler.ts'
import type { Audit } from './roster/roster.ts'
import { type Gather, Gathering } from './queueing/gathering.ts'
import { keepRosters } from './roster/keep-rosters.ts'
import { Denials, type Permission, permissionLacking } from './queueing/denials.ts'
import { StaleKeys } from './queueing/stale-keys.ts'
import { changePriority, handlersOf } from './queueing/triggers.ts'
import { UnsettledWrites, WriteLog } from './writes/unsettled.ts'
import { workOff } from './queueing/key-loop.ts'

/** The default number of keys that are processed concurrently. */
export const defaultWorkers = 5
const defaultBackOff = { baseDelayMs: 5, maxDelayMs: 1_000_000 }

export interface ControllerParts {
  client: Client
  /** The informers of every kind that the definition names. */
  informers: Informers
  clock: Clock
  random: Random
  gates: FeatureGates
  logger: Logger
  metrics?: MetricsRegistry
  audit?: Audit
  gather?: Gather
}

/** A controller that runs for one term. */
export interface RunningController {
  readonly name: string
  start(): void
  /** Resolves when the controller acts, if that is not immediately. */
  ready?(): Promise<void>
  /** The reasons for which readiness fails. */
  problems?(): string[]
  /** Starts nothing more and waits for the work in progress. After `graceMs` its requests are aborted. */
  stop(graceMs?: number): Promise<void>
}

/** Reports whether a controller waits for its own writes. The definition or a feature gate can disable it. */
const readsItsWrites = (
  { consistency: { readsItsWrites: isWanted = true, gate } = {} }: AnyController,
  gates: FeatureGates,
): boolean => isWanted && gates.enabled('StaleControllerConsistency') && (gate === undefined || gates.enabled(gate))

/** Calls `fn` each time that an absent API becomes available: no event of an owner announces it. */
function whenServed(informer: SharedInformer, fn: () => void): () => void {
  let isServed = informer.hasSynced && !informer.absence
  return informer.onAbsence(() => {
    const wasServed = isServed
    isServed = informer.hasSynced && !informer.absence
    if (isServed && !wasServed) fn()
  })
}

/** Runs one controller: changes become keys, keys become reconciles. Each key is processed by one worker at a time. */
export class Controller implements RunningController {
  readonly name: string
  readonly #definition: AnyController
  readonly #parts: ControllerParts
  readonly #caches: Caches
  readonly #queue: WorkQueue
  readonly #store: ConsistencyStore
  readonly #unsettled = new UnsettledWrites()
  readonly #stale = new StaleKeys()
  readonly #gathering: Gathering
  /** By key: the number of reconciles that were deferred since its cache fell behind. */
  readonly #staleAttempts = new Map<string, number>()
  readonly #denials: Denials
  readonly #recorder: EventRecorder
  readonly #metrics: ControllerMetrics
  readonly #logger: Logger
  readonly #backOff: { baseDelayMs: number; maxDelayMs: number }
  /** The failures that were last reported for a key, so that a retry does not repeat them. */
  readonly #told = new Map<string, ReadonlySet<string>>()
  readonly #removeHandlers: (() => void)[] = []
  /** Stops taking keys. The work in progress continues. */
  readonly #stopping = new AbortController()
  /** Aborts requests as well. */
  readonly #giveUp = new AbortController()
  #workers: Promise<void>[] = []
  /** Called after the workers have ended, because the work in progress reads rosters. */
  #stopRosters = () => {}

  constructor(definition: AnyController, parts: ControllerParts) {
    this.name = definition.name
    this.#definition = definition
    this.#parts = parts
    this.#logger = parts.logger.child({ controller: definition.name })
    this.#caches = new Caches(parts.informers)
    this.#backOff = { ...defaultBackOff, ...definition.timing?.backOff }
    this.#store = new ConsistencyStore({
      cachedUid: (part, key) => parts.informers.get(resourceOfPart(part))?.get(key)?.metadata.uid,
    })
    this.#metrics = measureController(definition.name, parts.metrics)
    this.#gathering = new Gathering(parts.clock, parts.gather)
    const { client, clock, random, metrics } = parts
    const changed = (permission: Permission, keys: number) => this.#metrics.denied(permission, keys)
    this.#denials = new Denials({ clock, random, logger: this.#logger, changed })
    const measured = metrics ? { metrics } : {}
    this.#queue = new WorkQueue(definition.name, { clock, random, ...this.#backOff, ...measured })
    this.#recorder = new EventRecorder(client, {
      component: `${definition.name}-controller`,
      clock,
      random,
      logger: this.#logger,
      ...measured,
    })
    // Every request in progress listens to these signals.
    setMaxListeners(0, this.#stopping.signal, this.#giveUp.signal)
  }

  /** Adds handlers to the caches, which must have synced, and starts the workers. */
  start(): void {
    const { informers, client, clock, random, gates, metrics } = this.#parts
    const definition = this.#definition
    const log = new WriteLog(this.#store, this.#caches)
    const measures = metrics && definition.measures?.(metrics)
    const { rosters, stop } = keepRosters(definition.sources?.rosters, informers, this.#parts.audit)
    this.#stopRosters = stop
    const reconciler = new Reconciler({
      definition,
      client,
      caches: this.#caches,
      store: readsItsWrites(definition, gates) ? this.#store : undefined,
      log,
      unsettled: this.#unsettled,
      writing: {
        client,
        random,
        log,
        unsettled: this.#unsettled,
        ownerType: definition.owner,
        owns: new Set((definition.sources?.owns ?? []).map(resourceName)),
        fieldManager: definition.name,
        signal: this.#giveUp.signal,
      },
      clock,
      gates,
      logger: this.#logger,
      tell: (about, type, reason, message) => this.#recorder.event(about, type, reason, message, this.#kindOf(about)),
      measures,
      rosters,
      gathering: this.#gathering,
    })
    const handlers = handlersOf(definition, this.#caches, {
      // A change by a user is not delayed.
      enqueue: (key, priority) => {
        const waitMs = priority > changePriority ? 0 : this.#gathering.waitMs(key, rosters.membersOf(key))
        if (waitMs === 0) this.#queue.add(key, { priority })
        else if ((this.#queue.dueInMs(key) ?? Infinity) > waitMs) this.#queue.addAfter(key, waitMs, { priority })
      },
      ownerGone: (key, uid) => {
        this.#store.clear(key, uid)
        measures?.gone(key)
      },
      seen: (resource, resourceVersion) => {
        this.#store.bookmark(resource, resourceVersion)
        for (const key of this.#stale.takeSeen(resource, resourceVersion)) this.#queue.add(key)
      },
    })
    for (const [resource, handler] of handlers) {
      const informer = informers.get(resource)!
      const { namespaces } = informer
      for (const namespace of namespaces)
        this.#store.bookmark(partName(resource, namespaces.length > 1 ? namespace : ''), informer.seenIn(namespace))
      this.#removeHandlers.push(informer.addHandler(handler))
    }
    for (const type of definition.sources?.dispensable ?? [])
      this.#removeHandlers.push(whenServed(informers.get(resourceName(type))!, () => this.#reconcileAll()))
    const { signal } = this.#stopping
    for (let i = 0; i < (definition.timing?.workers ?? defaultWorkers); i++)
      this.#workers.push(workOff(this.#queue, signal, (key) => this.#process(key, reconciler, signal)))
  }

  /** The permissions that are lacking. */
  problems(): string[] {
    return this.#denials.problems().map((problem) => `controller ${this.name}: ${problem}`)
  }

  async stop(graceMs = 3000): Promise<void> {
    this.#stopping.abort(new Error(`controller ${this.name} is stopped`))
    for (const remove of this.#removeHandlers.splice(0)) remove()
    const cancel = this.#parts.clock.after(graceMs, () => this.#giveUp.abort(this.#stopping.signal.reason))
    await Promise.all(this.#workers)
    this.#denials.close()
    this.#stopRosters()
    await this.#queue.shutDown({ drain: false })
    await this.#recorder.flush(this.#giveUp.signal).catch(() => {}) // events that are not written by now are dropped
    cancel()
    this.#recorder.close()
  }

  #reconcileAll(): void {
    const { owner: type, sources: { looksAt } = {} } = this.#definition
    for (const owner of this.#caches.list(type))
      if (looksAt?.(owner, this.#caches) ?? true) this.#queue.add(keyOf(owner), { priority: resyncPriority })
  }

  /** The type of an object that does not contain it: items of a list omit `kind`. */
  #kindOf(object: KubeObject): { resource?: ResourceType } {
    if (object.kind) return {}
    const { uid } = object.metadata
    const type = typesOf(this.#definition).find(
      (t) => this.#parts.informers.get(resourceName(t))?.get(keyOf(object))?.metadata.uid === uid,
    )
    return type ? { resource: type } : {}
  }

  async #process(key: string, reconciler: Reconciler, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    const startedMs = clock.now()
    this.#gathering.started(key)
    let verdict: Verdict
    try {
      verdict = await reconciler.reconcile(key, signal)
    } catch {
      return // stopped; the next term reconciles every owner
    }
    this.#follow(key, verdict)
    const result =
      verdict.result === 'success' && verdict.requeueAfterMs !== undefined ? 'requeue_after' : verdict.result
    this.#metrics.reconciled(result, (clock.now() - startedMs) / 1000)
  }

  /** Schedules the next reconcile of a key. */
  #follow(key: string, verdict: Verdict): void {
    if ('requeueAfterMs' in verdict && verdict.requeueAfterMs !== undefined) {
      this.#queue.addAfter(key, verdict.requeueAfterMs)
    }
    if (verdict.result !== 'stale') this.#staleAttempts.delete(key)
    if (verdict.result === 'error') {
      const permission = permissionLacking(verdict.error)
      if (permission) return this.#waitForPermission(key, permission, verdict.told)
    }
    this.#retry(this.#denials.ended(key, verdict.result === 'success'))
    switch (verdict.result) {
      case 'success':
        this.#queue.forget(key)
        this.#told.delete(key)
        break
      case 'gone':
        this.#queue.forget(key)
        this.#told.delete(key)
        this.#store.clear(key)
        this.#unsettled.clear(key)
        this.#gathering.forget(key)
        break
      case 'stale': {
        const { resource, wanted, seen } = verdict.missing
        this.#logger.debug('waiting for its own writes', { key, resource, wanted, seen })
        this.#metrics.staleSkip(resourceOfPart(resource))
        this.#stale.add(key, resource, wanted)
        this.#bePatient(key)
        break
      }
      case 'conflict':
        this.#queue.addRateLimited(key)
        break
      case 'terminal':
        this.#queue.forget(key)
        this.#logger.warn('cannot be reconciled until an object changes', { key, error: verdict.error.message })
        this.#tellOnce(key, verdict.told)
        break
      case 'error':
        this.#logger.warn('failed to reconcile', {
          key,
          error: verdict.error.message,
          attempt: this.#queue.requeues(key) + 1,
        })
        this.#tellOnce(key, verdict.told)
        this.#queue.addRateLimited(key)
        break
    }
  }

  #waitForPermission(key: string, permission: Permission, told: readonly Told[]): void {
    this.#tellOnce(key, told)
    const { delayMs, retry } = this.#denials.denied(key, permission)
    this.#queue.forget(key)
    this.#queue.addAfter(key, delayMs)
    this.#retry(retry)
  }

  #retry(keys: readonly string[]): void {
    for (const key of keys) this.#queue.add(key, { priority: resyncPriority })
  }

  /**
   * Defers a key that waits for a cache, with a back-off of its own: a later failure must not inherit it. Changes in
   * the meantime do not prolong it, because a key that is due within the next step stays scheduled.
   */
  #bePatient(key: string): void {
    const attempts = this.#staleAttempts.get(key) ?? 0
    const { baseDelayMs, maxDelayMs } = this.#backOff
    const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** attempts)
    const dueInMs = this.#queue.dueInMs(key)
    if (dueInMs !== undefined && dueInMs <= delayMs) return
    this.#staleAttempts.set(key, attempts + 1)
    this.#queue.addAfter(key, delayMs)
  }

  #tellOnce(key: string, told: readonly Told[]): void {
    if (this.#definition.isSilent) return
    const owner = this.#caches.of(this.#definition.owner).get(key)
    const texts = new Map(told.map((t) => [`${t.reason}: ${t.message}`, t]))
    const last = this.#told.get(key)
    const isNew = [...texts].filter(([text]) => !last?.has(text))
    if (!owner || isNew.length === 0) return
    // After several failures at once, a retry may repeat only one of them.
    this.#told.set(key, new Set(texts.keys()))
    for (const [, { reason, message }] of isNew)
      this.#recorder.event(owner, 'Warning', reason, message, { resource: this.#definition.owner })
  }
}
