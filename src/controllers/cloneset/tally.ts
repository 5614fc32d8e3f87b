import type { Member } from './member.ts'

/** Pods of one sort, by what is to become of them. */
export interface Group {
  /** All of them. */
  count: number
  /** Those whose hook holds them before their deletion. */
  preparing: number
  /** Those whose deletion somebody asks for, of the others, and how many of these are not available. */
  asked: number
  askedUnavailable: number
  /** Those that are not available, of the rest. */
  unavailable: number
}

/** The pods of a set in numbers. */
export interface Tally {
  updated: Group
  outdated: Group
}

const none = (): Group => ({ count: 0, preparing: 0, asked: 0, askedUnavailable: 0, unavailable: 0 })

/** Counts members. Those of the update revision are the updated ones. */
export function tallyOf(members: Iterable<Member>, updateHash: string, isAsked: (member: Member) => boolean): Tally {
  const tally: Tally = { updated: none(), outdated: none() }
  for (const member of members) add(member.hash === updateHash ? tally.updated : tally.outdated, member, isAsked(member), 1)
  return tally
}

/** The same once `gone` have gone and `changed` are being updated as they run. */
export function tallyAfter(tally: Tally, gone: Iterable<Member>, changed: Iterable<Member>, updateHash: string, isAsked: (member: Member) => boolean): Tally {
  const after: Tally = { updated: { ...tally.updated }, outdated: { ...tally.outdated } }
  const groupOf = ({ hash }: Member) => (hash === updateHash ? after.updated : after.outdated)
  for (const member of gone) add(groupOf(member), member, isAsked(member), -1)
  for (const member of changed) {
    add(groupOf(member), member, isAsked(member), -1)
    add(after.updated, { ...member, isAvailable: false }, isAsked(member), 1)
  }
  return after
}

function add(group: Group, { state, isAvailable }: Member, isAsked: boolean, by: 1 | -1): void {
  group.count += by
  if (state === 'PreparingDelete') group.preparing += by
  else if (isAsked) {
    group.asked += by
    if (!isAvailable) group.askedUnavailable += by
  } else if (!isAvailable) group.unavailable += by
}

export const totalOf = ({ updated, outdated }: Tally): number => updated.count + outdated.count

/** How many serve nobody, or will not for long. Those that are asked to go are counted when they go. */
export const unavailableOf = ({ updated, outdated }: Tally): number => updated.preparing + updated.unavailable + outdated.preparing + outdated.unavailable
