import { percentOf } from '../../api/int-or-string.ts'
import type { Observed } from './observe.ts'
import type { Counts, Places } from './places.ts'
import type { Revisions } from './revision.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look {
  seen: Observed
  places: Places
  revisions: Revisions
  /** Whether one pod is waited for before the next is touched. */
  isOrdered: boolean
  /** Replicas below this place stay as they are when the template changes. */
  partition: number
  maxUnavailable: number
  counts: Counts
  /** How many replicas are not available. */
  unavailable: number
}

export function lookAt(seen: Observed): Look {
  const { set, places, revisions } = seen
  return {
    seen,
    places,
    revisions,
    isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    partition: set.spec.updateStrategy.rollingUpdate?.partition ?? 0,
    maxUnavailable: maxUnavailableOf(seen),
    counts: places.counts,
    unavailable: places.unavailable.size + places.missing,
  }
}

/** At least one, or nothing would ever be updated; 1 while the gate is off, whatever the field says. */
function maxUnavailableOf({ set, honoursMaxUnavailable }: Observed): number {
  const value = honoursMaxUnavailable ? set.spec.updateStrategy.rollingUpdate?.maxUnavailable : undefined
  return value === undefined ? 1 : Math.max(1, percentOf(value, set.spec.replicas ?? 1, false))
}
