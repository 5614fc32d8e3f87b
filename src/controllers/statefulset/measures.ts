import type { StatefulSet } from '../../api/generated/types.ts'
import type { Labels, MetricsRegistry, Series } from '../../base/metrics.ts'
import { keyOf, sharedFamilies } from '../../client/index.ts'
import type { OwnerMeasures } from '../kit/index.ts'
import { lookAt } from './look.ts'
import type { Observed } from './observe.ts'

const prefix = 'statefulset_controller_statefulset'

const familiesOf = sharedFamilies((registry) => ({
  max: registry.gauge(`${prefix}_max_unavailable`, 'Number of pods that may be unavailable during a rolling update'),
  unavailable: registry.gauge(`${prefix}_unavailable_replicas`, 'Number of replicas that are missing, going or not available'),
  violations: registry.counter(`${prefix}_unavailability_violation`, 'Times that more replicas than may be unavailable came to be so'),
}))

/** The series of one set. */
interface Measured {
  labels: Labels
  max: Series
  unavailable: Series
  violations: Series
  /** Undefined before the first look: what a new process finds did not come to be so now. */
  isTooMany: boolean | undefined
}

/** How many pods of each set may be, and are, unavailable, and how often they came to be too many. */
export function measures(registry: MetricsRegistry): OwnerMeasures<StatefulSet, Observed> {
  const { max, unavailable, violations } = familiesOf(registry)
  const sets = new Map<string, Measured>()
  const begin = ({ metadata: { namespace = '', name = '' }, spec }: StatefulSet): Measured => {
    const labels = { statefulset_namespace: namespace, statefulset_name: name, pod_management_policy: spec.podManagementPolicy ?? 'OrderedReady' }
    return { labels, max: max.with(labels), unavailable: unavailable.with(labels), violations: violations.with(labels), isTooMany: undefined }
  }
  return {
    gone(key) {
      const known = sets.get(key)
      if (known) for (const family of [max, unavailable, violations]) family.remove(known.labels)
      sets.delete(key)
    },
    seen(set, seen) {
      const look = lookAt(seen)
      let measured = sets.get(keyOf(set))
      if (!measured) sets.set(keyOf(set), (measured = begin(set)))
      const isTooMany = look.replicas.length - look.counts.availableReplicas > look.maxUnavailable
      measured.max.set(look.maxUnavailable)
      measured.unavailable.set(look.unavailable)
      measured.violations.inc(isTooMany && measured.isTooMany === false ? 1 : 0)
      measured.isTooMany = isTooMany
    },
  }
}
