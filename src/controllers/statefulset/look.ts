import { percentOf } from '../../api/int-or-string.ts'
import { knowingLatest } from '../kit/workload/index.ts'
import { type Counts, countPods } from './counts.ts'
import type { Observed } from './observe.ts'
import { type Revisions, revisionsOf } from './revision.ts'
import { type Slots, slotsOf } from './slots.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look extends Slots {
  seen: Observed
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

/** The same for the observation that was asked about last. */
export const lookAt = knowingLatest(lookAnew)

function lookAnew(seen: Observed): Look {
  const { set, members } = seen
  const { replicas, condemned } = slotsOf(set, members)
  const revisions = revisionsOf(set, seen.history)
  let unavailable = 0
  for (const slot of replicas) if (slot.isUnavailable) unavailable++
  return {
    seen,
    replicas,
    condemned,
    revisions,
    isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    partition: set.spec.updateStrategy.rollingUpdate?.partition ?? 0,
    maxUnavailable: maxUnavailableOf(seen),
    counts: countPods(members, revisions),
    unavailable,
  }
}

/** At least one, or nothing would ever be updated; 1 while the gate is off, whatever the field says. */
function maxUnavailableOf({ set, honoursMaxUnavailable }: Observed): number {
  const value = honoursMaxUnavailable ? set.spec.updateStrategy.rollingUpdate?.maxUnavailable : undefined
  return value === undefined ? 1 : Math.max(1, percentOf(value, set.spec.replicas ?? 1, false))
}
