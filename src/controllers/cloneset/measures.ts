import type { CloneSet } from '../../api/generated/types.ts'
import { measuresUnavailability } from '../kit/index.ts'
import { lookAt } from './look.ts'
import type { Observed } from './observe.ts'

/** How many pods of each set may be, and are, unavailable, and how often they came to be too many. */
export const measures = measuresUnavailability(
  'cloneset_controller_cloneset',
  ({ metadata: { namespace = '', name = '' } }: CloneSet) => ({ cloneset_namespace: namespace, cloneset_name: name }),
  (seen: Observed) => {
    const { counts, bounds: { replicas, maxUnavailable } } = lookAt(seen)
    const unavailable = Math.max(0, replicas - counts.availableReplicas)
    return { max: maxUnavailable, unavailable, isTooMany: unavailable > maxUnavailable }
  },
)
