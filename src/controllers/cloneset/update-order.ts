import type { CloneSetUpdateStrategy, Pod, UpdateScatterTerm } from '../../api/generated/types.ts'
import { type Int64, compareInt64 } from '../../api/int64.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { type Rank, compareRanks } from '../kit/workload/index.ts'
import type { Seat } from './entry.ts'
import type { Member } from './member.ts'
import type { Members } from './members.ts'

/** The place of a pod in the order of updates. It depends only on the pod, the strategy and, by its rank, the time. */
export interface Turn {
  /** True for a pod whose hook was asked already: such pods come before all. */
  isPreparing: boolean
  /** By the priority strategy: the lowest first, number by number. */
  priority: readonly Int64[]
  /** Among equals those that would be missed least come first. */
  rank: Rank
}

/** Less than 0 if `a` comes before `b` but for hooks. */
export function compareTurns(a: Turn, b: Turn): number {
  for (const [i, value] of a.priority.entries()) {
    const order = compareInt64(value, b.priority[i]!)
    if (order !== 0) return order
  }
  return compareRanks(a.rank, b.rank)
}

/** Tells the priority of a pod. */
export type PriorityOf = (pod: Pod) => readonly Int64[]

const noPriority: readonly Int64[] = []

/**
 * By the sum of the weights, the heaviest first; or by a label's number, the highest first, and those before them that
 * have none of the labels.
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

/** 10 of `web-10`; 0 of what ends with no digit. */
const trailingNumber = (text: string): bigint => BigInt(/[0-9]*$/.exec(text)![0])

/**
 * The order in which outdated pods are updated: what the priority strategy puts first; then those that would be missed
 * least; spread as the scatter strategy says. Those whose hook was asked already come before all. The first few are
 * found without a look at the others. To spread them, all have to be looked at: only a set with a scatter strategy pays
 * for that.
 */
export function inUpdateOrder(members: Members, { scatterStrategy = [] }: CloneSetUpdateStrategy): Iterable<Seat> {
  const { candidates } = members
  if (scatterStrategy.length === 0) return candidates.inOrder()
  const ranked = candidates.values().sort((a, b) => compareTurns(a.turn!, b.turn!))
  const scattered = scatter(ranked, [...members.all()], scatterStrategy)
  const isPreparing = ({ turn }: Seat): boolean => turn!.isPreparing
  return [...scattered.filter(isPreparing), ...scattered.filter((seat) => !isPreparing(seat))]
}

const labelsOf = ({ pod }: Member): Readonly<Record<string, string>> => pod.metadata.labels ?? {}

/** Spreads the bearers of each label over the whole, those of the commonest label first. */
export function scatter<M extends Member>(
  members: readonly M[], all: readonly Member[], terms: readonly UpdateScatterTerm[],
): M[] {
  if (terms.length === 0 || members.length < 2) return [...members]
  const bearers = (term: UpdateScatterTerm): number => members.filter((member) => bears(member, term)).length
  const ordered = terms.length === 1 ? terms : terms.filter((term) => bearers(term) > 0).toSorted((a, b) => bearers(b) - bearers(a))
  return ordered.reduce((spread: readonly M[], term) => spreadOut(spread, all, term), members) as M[]
}

const bears = (member: Member, { key, value }: UpdateScatterTerm): boolean => labelsOf(member)[key] === value

/**
 * Alternates groups of bearers and others, as dense as both are in the whole set, so that what is updated first looks like the set. One bearer comes last: the
 * label is not through before everything is.
 */
function spreadOut<M extends Member>(members: readonly M[], all: readonly Member[], term: UpdateScatterTerm): M[] {
  const bearers = members.filter((member) => bears(member, term))
  const others = members.filter((member) => !bears(member, term))
  if (bearers.length < 2 || others.length < 2) return [...members]
  const last = bearers.pop()!
  const bearersOfAll = all.filter((member) => bears(member, term)).length - 1
  const group = groupsOf({ bearers: bearersOfAll, others: all.length - bearersOfAll - 1 }, { bearers: bearers.length, others: others.length })
  const spread = others.splice(0, group.othersFirst)
  for (let i = 0; i < group.count; i++) spread.push(...bearers.splice(0, group.bearers), ...others.splice(0, group.others))
  return [...spread, ...bearers, ...others, last]
}

interface Mixture {
  bearers: number
  others: number
}

interface Groups extends Mixture {
  count: number
  /** Others before the first group, where fewer of them are left in it than in the whole. */
  othersFirst: number
}

function groupsOf(whole: Mixture, part: Mixture): Groups {
  if (whole.others / whole.bearers >= part.others / part.bearers) return { ...evenGroups(part), othersFirst: 0 }
  const { bearers, others } = evenGroups(whole)
  const count = Math.min(Math.floor(part.bearers / bearers), Math.floor(part.others / others))
  return { bearers, others, count, othersFirst: part.others - count * others }
}

/** As many groups as there are of the rarer sort. */
function evenGroups({ bearers, others }: Mixture): Omit<Groups, 'othersFirst'> {
  const count = Math.min(bearers, others)
  return { count, bearers: Math.round(bearers / count), others: Math.round(others / count) }
}
