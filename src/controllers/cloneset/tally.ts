import type { Seat } from './entry.ts'

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

/** The pods of a set in numbers. Those of the update revision are the updated ones. */
export interface Tally {
  updated: Group
  outdated: Group
}

const none = (): Group => ({ count: 0, preparing: 0, asked: 0, askedUnavailable: 0, unavailable: 0 })

export const noTally = (): Tally => ({ updated: none(), outdated: none() })

/** Counts a member in, or out again. */
export function tallyIn(tally: Tally, { isUpdated, isAsked, state, isAvailable }: Seat, by: 1 | -1): void {
  const group = isUpdated ? tally.updated : tally.outdated
  group.count += by
  if (state === 'PreparingDelete') group.preparing += by
  else if (isAsked) {
    group.asked += by
    if (!isAvailable) group.askedUnavailable += by
  } else if (!isAvailable) group.unavailable += by
}

/** The same once `gone` have gone and `changed` are being updated as they run. */
export function tallyAfter(tally: Tally, gone: Iterable<Seat>, changed: Iterable<Seat>): Tally {
  const after: Tally = { updated: { ...tally.updated }, outdated: { ...tally.outdated } }
  for (const seat of gone) tallyIn(after, seat, -1)
  for (const seat of changed) {
    tallyIn(after, seat, -1)
    tallyIn(after, { ...seat, isUpdated: true, isAvailable: false }, 1)
  }
  return after
}

export const totalOf = ({ updated, outdated }: Tally): number => updated.count + outdated.count

/** How many serve nobody, or will not for long. Those that are asked to go are counted when they go. */
export const unavailableOf = ({ updated, outdated }: Tally): number => updated.preparing + updated.unavailable + outdated.preparing + outdated.unavailable
