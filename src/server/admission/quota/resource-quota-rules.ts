import type { ResourceQuota } from '../../../api/generated/types.ts'
import { addTo, amountsText, increaseOf, pick, withoutZeroes } from '../../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import { compareQuantity, quantitySign } from '../../../api/numbers/quantity.ts'
import { type QuotaEvaluator, type QuotaRequest, isInScope } from '../../../api/quota/index.ts'

/** The amounts that a request uses of one quota. */
export interface Demand {
  quota: ResourceQuota
  amounts: ResourceList
}

/**
 * The resources that a quota limits for these objects. A limit applies once it is in the quota's status, when its usage
 * is known.
 */
export const heldNames = ({ status }: ResourceQuota, evaluator: QuotaEvaluator): string[] =>
  Object.keys(status?.hard ?? {})
    .filter((name) => evaluator.uses(name))
    .sort()

/** The amounts that a request uses of each matching quota, or the reason why they cannot be computed. */
export function demandsOf(
  quotas: readonly ResourceQuota[],
  evaluator: QuotaEvaluator,
  request: QuotaRequest,
  nowMs: number,
): Demand[] | string {
  const { object, old } = request
  const holding = quotas.filter(
    (quota) => heldNames(quota, evaluator).length > 0 && isInScope(quota, evaluator, object),
  )
  for (const quota of holding) {
    const names = heldNames(quota, evaluator)
    const unsaid = evaluator.unsaid?.(names, object)
    if (unsaid) return `failed quota: ${quota.metadata.name}: ${unsaid}`
    if (names.some((name) => quota.status?.used?.[name] === undefined)) {
      return `status unknown for quota: ${quota.metadata.name}, resources: ${names.join(',')}`
    }
  }
  if (holding.length === 0) return []
  const usage = evaluator.usage(object, nowMs)
  const negative = Object.keys(usage)
    .filter((name) => quantitySign(usage[name]!) < 0)
    .sort()
  if (negative.length) return `quota usage is negative for resource(s): ${negative.join(',')}`
  return holding.flatMap((quota) => {
    const more =
      old && isInScope(quota, evaluator, old) ? increaseOf(usage, evaluator.usage(old, nowMs)) : withoutZeroes(usage)
    const amounts = pick(more, heldNames(quota, evaluator))
    return Object.keys(amounts).length ? [{ quota, amounts }] : []
  })
}

/** Describes why amounts exceed the rest of a quota; undefined if they fit. */
export function excess(quota: ResourceQuota, used: ResourceList, requested: ResourceList): string | undefined {
  const hard = quota.status?.hard ?? {}
  const sum = { ...used }
  addTo(sum, requested)
  const exceeded = Object.keys(requested).filter(
    (name) => hard[name] !== undefined && compareQuantity(sum[name]!, hard[name]) > 0,
  )
  if (exceeded.length === 0) return undefined
  const [asked, taken, limited] = [requested, used, hard].map((amounts) => amountsText(pick(amounts, exceeded)))
  return `exceeded quota: ${quota.metadata.name}, requested: ${asked}, used: ${taken}, limited: ${limited}`
}
