import type { Pod } from '../../api/generated/types.ts'
import { labelSelectorText } from '../../api/selectors/label-selector.ts'
import { disruptedOf } from './disrupted.ts'
import { expectationOf } from './expected.ts'
import type { Observed } from './observe.ts'

/** Something that the users of a budget should know. */
export interface News {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  /** Default: the budget. */
  about?: Pod
}

/** What is odd about a budget as it is now. */
export function newsOf({ budget, pods, scales, nowMs }: Observed): News[] {
  const news: News[] = []
  if (pods.length === 0) news.push({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
  const expectation = expectationOf(budget.spec, pods, (ref) => scales.get(ref.uid))
  if ('failure' in expectation) {
    const message = `Failed to calculate the number of expected pods: ${expectation.failure}`
    return [...news, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }]
  }
  if (expectation.unmanaged.length > 0) {
    news.push({ type: 'Warning', reason: 'UnmanagedPods', message: unmanagedText(budget.spec.selector, expectation.unmanaged) })
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
