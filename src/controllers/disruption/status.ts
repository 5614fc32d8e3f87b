import type { Condition, Pod, PodDisruptionBudgetStatus } from '../../api/generated/types.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { setCondition } from '../kit/workload/index.ts'
import { expectationOf } from './expected.ts'
import { type Observed, disruptedOf, healthyPods } from './observe.ts'

/**
 * Computes what the budget allows. If that is unknown, it allows nothing and reports the reason, and other fields are
 * unchanged.
 */
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
  // A budget without pods allows nothing, so that its first pods are protected.
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
      {
        status: allowed ? 'True' : 'False',
        reason: allowed ? 'SufficientPods' : 'InsufficientPods',
        message: '',
        observedGeneration,
      },
      nowMs,
    ),
  }
}

type Said = Pick<Condition, 'reason' | 'message' | 'observedGeneration'> & { status: 'True' | 'False' }

const withCondition = (conditions: readonly Condition[] | undefined, said: Said, nowMs: number): Condition[] =>
  setCondition(conditions, { type: 'DisruptionAllowed', ...said }, nowMs) as Condition[]

/** An event for the users of a budget. */
export interface News {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  /** Default: the budget. */
  about?: Pod
}

/** The problems of a budget. */
export function newsOf({ budget, pods, scales, nowMs }: Observed): News[] {
  const news: News[] = []
  if (pods.length === 0) news.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
  const expectation = expectationOf(budget.spec, pods, (ref) => scales.get(ref.uid))
  if ('failure' in expectation) {
    const message = `Failed to calculate the number of expected pods: ${expectation.failure}`
    return [...news, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }]
  }
  if (expectation.unmanaged.length > 0) {
    news.push({
      type: 'Warning',
      reason: 'UnmanagedPods',
      message: unmanagedText(budget.spec.selector, expectation.unmanaged),
    })
  }
  for (const about of disruptedOf(pods, budget.status.disruptedPods, nowMs).overdue) {
    const message = `Pod was expected by PDB ${budget.metadata.namespace}/${budget.metadata.name} to be deleted but it wasn't`
    news.push({ type: 'Warning', reason: 'NotDeleted', message, about })
  }
  return news
}

function unmanagedText(selector: Observed['budget']['spec']['selector'], names: readonly string[]): string {
  const which = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
  return (
    `Nothing manages some of the pods that this budget selects (selector: ${labelSelectorText(selector)}): ${which}. How many of them there ` +
    'should be is not known, and they do not count as expected. To count them, set ".spec.minAvailable" to a number.'
  )
}
