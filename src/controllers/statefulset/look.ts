import type { Pod } from '../../api/generated/types.ts'
import { percentOf } from '../../api/int-or-string.ts'
import { isPodAvailable, isPodTerminating } from '../kit/workload/index.ts'
import { type Counts, countPods } from './counts.ts'
import type { Observed } from './observe.ts'
import { type Revisions, revisionsOf } from './revision.ts'
import { type Slots, slotsOf } from './slots.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look extends Slots {
  seen: Observed
  pods: readonly Pod[]
  revisions: Revisions
  /** Whether one pod is waited for before the next is touched. */
  isOrdered: boolean
  /** Replicas below this place stay as they are when the template changes. */
  partition: number
  maxUnavailable: number
  counts: Counts
  /** Whether a pod runs and has been ready for long enough, even if it is on its way out. */
  isRunningAndAvailable(pod: Pod): boolean
  /** What counts against maxUnavailable: missing, going, or not ready for long enough. */
  isUnavailable(pod: Pod | undefined): boolean
}

const looks = new WeakMap<Observed, Look>()

/** The same for the same observation: every stage asks. */
export function lookAt(seen: Observed): Look {
  let look = looks.get(seen)
  if (!look) looks.set(seen, (look = lookAnew(seen)))
  return look
}

function lookAnew(seen: Observed): Look {
  const { set, pods: claimed, nowMs } = seen
  const pods = [...claimed.kept, ...claimed.adopt]
  const { minReadySeconds = 0 } = set.spec
  const isRunningAndAvailable = (pod: Pod) => pod.status?.phase === 'Running' && isPodAvailable(pod, minReadySeconds, nowMs)
  const look = {
    seen,
    pods,
    ...slotsOf(set, pods),
    revisions: revisionsOf(set, seen.history),
    isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    partition: set.spec.updateStrategy.rollingUpdate?.partition ?? 0,
    maxUnavailable: maxUnavailableOf(seen),
    isRunningAndAvailable,
    isUnavailable: (pod: Pod | undefined) => !pod || isPodTerminating(pod) || !isRunningAndAvailable(pod),
  }
  return { ...look, counts: countPods(look) }
}

/** At least one, or nothing would ever be updated; 1 while the gate is off, whatever the field says. */
function maxUnavailableOf({ set, honoursMaxUnavailable }: Observed): number {
  const value = honoursMaxUnavailable ? set.spec.updateStrategy.rollingUpdate?.maxUnavailable : undefined
  return value === undefined ? 1 : Math.max(1, percentOf(value, set.spec.replicas ?? 1, false))
}
