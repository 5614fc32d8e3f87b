import { claimEvaluator } from './claim-evaluator.ts'
import { type QuotaEvaluator, countName } from './evaluator.ts'
import { podEvaluator } from './pod-evaluator.ts'
import { serviceEvaluator } from './service-evaluator.ts'

/** Objects of core that are counted by their plain name, too. */
const plainlyCounted = ['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']

/** Counts objects, whatever they are. */
function countEvaluator(group: string, plural: string): QuotaEvaluator {
  const names = [countName(group, plural), ...(group === '' && plainlyCounted.includes(plural) ? [plural] : [])]
  return {
    uses: (name) => names.includes(name),
    usage: () => Object.fromEntries(names.map((name) => [name, '1'])),
    matchesScope: () => false,
    mayDiffer: () => false,
    concerns: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
  }
}

const known = new Map<string, QuotaEvaluator | undefined>([
  ['/pods', podEvaluator as QuotaEvaluator],
  ['/persistentvolumeclaims', claimEvaluator as QuotaEvaluator],
  ['/services', serviceEvaluator as QuotaEvaluator],
  // Events are never held to a quota.
  ['/events', undefined],
  ['events.k8s.io/events', undefined],
])

/** How objects of a kind are held to quotas; undefined if they are not. */
export function evaluatorOf(group: string, plural: string): QuotaEvaluator | undefined {
  const key = `${group}/${plural}`
  if (!known.has(key)) known.set(key, countEvaluator(group, plural))
  return known.get(key)
}
