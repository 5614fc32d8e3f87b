import type { KubeObject } from '../../api/object.ts'
import { inBatches } from './batches.ts'
import type { AnyAction, Applier, Appliers, ApplyContext, Outcome, Step } from './definition.ts'

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
    const applier = appliers[actions[0]!.kind as Action['kind']] as Applier<Owner, Action> | undefined
    if (!applier) throw new Error(`the plan asks for ${actions[0]!.kind}, which nothing applies`)
    const { pace = 'one by one', run } = typeof applier === 'function' ? { run: applier } : applier
    const result = await inBatches(actions, pace, async (action) => {
      ctx.signal.throwIfAborted()
      answers.set(action, await run(ctx, action))
    })
    done.push(...result.done)
    failed.push(...result.failed.map(({ item, error }) => ({ action: item, error })))
    skipped.push(...result.skipped)
  }
  return { done, failed, skipped, answers, wait: step.wait }
}
