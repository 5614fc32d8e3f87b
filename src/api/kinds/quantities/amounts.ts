import {
  addQuantities,
  compareQuantity,
  isZeroQuantity,
  quantitySign,
  subtractQuantities,
} from '../../numbers/quantity.ts'
import type { ResourceList } from './resource-names.ts'

/** Adds amounts to a sum in place. */
export function addTo(sum: ResourceList, amounts: ResourceList | undefined): void {
  for (const name in amounts)
    sum[name] = sum[name] === undefined ? amounts[name]! : addQuantities(sum[name], amounts[name]!)
}

/** Subtracts amounts from a sum in place. Results may be negative. */
export function takeFrom(sum: ResourceList, amounts: ResourceList | undefined): void {
  for (const name in amounts) sum[name] = subtractQuantities(sum[name] ?? '0', amounts[name]!)
}

/** Sets each amount to the maximum of both, in place. */
export function raiseTo(max: ResourceList, amounts: ResourceList | undefined): void {
  for (const name in amounts)
    if (max[name] === undefined || compareQuantity(amounts[name]!, max[name]) > 0) max[name] = amounts[name]!
}

/** Selects the amounts of these names. */
export function pick(amounts: ResourceList, names: Iterable<string>): ResourceList {
  const picked: ResourceList = {}
  for (const name of names) if (amounts[name] !== undefined) picked[name] = amounts[name]
  return picked
}

/** The increase from `before` to `after`. */
export function increaseOf(after: ResourceList, before: ResourceList): ResourceList {
  const increase = { ...after }
  takeFrom(increase, pick(before, Object.keys(after)))
  for (const name in increase) if (quantitySign(increase[name]!) <= 0) delete increase[name]
  return increase
}

export function withoutZeroes(amounts: ResourceList): ResourceList {
  return pick(
    amounts,
    Object.keys(amounts).filter((name) => !isZeroQuantity(amounts[name]!)),
  )
}

/** `cpu=500m,memory=2Gi` */
export const amountsText = (amounts: ResourceList): string =>
  Object.keys(amounts)
    .sort()
    .map((name) => `${name}=${amounts[name]}`)
    .join(',')
