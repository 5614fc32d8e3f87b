import type { KubeObject } from '../../api/object.ts'
import type { Labels, MetricsRegistry, Series } from '../../base/metrics.ts'
import { keyOf, sharedFamilies } from '../../client/index.ts'
import type { OwnerMeasures } from './definition.ts'

/** How many pods of a workload may be, and are, unavailable. */
export interface Unavailability {
  max: number
  unavailable: number
  /** Whether more are than may be. */
  isTooMany: boolean
}

/** The series of one workload. */
interface Measured {
  labels: Labels
  max: Series
  unavailable: Series
  violations: Series
  /** Undefined before the first look: what a new process finds did not come to be so now. */
  isTooMany: boolean | undefined
}

/** Measures how many pods of each workload may be, and are, unavailable, and how often they came to be too many. `prefix` begins the names of the metrics. */
export function measuresUnavailability<Owner extends KubeObject, Observed>(
  prefix: string,
  labelsOf: (owner: Owner) => Labels,
  read: (seen: Observed) => Unavailability,
): (registry: MetricsRegistry) => OwnerMeasures<Owner, Observed> {
  const familiesOf = sharedFamilies((registry) => ({
    max: registry.gauge(`${prefix}_max_unavailable`, 'Number of pods that may be unavailable during a rolling update'),
    unavailable: registry.gauge(`${prefix}_unavailable_replicas`, 'Number of replicas that are missing, going or not available'),
    violations: registry.counter(`${prefix}_unavailability_violation`, 'Times that more replicas than may be unavailable came to be so'),
  }))
  return (registry) => {
    const { max, unavailable, violations } = familiesOf(registry)
    const known = new Map<string, Measured>()
    const begin = (labels: Labels): Measured => ({ labels, max: max.with(labels), unavailable: unavailable.with(labels), violations: violations.with(labels), isTooMany: undefined })
    return {
      gone(key) {
        const measured = known.get(key)
        if (measured) for (const family of [max, unavailable, violations]) family.remove(measured.labels)
        known.delete(key)
      },
      seen(owner, seen) {
        let measured = known.get(keyOf(owner))
        if (!measured) known.set(keyOf(owner), (measured = begin(labelsOf(owner))))
        const now = read(seen)
        measured.max.set(now.max)
        measured.unavailable.set(now.unavailable)
        measured.violations.inc(now.isTooMany && measured.isTooMany === false ? 1 : 0)
        measured.isTooMany = now.isTooMany
      },
    }
  }
}
