import { percentOf } from '../../api/numbers/int-or-string.ts'
import type { Observed } from './observe.ts'

/** An observation together with what several stages need of it. */
export interface Derived extends Observed {
  /** True if a pod must be available before the next one is changed. */
  isOrdered: boolean
  /** Replicas below this ordinal stay as they are when the template changes. */
  partition: number
  maxUnavailable: number
  /** The number of replicas that are to be at the update revision. */
  expectedUpdated: number
  /** The number of replicas that are not available. */
  unavailable: number
}

export function derive(seen: Observed): Derived {
  const { set, ordinals } = seen
  const { partition = 0 } = set.spec.updateStrategy.rollingUpdate ?? {}
  return {
    ...seen,
    isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    partition,
    maxUnavailable: maxUnavailableOf(seen),
    expectedUpdated: Math.max(0, ordinals.wanted - partition),
    unavailable: ordinals.unavailable.size + ordinals.missing,
  }
}

/** At least one, otherwise no pod would be updated. One while the feature gate is disabled, whatever the field says. */
function maxUnavailableOf({ set, honoursMaxUnavailable }: Observed): number {
  const value = honoursMaxUnavailable ? set.spec.updateStrategy.rollingUpdate?.maxUnavailable : undefined
  return value === undefined ? 1 : Math.max(1, percentOf(value, set.spec.replicas ?? 1, false))
}
