import type { StatefulSet } from '../../api/generated/types.ts'
import { measuresUnavailability } from '../kit/index.ts'
import { lookAt } from './look.ts'
import type { Observed } from './observe.ts'

/** How many pods of each set may be, and are, unavailable, and how often they came to be too many. */
export const measures = measuresUnavailability(
  'statefulset_controller_statefulset',
  ({ metadata: { namespace = '', name = '' }, spec }: StatefulSet) => ({
    statefulset_namespace: namespace,
    statefulset_name: name,
    pod_management_policy: spec.podManagementPolicy ?? 'OrderedReady',
  }),
  (seen: Observed) => {
    const { places, counts, maxUnavailable, unavailable } = lookAt(seen)
    return { max: maxUnavailable, unavailable, isTooMany: places.wanted - counts.availableReplicas > maxUnavailable }
  },
)
