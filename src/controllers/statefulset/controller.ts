import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import {
  type KubeObject,
  controllerOf,
  controllerrevisions,
  isControlledBy,
  keyOf,
  persistentvolumeclaims,
  pods,
  statefulsets,
} from '../../client/index.ts'
import { type Caches, defineController, measuresUnavailability, ownedPods, watching } from '../kit/index.ts'
import { announceProgress, isMereBinding, raisedQuotas } from '../kit/workload/index.ts'
import { type Action, apply } from './apply.ts'
import { type Derived, type Observed, derive, observe } from './observe.ts'
import { plan } from './plan.ts'
import { changesInMs, status, statusMayWait } from './status.ts'

/** The allowed and the actual number of unavailable pods of each set, and how often the limit was exceeded. */
const measures = measuresUnavailability(
  'statefulset_controller_statefulset',
  ({ metadata: { namespace = '', name = '' }, spec }: StatefulSet) => ({
    statefulset_namespace: namespace,
    statefulset_name: name,
    pod_management_policy: spec.podManagementPolicy ?? 'OrderedReady',
  }),
  (seen: Derived) => {
    const {
      ordinals: { wanted, counts },
      maxUnavailable,
      unavailable,
    } = seen
    return { max: maxUnavailable, unavailable, isTooMany: wanted - counts.availableReplicas > maxUnavailable }
  },
)

const quotas = raisedQuotas(statefulsets)

/** Maintains pods with stable names, in order or in parallel. */
export const statefulSetController = defineController<StatefulSet, Observed, Action, Derived>({
  name: 'statefulset',
  owner: statefulsets,
  sources: {
    owns: [pods, controllerrevisions],
    ownedConcern: (before, after) => !('spec' in after) || !isMereBinding(before as Pod, after as Pod),
    watches: [watching(pods, setOfNamesake, mayBeOrphan), watching(persistentvolumeclaims, setOfClaim), quotas.watch],
    indexes: [quotas.index],
    rosters: ownedPods,
  },
  consistency: { gate: 'StaleControllerConsistencyStatefulSet' },
  observe,
  derive,
  plan,
  apply,
  status: { compute: status, changesInMs, mayWait: statusMayWait, announce: announceProgress },
  measures,
})

const ordinalName = /^(.+)-[0-9]+$/

/**
 * The set that a pod of another owner is named after. The set may adopt the pod if it has no controller, or waits for
 * its deletion.
 */
function setOfNamesake({ metadata }: KubeObject, caches: Caches): string[] {
  const parent = ordinalName.exec(metadata.name ?? '')?.[1]
  const set = parent && caches.get(statefulsets, metadata.namespace ?? '', parent)
  return set && !isControlledBy({ metadata }, set) ? [keyOf(set)] : []
}

/** Changes of another owner's pod are ignored until it is deleted. */
function mayBeOrphan(before: KubeObject, after: KubeObject): boolean {
  return !controllerOf(before) || !controllerOf(after)
}

/** `data-web-0` is a claim of `web` if that has a template `data`. Every hyphen is tried as the separator. */
export function setOfClaim({ metadata }: KubeObject, caches: Caches): string[] {
  const parent = ordinalName.exec(metadata.name ?? '')?.[1] ?? ''
  const keys: string[] = []
  for (let at = parent.indexOf('-'); at >= 0; at = parent.indexOf('-', at + 1)) {
    const set = caches.get(statefulsets, metadata.namespace ?? '', parent.slice(at + 1))
    if (set?.spec.volumeClaimTemplates?.some((template) => template.metadata.name === parent.slice(0, at))) {
      keys.push(keyOf(set))
    }
  }
  return keys
}
