import type { CloneSet, Pod } from '../../api/generated/types.ts'
import { clonesets, controllerrevisions, persistentvolumeclaims, pods } from '../../client/index.ts'
import { defineController, ownedPods } from '../kit/index.ts'
import { announceProgress, isMereBinding, raisedQuotas, selectedOrphans, selectorIndex } from '../kit/workload/index.ts'
import type { Action } from './actions.ts'
import { apply } from './apply.ts'
import { measures } from './measures.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

const selecting = selectorIndex(clonesets, (set) => set.spec.selector)
const quotas = raisedQuotas(clonesets)

/** Like pods that are replaced, or updated as they run, by and by. */
export const cloneSetController = defineController<CloneSet, Observed, Action>({
  name: 'cloneset',
  isOptional: true,
  owner: clonesets,
  owns: [pods, controllerrevisions, persistentvolumeclaims],
  ownedConcern: (before, after) => !('spec' in after) || !isMereBinding(before as Pod, after as Pod),
  watches: [selectedOrphans(selecting, pods), quotas.watch],
  indexes: [selecting.index, quotas.index],
  gate: 'StaleControllerConsistencyCloneSet',
  statusType: 'CloneSetStatus',
  rosters: ownedPods,
  observe,
  plan,
  apply,
  status,
  changesInMs,
  statusMayWait,
  announce: announceProgress,
  measures,
})
