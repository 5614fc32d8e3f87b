import type { Condition, PodDisruptionBudgetStatus } from '../../api/generated/types.ts'
import { setCondition } from '../kit/workload/index.ts'
import { disruptedOf, healthyPods } from './disrupted.ts'
import { expectationOf } from './expected.ts'
import type { Observed } from './observe.ts'

/** What the budget allows now. If that cannot be told, it allows nothing and says why; the rest stays as it was. */
export function status(seen: Observed): PodDisruptionBudgetStatus {
  const { budget, pods, scales, nowMs } = seen
  const expectation = expectationOf(budget.spec, pods, (ref) => scales.get(ref.uid))
  const { conditions } = budget.status
  if ('failure' in expectation) {
    const { observedGeneration } = budget.status
    const failed = { status: 'False', reason: 'SyncFailed', message: expectation.failure, observedGeneration } as const
    return { ...budget.status, disruptionsAllowed: 0, conditions: withCondition(conditions, failed, nowMs) }
  }
  const { expectedPods, desiredHealthy } = expectation
  const disrupted = disruptedOf(pods, budget.status.disruptedPods, nowMs)
  const currentHealthy = healthyPods(pods, disrupted)
  // A budget without pods allows nothing, so that it is safe when its first pods come.
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0
  const observedGeneration = budget.metadata.generation
  const allowed = disruptionsAllowed > 0
  return {
    observedGeneration,
    disruptedPods: disrupted.expected,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withCondition(
      conditions,
      { status: allowed ? 'True' : 'False', reason: allowed ? 'SufficientPods' : 'InsufficientPods', message: '', observedGeneration },
      nowMs,
    ),
  }
}

type Said = Pick<Condition, 'reason' | 'message' | 'observedGeneration'> & { status: 'True' | 'False' }

const withCondition = (conditions: readonly Condition[] | undefined, said: Said, nowMs: number): Condition[] =>
  setCondition(conditions, { type: 'DisruptionAllowed', ...said }, nowMs) as Condition[]
