import { deepEqual } from '../../../api/deep-equal.ts'
import type { KubeObject } from '../../../api/object.ts'
import { assert } from '../../../base/assert.ts'
import type { Clock } from '../../../base/clock.ts'
import { keyOf } from '../../../client/index.ts'
import type { AnyAction, Applier, Appliers, ApplyContext, Outcome, Pace, Step } from '../definition.ts'

export interface PaceResult<T> {
  done: T[]
  failed: { item: T; error: Error }[]
  skipped: T[]
  /** The number of items that may be in flight by now. */
  width: number
}

/** The maximum in flight for "all at once". Starting thousands in one turn would block other work. */
const mostAtOnce = 256

const asError = (e: unknown): Error => (e instanceof Error ? e : new Error(String(e)))

/**
 * Runs all items, with as many in flight as their pace allows. A slow start begins with `startWidth` and allows one
 * more after each success, so that about as many can be in flight, and fail, as have succeeded. After a failure no item
 * is started, except for "all at once".
 */
export async function atPace<T>(
  items: readonly T[],
  pace: Pace,
  run: (item: T) => Promise<unknown>,
  startWidth = 1,
): Promise<PaceResult<T>> {
  const startWidths: Record<Pace, number> = { 'one by one': 1, 'slow start': startWidth, 'all at once': mostAtOnce }
  const errors = new Map<number, Error>()
  let width = startWidths[pace]
  let begun = 0
  let underWay = 0
  const hasMore = () => begun < items.length && (errors.size === 0 || pace === 'all at once')
  /** Runs items one after the other. If the width grows, another lane starts beside it. */
  async function lane(): Promise<void> {
    const beside: Promise<void>[] = []
    while (hasMore()) {
      const at = begun++
      underWay++
      try {
        await run(items[at]!)
        // A width that was not used is no evidence that a larger one is safe.
        if (pace === 'slow start' && underWay === width) {
          width++
          beside.push(lane())
        }
      } catch (e) {
        errors.set(at, asError(e))
      } finally {
        underWay--
      }
    }
    await Promise.all(beside)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
  const begunItems = [...items.slice(0, begun).entries()]
  return {
    done: begunItems.filter(([at]) => !errors.has(at)).map(([, item]) => item),
    failed: begunItems.flatMap(([at, item]) => (errors.has(at) ? [{ item, error: errors.get(at)! }] : [])),
    skipped: items.slice(begun),
    width,
  }
}

/** Runs all items, at most 256 at a time, and throws the first failure after the last of them. */
export async function eachOf<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  const { failed } = await atPace(items, 'all at once', run)
  if (failed.length > 0) throw failed[0]!.error
}

/** The validity of a width. The reason of the last success, such as free quota, may have changed since. */
const lastsMs = 10_000

interface Reached {
  uid: string | undefined
  kind: string
  template: unknown
  width: number
  atMs: number
}

const templateOf = (owner: KubeObject): unknown => (owner as { spec?: { template?: unknown } }).spec?.template

/**
 * The width at which the slow start of an owner continues, if its last actions succeeded recently with the same
 * template.
 */
export class Momentum {
  readonly #clock: Clock
  /** By the owner's key. */
  readonly #reached = new Map<string, Reached>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  startWidth(owner: KubeObject, kind: string): number {
    const known = this.#reached.get(keyOf(owner))
    if (!known || known.uid !== owner.metadata.uid || known.kind !== kind) return 1
    const agoMs = this.#clock.now() - known.atMs
    // After the clock was set back, the age is unknown.
    const isRecent = agoMs >= 0 && agoMs <= lastsMs
    return isRecent && deepEqual(known.template, templateOf(owner)) ? known.width : 1
  }

  keep(owner: KubeObject, kind: string, width: number): void {
    this.#reached.set(keyOf(owner), {
      uid: owner.metadata.uid,
      kind,
      template: templateOf(owner),
      width,
      atMs: this.#clock.now(),
    })
  }

  forget(key: string): void {
    this.#reached.delete(key)
  }
}

/** Adjacent actions of one kind. */
function* runs<Action extends AnyAction>(actions: readonly Action[]): Generator<Action[]> {
  for (let from = 0, to = 0; from < actions.length; from = to) {
    while (to < actions.length && actions[to]!.kind === actions[from]!.kind) to++
    yield actions.slice(from, to)
  }
}

/** Spreading a hundred thousand actions into a call would fail. */
function append<T>(to: T[], items: readonly T[]): void {
  for (const item of items) to.push(item)
}

/** Applies the actions of a step in order, until one fails. */
export async function applyStep<Owner extends KubeObject, Action extends AnyAction>(
  ctx: ApplyContext<Owner>,
  appliers: Appliers<Owner, Action>,
  step: Step<Action>,
  momentum: Momentum,
): Promise<Outcome<Action>> {
  const done: Action[] = []
  const failed: { action: Action; error: Error }[] = []
  const skipped: Action[] = []
  const answers = new Map<Action, unknown>()
  for (const actions of runs(step.actions)) {
    if (failed.length > 0) {
      append(skipped, actions)
      continue
    }
    const kind = actions[0]!.kind as Action['kind']
    const applier = appliers[kind] as Applier<Owner, Action> | undefined
    if (!applier) throw new Error(`the plan has action ${kind}, which no function applies`)
    const { pace = 'one by one', run } = typeof applier === 'function' ? { run: applier } : applier
    const act = async (action: Action): Promise<void> => {
      ctx.signal.throwIfAborted()
      answers.set(action, await run(ctx, action))
    }
    const isSlow = pace === 'slow start'
    const result = await atPace(actions, pace, act, isSlow ? momentum.startWidth(ctx.owner, kind) : 1)
    if (isSlow) momentum.keep(ctx.owner, kind, result.failed.length > 0 ? 1 : result.width)
    append(done, result.done)
    for (const { item, error } of result.failed) failed.push({ action: item, error })
    append(skipped, result.skipped)
  }
  assert(
    () => done.length + failed.length + skipped.length === step.actions.length,
    'every action of a step is done, failed or skipped',
  )
  return { done, failed, skipped, answers, wait: step.wait }
}
