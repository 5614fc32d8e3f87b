import type { CloneSetUpdateStrategy, UpdatePriorityStrategy, UpdateScatterTerm } from '../../api/generated/types.ts'
import { type Int64, compareInt64 } from '../../api/int64.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { byDeletionRank } from '../kit/workload/index.ts'
import type { Member } from './member.ts'

const nowhere: ReadonlyMap<string, number> = new Map()

/**
 * The order in which outdated pods are updated: those that would be missed least first; then what the priority strategy puts first; then spread as the scatter
 * strategy says. Those whose hook was asked already come before all. `all` are all pods of the set, by which is told how dense a label is.
 */
export function inUpdateOrder(outdated: readonly Member[], all: readonly Member[], strategy: CloneSetUpdateStrategy, nowMs: number): Member[] {
  if (outdated.length < 2) return [...outdated]
  const byPod = new Map(outdated.map((member) => [member.pod, member]))
  const ranked = byDeletionRank([...byPod.keys()], nowhere, nowMs).map((pod) => byPod.get(pod)!)
  const scattered = scatter(byPriority(ranked, strategy.priorityStrategy), all, strategy.scatterStrategy ?? [])
  const isPreparing = ({ state }: Member): boolean => state === 'PreparingUpdate'
  return scattered.some(isPreparing) ? [...scattered.filter(isPreparing), ...scattered.filter((member) => !isPreparing(member))] : scattered
}

const labelsOf = ({ pod }: Member): Readonly<Record<string, string>> => pod.metadata.labels ?? {}

/** By the sum of the weights, the heaviest first; or by a label's number, the highest first, and those before them that have none of the labels. */
export function byPriority(members: readonly Member[], { weightPriority = [], orderPriority = [] }: UpdatePriorityStrategy = {}): Member[] {
  if (weightPriority.length > 0) {
    const terms = weightPriority.map(({ weight, matchSelector }) => ({ weight, matches: compileLabelSelector(matchSelector) }))
    const weightOf = (member: Member): number => terms.reduce((sum, { weight, matches }) => (matches(labelsOf(member)) ? sum + weight : sum), 0)
    return sortedBy(members, (member) => [-weightOf(member)])
  }
  if (orderPriority.length === 0) return [...members]
  return sortedBy(members, (member) => {
    const labels = labelsOf(member)
    const level = orderPriority.findIndex(({ orderedKey }) => labels[orderedKey] !== undefined)
    return level < 0 ? [-1, 0] : [level, -trailingNumber(labels[orderPriority[level]!.orderedKey]!)]
  })
}

/** 10 of `web-10`; 0 of what ends with no digit. */
const trailingNumber = (text: string): bigint => BigInt(/[0-9]*$/.exec(text)![0])

function sortedBy(members: readonly Member[], keyOf: (member: Member) => readonly Int64[]): Member[] {
  const keyed = members.map((member) => ({ member, key: keyOf(member) }))
  const compare = (a: readonly Int64[], b: readonly Int64[]): number =>
    a.map((value, i) => compareInt64(value, b[i]!)).find((order) => order !== 0) ?? 0
  return keyed.sort((a, b) => compare(a.key, b.key)).map(({ member }) => member)
}

/** Spreads the bearers of each label over the whole, those of the commonest label first. */
export function scatter(members: readonly Member[], all: readonly Member[], terms: readonly UpdateScatterTerm[]): Member[] {
  if (terms.length === 0 || members.length < 2) return [...members]
  const bearers = (term: UpdateScatterTerm): number => members.filter((member) => bears(member, term)).length
  const ordered = terms.length === 1 ? terms : terms.filter((term) => bearers(term) > 0).toSorted((a, b) => bearers(b) - bearers(a))
  return ordered.reduce((spread: readonly Member[], term) => spreadOut(spread, all, term), members) as Member[]
}

const bears = (member: Member, { key, value }: UpdateScatterTerm): boolean => labelsOf(member)[key] === value

/**
 * Alternates groups of bearers and others, as dense as both are in the whole set, so that what is updated first looks like the set. One bearer comes last: the
 * label is not through before everything is.
 */
function spreadOut(members: readonly Member[], all: readonly Member[], term: UpdateScatterTerm): Member[] {
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
