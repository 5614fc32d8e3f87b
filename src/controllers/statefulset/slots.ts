import type { StatefulSet } from '../../api/generated/types.ts'
import { startOrdinal } from './identity.ts'
import type { Member } from './member.ts'

/** A place that no pod has. */
export interface Empty {
  ordinal: number
  pod: undefined
  isUnavailable: true
}

/** A place in the set. */
export type Slot = Member | Empty

export interface Slots {
  /** One for every replica, by ordinal. */
  replicas: readonly Slot[]
  /** Pods outside of the range, from the highest ordinal. */
  condemned: readonly Member[]
}

/** Sorts a set's pods into its places. */
export function slotsOf(set: StatefulSet, members: readonly Member[]): Slots {
  const start = startOrdinal(set)
  const { replicas: count = 1 } = set.spec
  const replicas: (Slot | undefined)[] = Array.from({ length: count })
  const condemned: Member[] = []
  for (const member of members) {
    const place = member.ordinal - start
    if (place >= 0 && place < count) replicas[place] = member
    else condemned.push(member)
  }
  for (let place = 0; place < count; place++) replicas[place] ??= { ordinal: start + place, pod: undefined, isUnavailable: true }
  return { replicas: replicas as Slot[], condemned: condemned.sort((a, b) => b.ordinal - a.ordinal) }
}
