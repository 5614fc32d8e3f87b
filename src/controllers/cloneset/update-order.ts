import type { CloneSetUpdateStrategy, Pod, UpdateScatterTerm } from '../../api/generated/types.ts'
import { type Int64, compareInt64 } from '../../api/numbers/int64.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { type Rank, compareRanks } from '../kit/workload/index.ts'
import type { Member, ActiveMember } from './member.ts'
import type { Members } from './members.ts'

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

/**
 * The order in which outdated pods are updated: by priority, then by deletion rank, then spread by the scatter
 * strategy. Pods whose hook was asked come first. The first few are found without traversing the others. Only a scatter
 * strategy requires all of them.
 */
export function inUpdateOrder(
  members: Members,
  { scatterStrategy = [] }: CloneSetUpdateStrategy,
): Iterable<ActiveMember> {
  const { candidates } = members
  if (scatterStrategy.length === 0) return candidates.inOrder()
  const ranked = candidates.values().sort((a, b) => compareTurns(a.turn!, b.turn!))
  const scattered = scatter(ranked, [...members.all()], scatterStrategy)
  const isPreparing = ({ turn }: ActiveMember): boolean => turn!.isPreparing
  return [...scattered.filter(isPreparing), ...scattered.filter((active) => !isPreparing(active))]
}

const labelsOf = ({ pod }: Member): Readonly<Record<string, string>> => pod.metadata.labels ?? {}

/** Spreads the pods with each label over the order, the most common label first. */
export function scatter<M extends Member>(
  members: readonly M[],
  all: readonly Member[],
  terms: readonly UpdateScatterTerm[],
): M[] {
  if (terms.length === 0 || members.length < 2) return [...members]
  const bearers = (term: UpdateScatterTerm): number => members.filter((member) => bears(member, term)).length
  const ordered =
    terms.length === 1 ? terms : terms.filter((term) => bearers(term) > 0).toSorted((a, b) => bearers(b) - bearers(a))
  return ordered.reduce((spread: readonly M[], term) => spreadOut(spread, all, term), members) as M[]
}

const bears = (member: Member, { key, value }: UpdateScatterTerm): boolean => labelsOf(member)[key] === value

/**
 * Alternates groups of pods with and without the label in the density of the whole set, so that the first updates
 * resemble the set. One pod with the label comes last.
 */
function spreadOut<M extends Member>(members: readonly M[], all: readonly Member[], term: UpdateScatterTerm): M[] {
  const bearers = members.filter((member) => bears(member, term))
  const others = members.filter((member) => !bears(member, term))
  if (bearers.length < 2 || others.length < 2) return [...members]
  const last = bearers.pop()!
  const bearersOfAll = all.filter((member) => bears(member, term)).length - 1
  const group = groupsOf(
    {
      bearers: bearersOfAll,
      others: all.length - bearersOfAll - 1,
    },
    { bearers: bearers.length, others: others.length },
  )
  const spread = others.splice(0, group.othersFirst)
  for (let i = 0; i < group.count; i++)
    spread.push(...bearers.splice(0, group.bearers), ...others.splice(0, group.others))
  return [...spread, ...bearers, ...others, last]
}

interface Mixture {
  bearers: number
  others: number
}

interface Groups extends Mixture {
  count: number
  /** Pods without the label before the first group, if the groups need fewer of them than the whole set has. */
  othersFirst: number
}

function groupsOf(whole: Mixture, part: Mixture): Groups {
  if (whole.others / whole.bearers >= part.others / part.bearers) return { ...evenGroups(part), othersFirst: 0 }
  const { bearers, others } = evenGroups(whole)
  const count = Math.min(Math.floor(part.bearers / bearers), Math.floor(part.others / others))
  return { bearers, others, count, othersFirst: part.others - count * others }
}

/** The number of groups is that of the rarer kind. */
function evenGroups({ bearers, others }: Mixture): Omit<Groups, 'othersFirst'> {
  const count = Math.min(bearers, others)
  return { count, bearers: Math.round(bearers / count), others: Math.round(others / count) }
}
