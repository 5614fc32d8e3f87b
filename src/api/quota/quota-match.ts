import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../generated/types.ts'
import { addTo, pick } from '../kinds/amounts.ts'
import type { ResourceList } from '../kinds/resource-names.ts'
import type { KubeObject } from '../object.ts'
import type { QuotaEvaluator } from './evaluator.ts'

/** What an object must be for a quota to hold it. */
export const scopesOf = ({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
]

export const isInScope = (quota: ResourceQuota, evaluator: QuotaEvaluator, object: KubeObject): boolean =>
  scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object))

/** What an object uses of a quota, by the names given. */
export const usageOf = (quota: ResourceQuota, names: readonly string[], evaluator: QuotaEvaluator, object: KubeObject, nowMs: number): ResourceList =>
  isInScope(quota, evaluator, object) ? pick(evaluator.usage(object, nowMs), names) : {}

/** What objects use of a quota together: each of the names that their kind can use, zero if they do not. */
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
