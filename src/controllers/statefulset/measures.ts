import type { StatefulSet } from '../../api/generated/types.ts'
import type { Labels, MetricsRegistry } from '../../base/metrics.ts'
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

/** How many pods of each set may be, and are, unavailable, and how often they came to be too many. */
export function measures(registry: MetricsRegistry): OwnerMeasures<StatefulSet, Observed> {
  const { max, unavailable, violations } = familiesOf(registry)
  const sets = new Map<string, { labels: Labels; isTooMany: boolean }>()
  const forget = (key: string) => {
    const known = sets.get(key)
    if (known) for (const family of [max, unavailable, violations]) family.remove(known.labels)
    sets.delete(key)
  }
  return {
    gone: forget,
    seen(set, seen) {
      const { namespace = '', name = '' } = set.metadata
      const look = lookAt(seen)
      const labels = { statefulset_namespace: namespace, statefulset_name: name, pod_management_policy: set.spec.podManagementPolicy ?? 'OrderedReady' }
      const missing = look.replicas.length - look.counts.availableReplicas
      const isTooMany = missing > look.maxUnavailable
      max.with(labels).set(look.maxUnavailable)
      unavailable.with(labels).set(look.replicas.filter(({ pod }) => look.isUnavailable(pod)).length)
      violations.with(labels).inc(isTooMany && sets.get(keyOf(set))?.isTooMany === false ? 1 : 0)
      sets.set(keyOf(set), { labels, isTooMany })
    },
  }
}
