import { quantityMilli, quantityValue } from '../../numbers/quantity.ts'
import type { ResourceList } from './resource-names.ts'

/**
 * The requests of a pod or the capacity of a node as plain numbers, since the scheduler adds and compares them
 * thousands of times per second.
 */
export interface Amounts {
  /** Millicores. */
  cpu: number
  /** Bytes. */
  memory: number
  /** Bytes. */
  storage: number
  /** Other resources by name: devices, huge pages. Usually undefined. */
  others: Map<string, number> | undefined
}

export const noAmounts = (): Amounts => ({ cpu: 0, memory: 0, storage: 0, others: undefined })

/** Converts a resource list. Pods are counted separately. */
export function amountsOf(list: ResourceList | undefined): Amounts {
  const amounts = noAmounts()
  for (const name in list) {
    const text = list[name]!
    if (name === 'cpu') amounts.cpu = Number(quantityMilli(text))
    else if (name === 'memory') amounts.memory = Number(quantityValue(text))
    else if (name === 'ephemeral-storage') amounts.storage = Number(quantityValue(text))
    else if (name !== 'pods') (amounts.others ??= new Map()).set(name, Number(quantityValue(text)))
  }
  return amounts
}

/** Adds the amounts `times` times to a sum in place. -1 subtracts them. */
export function addAmounts(sum: Amounts, amounts: Amounts, times: 1 | -1): void {
  sum.cpu += times * amounts.cpu
  sum.memory += times * amounts.memory
  sum.storage += times * amounts.storage
  if (!amounts.others) return
  const others = (sum.others ??= new Map())
  for (const [name, amount] of amounts.others) others.set(name, (others.get(name) ?? 0) + times * amount)
}

export const copyAmounts = (amounts: Amounts): Amounts => ({
  ...amounts,
  others: amounts.others && new Map(amounts.others),
})
