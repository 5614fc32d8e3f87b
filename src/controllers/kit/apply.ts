import type { KubeObject } from '../../api/object.ts'
import type { AnyAction, Applier, Appliers, ApplyContext, Outcome, Step } from './definition.ts'
import type { Momentum } from './momentum.ts'
import { atPace } from './pace.ts'

/** Actions of one kind that stand together. */
function* runs<Action extends AnyAction>(actions: readonly Action[]): Generator<Action[]> {
  for (let from = 0, to = 0; from < actions.length; from = to) {
    while (to < actions.length && actions[to]!.kind === actions[from]!.kind) to++
    yield actions.slice(from, to)
  }
}

/** Does what a step says, in its order, until something fails. */
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
      skipped.push(...actions)
      continue
    }
    const kind = actions[0]!.kind as Action['kind']
    const applier = appliers[kind] as Applier<Owner, Action> | undefined
    if (!applier) throw new Error(`the plan asks for ${kind}, which nothing applies`)
    const { pace = 'one by one', run } = typeof applier === 'function' ? { run: applier } : applier
    const act = async (action: Action): Promise<void> => {
      ctx.signal.throwIfAborted()
      answers.set(action, await run(ctx, action))
    }
    const isSlow = pace === 'slow start'
    const result = await atPace(actions, pace, act, isSlow ? momentum.startWidth(ctx.owner, kind) : 1)
    if (isSlow) momentum.keep(ctx.owner, kind, result.failed.length > 0 ? 1 : result.width)
    done.push(...result.done)
    failed.push(...result.failed.map(({ item, error }) => ({ action: item, error })))
    skipped.push(...result.skipped)
  }
  return { done, failed, skipped, answers, wait: step.wait }
}
