import type { CloneSetUpdateStrategy, UpdateScatterTerm } from '../../api/generated/types.ts'
import type { ActiveMember, Member } from './member.ts'
import type { Members } from './members.ts'
import { compareTurns } from './turn.ts'

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
