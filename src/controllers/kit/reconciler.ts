import { deepEqual } from '../../api/deep-equal.ts'
import { isConflict, isNotFound } from '../../api/errors.ts'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Int64 } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Clock, turnsOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { soonest } from '../../base/soonest.ts'
import type { Turns } from '../../base/turns.ts'
import { type Client, type ConsistencyStore, type Readiness, addFinalizer, finalizersPatch, hasFinalizer, keyOf, removeFinalizer } from '../../client/index.ts'
import { applyStep } from './apply.ts'
import type { Caches } from './caches.ts'
import type { AnyAction, AnyController, Applier, ApplyContext, Outcome, OwnerMeasures, Step, Told } from './definition.ts'
import { isNamespaceTerminating, judge } from './errors.ts'
import type { Gathering } from './gathering.ts'
import { Momentum } from './momentum.ts'
import { type Rosters, stillReading } from './roster.ts'
import { isSameStatus, statusTypeOf } from './same-status.ts'
import type { Subject, WriteLog } from './write-log.ts'
import { Writer, type WriterParts } from './writer.ts'
import type { UnsettledWrites } from './unsettled.ts'

/** Tells users about an object. */
export type TellEvent = (about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string) => void

/** How looking at one owner ended. */
export type Verdict =
  | { result: 'success'; requeueAfterMs: number | undefined }
  | { result: 'stale'; missing: Readiness & { ready: false } }
  /** Whatever failed, a deadline that the plan named does not wait. */
  | { result: 'conflict' | 'terminal' | 'error'; error: Error; told: readonly Told[]; requeueAfterMs?: number | undefined }
  | { result: 'gone' }

type Failure = Extract<Verdict, { error: Error }>

export interface ReconcilerParts {
  definition: AnyController
  client: Client
  caches: Caches
  /** Undefined for a controller that does not wait for its own writes. */
  store: ConsistencyStore | undefined
  log: WriteLog
  unsettled: UnsettledWrites
  writing: WriterParts
  clock: Clock
  gates: FeatureGates
  logger: Logger
  tell: TellEvent
  measures: OwnerMeasures<KubeObject, unknown> | undefined
  rosters: Rosters<KubeObject>
  gathering: Gathering
}

/** How often a status is written that may wait. */
const statusPaceMs = 50

const nothing: Step<AnyAction> = { actions: [] }
const untouched: Outcome<AnyAction> = { done: [], failed: [], skipped: [], wait: undefined }

/** Looks at one owner at a time: own writes seen → observe → plan → apply → status. */
export class Reconciler {
  readonly #parts: ReconcilerParts
  readonly #statusType: string | undefined
  /** By key: when its status was last written, where it may wait. */
  readonly #written = new Map<string, number>()
  /** By key; of an owner that is gone until its key is looked at. */
  readonly #memories = new Map<string, { uid: string | undefined; memory: unknown }>()
  readonly #momentum: Momentum

  constructor(parts: ReconcilerParts) {
    this.#parts = parts
    this.#momentum = new Momentum(parts.clock)
    this.#statusType = parts.definition.statusType ?? statusTypeOf(parts.definition.owner)
  }

  /** Never rejects but for an aborted signal. */
  async reconcile(key: string, signal: AbortSignal): Promise<Verdict> {
    const { definition, caches, client, store, log, unsettled } = this.#parts
    const cached = () => caches.of(definition.owner).get(key)
    const subject: Subject = { key, uid: cached()?.metadata.uid ?? '' }
    if (!subject.uid) return this.#forget(key)
    try {
      await unsettled.settle(subject, client, log, signal)
      const turns = turnsOf(this.#parts.clock)
      // Each turn reads more of what there is to observe.
      for (;;) {
        // It may have taken long: what the caches are asked to have, the owner must have, too.
        const owner = cached()
        if (!owner) return this.#forget(key)
        const readiness = store?.ensureReady(key, owner.metadata.uid)
        if (readiness && !readiness.ready) return { result: 'stale', missing: readiness }
        unsettled.dropSeenNames(subject, caches)
        const nowMs = this.#parts.clock.now()
        const look = this.#look(owner, nowMs, turns)
        if (look) return await this.#act(owner, look.seen, nowMs, signal)
        await turns.next()
        signal.throwIfAborted()
      }
    } catch (e) {
      signal.throwIfAborted()
      return failure(e)
    }
  }

  async #act(observed: KubeObject, seen: unknown, nowMs: number, signal: AbortSignal): Promise<Verdict> {
    const { definition, client, logger, tell, writing } = this.#parts
    this.#parts.measures?.seen(observed, seen)
    const isPlanned =
      !observed.metadata.deletionTimestamp || definition.plansDeletion || (definition.finalizer && hasFinalizer(observed, definition.finalizer))
    const step: Step<AnyAction> = isPlanned ? definition.plan(seen) : nothing
    const writer = new Writer(writing, observed)
    const owner = await this.#guard(writer, observed)
    const ctx: ApplyContext<KubeObject> = {
      owner,
      writer,
      ask: <T>(path: string, query = {}) => client.transport.send({ method: 'GET', path, query, signal }) as Promise<T>,
      event: (type, reason, message, about = owner) => tell(about, type, reason, message),
      nowMs,
      logger,
      signal,
    }
    const outcome = step.actions.length ? await applyStep(ctx, definition.apply, step, this.#momentum) : { ...untouched, wait: step.wait }
    signal.throwIfAborted()
    if (isPlanned && (await this.#letGo(writer, owner, step))) return { result: 'success', requeueAfterMs: undefined }
    const failed = outcome.failed.length ? this.#failureOf(outcome) : undefined
    const status = definition.status?.(seen, outcome) as object | undefined
    const changesInMs = status && definition.changesInMs?.(seen, status)
    let statusDueMs: number | undefined
    try {
      const written = this.#writeStatus(ctx, status, definition.annotations?.(seen, outcome))
      statusDueMs = await written.catch((e: unknown) => this.#writeStatusAgain(ctx, seen, outcome, e))
      this.#keep(owner, definition.remember?.(seen, outcome))
    } catch (e) {
      // Why the actions failed matters more; the status comes with the next attempt.
      if (!failed) throw e
    }
    return { ...(failed ?? { result: 'success' }), requeueAfterMs: soonest(step.requeueAfterMs, statusDueMs, changesInMs) }
  }

  /**
   * A conflict says that the cache has an old version of the owner: nothing more is decided for it before the cache has
   * the version that there is. What was done is told only by the status that follows it, so it is told of the owner as
   * it is now. Caches are not read again: they may have what was done by now, and it would count twice. If the spec or
   * an annotation has changed, too, the next reconcile has to decide anew.
   */
  async #writeStatusAgain(
    ctx: ApplyContext<KubeObject>, before: unknown, outcome: Outcome<AnyAction>, error: unknown,
  ): Promise<number | undefined> {
    if (!isConflict(error)) throw error
    const { definition, log } = this.#parts
    const { uid = '', generation, annotations } = ctx.owner.metadata
    const subject: Subject = { key: keyOf(ctx.owner), uid }
    const owner = await this.#current(ctx.owner)
    if (owner?.metadata.uid !== uid) {
      log.removed(subject, definition.owner, ctx.owner)
      throw error
    }
    log.wrote(subject, definition.owner, owner.metadata)
    const isAsDecided = owner.metadata.generation === generation && deepEqual(owner.metadata.annotations, annotations)
    if (outcome.done.length === 0 || !isAsDecided) throw error
    const seen = withOwner(before, ctx.owner, owner)
    const status = definition.status?.(seen, outcome) as object | undefined
    return this.#writeStatus({ ...ctx, owner }, status, definition.annotations?.(seen, outcome))
  }

  /** The owner as the server has it; undefined if it is gone. */
  async #current({ metadata: { namespace = '', name = '' } }: KubeObject): Promise<KubeObject | undefined> {
    const { definition, client, writing } = this.#parts
    try {
      return await client.get(definition.owner, namespace, name, { signal: writing.signal })
    } catch (e) {
      if (isNotFound(e)) return undefined
      throw e
    }
  }

  /** What there is to see of an owner; undefined if it takes another turn. */
  #look(owner: KubeObject, nowMs: number, turns: Turns): { seen: unknown } | undefined {
    const { definition, caches, gates, rosters } = this.#parts
    const roster = rosters.forReconcile(keyOf(owner), turns)
    let seen: unknown
    try {
      seen = definition.observe({ caches, nowMs, gates, roster, remembered: this.#recall(owner) }, owner) as unknown
    } catch (e) {
      if (e !== stillReading) throw e
      roster.pause()
      return undefined
    }
    roster.end()
    if (rosters.membersOf(keyOf(owner)) < (definition.keepsRostersFrom ?? 0)) rosters.forget(keyOf(owner))
    if (definition.goesThrough) this.#parts.gathering.goesThrough(keyOf(owner), definition.goesThrough(seen))
    return { seen }
  }

  /** Puts the finalizer on, before anything is made that it is to clean up. */
  async #guard(writer: Writer, owner: KubeObject): Promise<KubeObject> {
    const { finalizer, owner: type } = this.#parts.definition
    if (!finalizer || owner.metadata.deletionTimestamp || hasFinalizer(owner, finalizer)) return owner
    const { metadata } = await writer.patch(type, owner, finalizersPatch(addFinalizer(owner, finalizer)), { type: 'merge' })
    return { ...owner, metadata }
  }

  /** Takes the finalizer off an owner that is being deleted, when nothing is left to do for it. */
  async #letGo(writer: Writer, owner: KubeObject, step: Step<AnyAction>): Promise<boolean> {
    const { finalizer, owner: type } = this.#parts.definition
    if (!finalizer || !owner.metadata.deletionTimestamp) return false
    if (step.actions.length > 0 || step.wait !== undefined || step.requeueAfterMs !== undefined) return false
    const left = await writer.patch(type, owner, finalizersPatch(removeFinalizer(owner, finalizer)), { type: 'merge' })
    // With its last finalizer it is gone; the answer is how it was, at a version that the cache has already.
    if (!left.metadata.finalizers?.length) this.#parts.log.removed({ key: keyOf(owner), uid: owner.metadata.uid ?? '' }, type, left)
    return true
  }

  #recall(owner: KubeObject): unknown {
    const known = this.#memories.get(keyOf(owner))
    return known?.uid === owner.metadata.uid ? known?.memory : undefined
  }

  #keep(owner: KubeObject, memory: unknown): void {
    if (memory === undefined) this.#memories.delete(keyOf(owner))
    else this.#memories.set(keyOf(owner), { uid: owner.metadata.uid, memory })
  }

  #forget(key: string): Verdict {
    this.#memories.delete(key)
    this.#written.delete(key)
    this.#momentum.forget(key)
    this.#parts.rosters.forget(key)
    return { result: 'gone' }
  }

  /** How long it has to wait, if it has to. */
  async #writeStatus(ctx: ApplyContext<KubeObject>, status: object | undefined, annotations: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const { owner, writer } = ctx
    const { definition, caches } = this.#parts
    // What was done may have taken long, and the owner may be gone since.
    if (!status || caches.of(definition.owner).get(keyOf(owner))?.metadata.uid !== owner.metadata.uid) return undefined
    const { generation } = owner.metadata
    const isObserved = definition.observesGeneration !== false && generation !== undefined
    const next = isObserved ? { ...status, observedGeneration: generation } : status
    const { status: before } = owner as { status?: object }
    const isAnnotated = Object.entries(annotations).every(([key, value]) => owner.metadata.annotations?.[key] === value)
    if (isAnnotated && isSameStatus(this.#statusType, before, next)) return undefined
    const waitMs = isAnnotated && before ? this.#statusWaitMs(keyOf(owner), before, next) : 0
    if (waitMs > 0) return waitMs
    const metadata = isAnnotated ? owner.metadata : { ...owner.metadata, annotations: { ...owner.metadata.annotations, ...annotations } }
    await writer.updateStatus(definition.owner, { ...owner, metadata, status: next } as KubeObject)
    if (definition.statusMayWait) this.#written.set(keyOf(owner), this.#parts.clock.now())
    definition.announce?.(ctx, before, next)
    return undefined
  }

  #statusWaitMs(key: string, before: { observedGeneration?: Int64 }, next: { observedGeneration?: Int64 }): number {
    const lastMs = this.#written.get(key)
    if (lastMs === undefined || before.observedGeneration !== next.observedGeneration || !this.#parts.definition.statusMayWait?.(before, next)) return 0
    const agoMs = this.#parts.clock.now() - lastMs
    // A clock that was set back is no reason to wait: until it has caught up, that would be said again and again.
    return agoMs < 0 ? 0 : statusPaceMs - agoMs
  }

  /** The worst of all failures decides. */
  #failureOf({ failed }: Outcome<AnyAction>): Failure {
    const faults = failed.filter(({ error }) => judge(error) !== 'conflict')
    if (faults.length === 0) return failure(failed[0]!.error)
    const worst = faults.find(({ error }) => judge(error) === 'error') ?? faults[0]!
    const told = faults.filter(({ error }) => !isNamespaceTerminating(error)).map(({ action, error }) => this.#toldOf(action, error))
    return { ...failure(worst.error), told }
  }

  #toldOf(action: AnyAction, error: Error): Told {
    const applier = this.#parts.definition.apply[action.kind] as Applier<KubeObject, AnyAction>
    return (typeof applier === 'function' ? undefined : applier.failed?.(error, action)) ?? plainly(error)
  }
}

/** An observation with the owner in another state. Controllers keep the owner in a field of their own choice. */
const withOwner = (seen: unknown, before: KubeObject, owner: KubeObject): unknown =>
  Object.fromEntries(Object.entries(seen as object).map(([field, value]) => [field, value === before ? owner : (value as unknown)]))

const plainly = (error: Error): Told => ({ reason: 'FailedSync', message: error.message })

function failure(e: unknown): Failure {
  const error = e instanceof Error ? e : new Error(String(e))
  return { result: judge(error), error, told: isNamespaceTerminating(error) ? [] : [plainly(error)] }
}
