import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../generated/types.ts'
import { addTo, pick } from '../kinds/quantities/amounts.ts'
import type { ResourceList } from '../kinds/quantities/resource-names.ts'
import type { KubeObject } from '../object.ts'
import type { QuotaEvaluator } from './evaluator.ts'

/** The scopes that an object must match for a quota to apply. */
const scopesOf = ({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
]

export const isInScope = (quota: ResourceQuota, evaluator: QuotaEvaluator, object: KubeObject): boolean =>
  scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))

/** The usage of an object for the given quota resources. */
export const usageOf = (
  quota: ResourceQuota,
  names: readonly string[],
  evaluator: QuotaEvaluator,
  object: KubeObject,
  nowMs: number,
): ResourceList => (isInScope(quota, evaluator, object) ? pick(evaluator.usage(object, nowMs), names) : {})

/** The total usage of objects: every resource that their kind can use, 0 if unused. */
export function totalUsage(
  quota: ResourceQuota,
  names: readonly string[],
  evaluator: QuotaEvaluator,
  objects: Iterable<KubeObject>,
  nowMs: number,
): ResourceList {
  const used = names.filter((name) => evaluator.uses(name))
  const total: ResourceList = Object.fromEntries(used.map((name) => [name, '0']))
  if (used.length) for (const object of objects) addTo(total, usageOf(quota, used, evaluator, object, nowMs))
  return total
}
