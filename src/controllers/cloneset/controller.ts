import type { CloneSet, Pod } from '../../api/generated/types.ts'
import { clonesets, controllerrevisions, persistentvolumeclaims, pods } from '../../client/index.ts'
import { defineController, measuresUnavailability, ownedPods } from '../kit/index.ts'
import { announceProgress, isMereBinding, raisedQuotas, selectedOrphans, selectorIndex } from '../kit/workload/index.ts'
import { type Action, apply } from './apply.ts'
import { type Derived, derive } from './derive.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

/** The allowed and the actual number of unavailable pods of each set, and how often the limit was exceeded. */
const measures = measuresUnavailability(
  'cloneset_controller_cloneset',
  ({ metadata: { namespace = '', name = '' } }: CloneSet) => ({ cloneset_namespace: namespace, cloneset_name: name }),
  (seen: Derived) => {
    const {
      counts,
      bounds: { replicas, maxUnavailable },
    } = seen
    const unavailable = Math.max(0, replicas - counts.availableReplicas)
    return { max: maxUnavailable, unavailable, isTooMany: unavailable > maxUnavailable }
  },
)

const selecting = selectorIndex(clonesets, (set) => set.spec.selector)
const quotas = raisedQuotas(clonesets)

/** Maintains identical pods that are updated in place or replaced. */
export const cloneSetController = defineController<CloneSet, Observed, Action, Derived>({
  name: 'cloneset',
  isOptional: true,
  owner: clonesets,
  sources: {
    owns: [pods, controllerrevisions, persistentvolumeclaims],
    ownedConcern: (before, after) => !('spec' in after) || !isMereBinding(before as Pod, after as Pod),
    watches: [selectedOrphans(selecting, pods), quotas.watch],
    indexes: [selecting.index, quotas.index],
    rosters: ownedPods,
  },
  consistency: { gate: 'StaleControllerConsistencyCloneSet' },
  status: { type: 'CloneSetStatus', compute: status, changesInMs, mayWait: statusMayWait, announce: announceProgress },
  observe,
  derive,
  plan,
  apply,
  measures,
})
