import type { CloneSetUpdateStrategy, Pod } from '../../api/generated/types.ts'
import { type Int64, compareInt64 } from '../../api/numbers/int64.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { type Rank, compareRanks } from '../kit/workload/index.ts'

/** The position of a pod in the update order. It depends on the pod, the strategy and, through its rank, the time. */
export interface Turn {
  /** True for a pod whose hook was asked already. Such pods come first. */
  isPreparing: boolean
  /** The priority by the priority strategy, compared number by number, lowest first. */
  priority: readonly Int64[]
  /** The deletion rank, which orders equal priorities. */
  rank: Rank
}

/** Negative if `a` comes before `b`, regardless of hooks. */
export function compareTurns(a: Turn, b: Turn): number {
  for (const [i, value] of a.priority.entries()) {
    const order = compareInt64(value, b.priority[i]!)
    if (order !== 0) return order
  }
  return compareRanks(a.rank, b.rank)
}

/** Returns the priority of a pod. */
export type PriorityOf = (pod: Pod) => readonly Int64[]

const noPriority: readonly Int64[] = []

/**
 * By the sum of the weights, highest first. Or by the number in a label, highest first, after pods that have none of
 * the labels.
 */
export function priorityIn({ priorityStrategy = {} }: CloneSetUpdateStrategy): PriorityOf {
  const { weightPriority = [], orderPriority = [] } = priorityStrategy
  if (weightPriority.length > 0) {
    const terms = weightPriority.map((term) => ({ ...term, matches: compileLabelSelector(term.matchSelector) }))
    const weightOf = (labels: Pod['metadata']['labels']): number =>
      terms.reduce((sum, { weight, matches }) => sum + (matches(labels) ? weight : 0), 0)
    return ({ metadata: { labels } }) => [-weightOf(labels)]
  }
  if (orderPriority.length === 0) return () => noPriority
  return ({ metadata: { labels = {} } }) => {
    const level = orderPriority.findIndex(({ orderedKey }) => labels[orderedKey] !== undefined)
    return level < 0 ? [-1, 0] : [level, -trailingNumber(labels[orderPriority[level]!.orderedKey]!)]
  }
}

/** 10 of `web-10`. 0 if the text does not end with a digit. */
const trailingNumber = (text: string): bigint => BigInt(/[0-9]*$/.exec(text)![0])
