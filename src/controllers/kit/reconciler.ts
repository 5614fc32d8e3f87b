import { deepEqual } from '../../api/deep-equal.ts'
import { isConflict, isNotFound } from '../../api/errors.ts'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Clock, turnsOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { soonest } from '../../base/soonest.ts'
import type { Turns } from '../../base/turns.ts'
import {
  type Client,
  type ConsistencyStore,
  type Readiness,
  addFinalizer,
  finalizersPatch,
  hasFinalizer,
  keyOf,
  removeFinalizer,
} from '../../client/index.ts'
import { Momentum, applyStep } from './writes/apply.ts'
import type { Caches } from './caches.ts'
import type {
  AnyAction,
  AnyController,
  Applier,
  ApplyContext,
  Outcome,
  OwnerMeasures,
  Step,
  Told,
} from './definition.ts'
import { isNamespaceTerminating, judge } from './errors.ts'
import type { Gathering } from './queueing/gathering.ts'
import { type Rosters, stillReading } from './roster/roster.ts'
import { StatusWriter } from './status-writes.ts'
import type { Subject, UnsettledWrites, WriteLog } from './writes/unsettled.ts'
import { Writer, type WriterParts } from './writes/writer.ts'

/** Emits an event about an object. */
type TellEvent = (about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string) => void

/** The result of a reconcile. */
export type Verdict =
  | { result: 'success'; requeueAfterMs: number | undefined }
  | { result: 'stale'; missing: Readiness & { ready: false } }
  /** A timer that the plan requested is set even after a failure. */
  | {
      result: 'conflict' | 'terminal' | 'error'
      error: Error
      told: readonly Told[]
      requeueAfterMs?: number | undefined
    }
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

const nothing: Step<AnyAction> = { actions: [] }
const untouched: Outcome<AnyAction> = { done: [], failed: [], skipped: [], wait: undefined }

/** Reconciles one owner at a time: own writes seen → observe → derive → plan → apply → status. */
export class Reconciler {
  readonly #parts: ReconcilerParts
  readonly #status: StatusWriter
  /** By key. The entry of a deleted owner stays until its key is reconciled. */
  readonly #memories = new Map<string, { uid: string | undefined; memory: unknown }>()
  readonly #momentum: Momentum

  constructor(parts: ReconcilerParts) {
    this.#parts = parts
    this.#momentum = new Momentum(parts.clock)
    this.#status = new StatusWriter(parts.definition, parts.caches, parts.clock)
  }

  /** Rejects only if the signal is aborted. */
  async reconcile(key: string, signal: AbortSignal): Promise<Verdict> {
    const { definition, caches, client, store, log, unsettled } = this.#parts
    const cached = () => caches.of(definition.owner).get(key)
    const subject: Subject = { key, uid: cached()?.metadata.uid ?? '' }
    if (!subject.uid) return this.#forget(key)
    try {
      await unsettled.settle(subject, client, log, signal)
      const turns = turnsOf(this.#parts.clock)
      // Each turn of the event loop observes more.
      for (;;) {
        // The steps above may have taken long. The owner must be as new as the caches are required to be.
        const owner = cached()
        if (!owner) return this.#forget(key)
        const readiness = store?.ensureReady(key, owner.metadata.uid)
        if (readiness && !readiness.ready) return { result: 'stale', missing: readiness }
        unsettled.dropSeenNames(subject, caches)
        const nowMs = this.#parts.clock.now()
        const observed = this.#observe(owner, nowMs, turns)
        if (observed) return await this.#act(owner, observed.seen, nowMs, signal)
        await turns.next()
        signal.throwIfAborted()
      }
    } catch (e) {
      signal.throwIfAborted()
      return failure(e)
    }
  }

  async #act(observed: KubeObject, seen: unknown, nowMs: number, signal: AbortSignal): Promise<Verdict> {
    const { definition, client, logger, tell, writing, measures } = this.#parts
    const derived = this.#derive(seen)
    measures?.seen(observed, derived)
    const { goesThrough } = definition.timing ?? {}
    if (goesThrough) this.#parts.gathering.goesThrough(keyOf(observed), goesThrough(derived))
    const { isPlanned: plansDeletion, finalizer } = definition.deletion ?? {}
    const isPlanned =
      !observed.metadata.deletionTimestamp ||
      plansDeletion ||
      (finalizer !== undefined && hasFinalizer(observed, finalizer))
    const step: Step<AnyAction> = isPlanned ? definition.plan(derived) : nothing
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
    const outcome = step.actions.length
      ? await applyStep(ctx, definition.apply, step, this.#momentum)
      : { ...untouched, wait: step.wait }
    signal.throwIfAborted()
    if (isPlanned && (await this.#letGo(writer, owner, step))) return { result: 'success', requeueAfterMs: undefined }
    const failed = outcome.failed.length ? this.#failureOf(outcome) : undefined
    const status = definition.status?.compute(derived, outcome) as object | undefined
    const changesInMs = status && definition.status?.changesInMs?.(derived, status)
    let statusDueMs: number | undefined
    try {
      const written = this.#status.write(ctx, status, definition.status?.annotations?.(derived, outcome))
      statusDueMs = await written.catch((e: unknown) => this.#writeStatusAgain(ctx, seen, outcome, e))
      this.#keep(owner, definition.remember?.(derived, outcome))
    } catch (e) {
      // The failure of the actions matters more. The status is written by the next attempt.
      if (!failed) throw e
    }
    return {
      ...(failed ?? { result: 'success' }),
      requeueAfterMs: soonest(step.requeueAfterMs, statusDueMs, changesInMs),
    }
  }

  #derive(seen: unknown): unknown {
    const { derive } = this.#parts.definition
    return derive ? (derive(seen) as unknown) : seen
  }

  /**
   * Writes the status once more after a conflict, which means that the cache has an old version of the owner. Nothing
   * more is decided for the owner before the cache has its current version. Only this status records what was done,
   * so it is computed for the owner as the server has it now. Caches are not read again: they may contain what was
   * done, which would then count twice. If the spec or an annotation has changed as well, the next reconcile decides.
   */
  async #writeStatusAgain(
    ctx: ApplyContext<KubeObject>,
    before: unknown,
    outcome: Outcome<AnyAction>,
    error: unknown,
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
    const derived = this.#derive(withOwner(before, ctx.owner, owner))
    const status = definition.status?.compute(derived, outcome) as object | undefined
    return this.#status.write({ ...ctx, owner }, status, definition.status?.annotations?.(derived, outcome))
  }

  /** The owner as the server has it. Undefined if it is deleted. */
  async #current({ metadata: { namespace = '', name = '' } }: KubeObject): Promise<KubeObject | undefined> {
    const { definition, client, writing } = this.#parts
    try {
      return await client.get(definition.owner, namespace, name, { signal: writing.signal })
    } catch (e) {
      if (isNotFound(e)) return undefined
      throw e
    }
  }

  /** The observation of an owner. Undefined if it needs another turn of the event loop. */
  #observe(owner: KubeObject, nowMs: number, turns: Turns): { seen: unknown } | undefined {
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
    if (rosters.membersOf(keyOf(owner)) < (definition.timing?.keepsRostersFrom ?? 0)) rosters.forget(keyOf(owner))
    return { seen }
  }

  /** Adds the finalizer before anything is created that it protects. */
  async #guard(writer: Writer, owner: KubeObject): Promise<KubeObject> {
    const { deletion: { finalizer } = {}, owner: type } = this.#parts.definition
    if (!finalizer || owner.metadata.deletionTimestamp || hasFinalizer(owner, finalizer)) return owner
    const { metadata } = await writer.patch(type, owner, finalizersPatch(addFinalizer(owner, finalizer)), {
      type: 'merge',
    })
    return { ...owner, metadata }
  }

  /** Removes the finalizer from an owner that is being deleted, when nothing is left to do for it. */
  async #letGo(writer: Writer, owner: KubeObject, step: Step<AnyAction>): Promise<boolean> {
    const { deletion: { finalizer } = {}, owner: type } = this.#parts.definition
    if (!finalizer || !owner.metadata.deletionTimestamp) return false
    if (step.actions.length > 0 || step.wait !== undefined || step.requeueAfterMs !== undefined) return false
    const left = await writer.patch(type, owner, finalizersPatch(removeFinalizer(owner, finalizer)), { type: 'merge' })
    // Removing the last finalizer deletes the object. The response has a version that the cache has already seen.
    if (!left.metadata.finalizers?.length) {
      this.#parts.log.removed({ key: keyOf(owner), uid: owner.metadata.uid ?? '' }, type, left)
    }
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
    this.#status.forget(key)
    this.#momentum.forget(key)
    this.#parts.rosters.forget(key)
    return { result: 'gone' }
  }

  /** The most severe failure determines the result. */
  #failureOf({ failed }: Outcome<AnyAction>): Failure {
    const faults = failed.filter(({ error }) => judge(error) !== 'conflict')
    if (faults.length === 0) return failure(failed[0]!.error)
    const worst = faults.find(({ error }) => judge(error) === 'error') ?? faults[0]!
    const told = faults
      .filter(({ error }) => !isNamespaceTerminating(error))
      .map(({ action, error }) => this.#toldOf(action, error))
    return { ...failure(worst.error), told }
  }

  #toldOf(action: AnyAction, error: Error): Told {
    const applier = this.#parts.definition.apply[action.kind] as Applier<KubeObject, AnyAction>
    return (typeof applier === 'function' ? undefined : applier.failed?.(error, action)) ?? plainly(error)
  }
}

/** The observation with another version of the owner. The name of the field that holds it is up to the controller. */
const withOwner = (seen: unknown, before: KubeObject, owner: KubeObject): unknown =>
  Object.fromEntries(
    Object.entries(seen as object).map(([field, value]) => [field, value === before ? owner : (value as unknown)]),
  )

const plainly = (error: Error): Told => ({ reason: 'FailedSync', message: error.message })

function failure(e: unknown): Failure {
  const error = e instanceof Error ? e : new Error(String(e))
  return { result: judge(error), error, told: isNamespaceTerminating(error) ? [] : [plainly(error)] }
}
