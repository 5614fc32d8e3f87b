import type { KubeObject } from '../../api/object.ts'
import type { Counter, Labels, MetricsRegistry, Observer, Series } from '../../base/metrics.ts'
import { keyOf, sharedFamilies } from '../../client/index.ts'
import type { OwnerMeasures } from './definition.ts'
import type { Result } from './errors.ts'
import type { Permission } from './queueing/denials.ts'

/** The metrics of one controller. */
export interface ControllerMetrics {
  reconciled(result: Result, seconds: number): void
  /** A reconcile was deferred because the cache lacks a write to this resource, for example `replicasets.apps`. */
  staleSkip(resource: string): void
  /** The number of objects that wait for a permission. */
  denied(permission: Permission, objects: number): void
}

const familiesOf = sharedFamilies((registry) => ({
  total: registry.counter('controller_runtime_reconcile_total', 'Total number of reconciliations per controller'),
  errors: registry.counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
  ),
  terminal: registry.counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
  ),
  seconds: registry.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation per controller',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ),
  denied: registry.gauge(
    'controller_permission_denied_objects',
    'Number of objects whose last reconciliation lacked a permission, per controller',
  ),
  skips: new Map<string, Counter>(),
}))

const unmeasured: ControllerMetrics = { reconciled: () => {}, staleSkip: () => {}, denied: () => {} }

/**
 * The metrics of controller-runtime, labelled with the controller's name, and the stale sync skips of KEP-5647, which
 * have it in their name.
 */
export function measureController(controller: string, registry: MetricsRegistry | undefined): ControllerMetrics {
  if (!registry) return unmeasured
  const families = familiesOf(registry)
  let skips = families.skips.get(controller)
  if (!skips) {
    const name = `${controller.replaceAll('-', '_')}_stale_sync_skips_total`
    skips = registry.counter(
      name,
      `Number of reconciliations delayed because the ${controller} controller's cache lacked its own writes`,
    )
    families.skips.set(controller, skips)
  }
  const seconds: Observer = families.seconds.with({ controller })
  const errors = families.errors.with({ controller })
  const terminal = families.terminal.with({ controller })
  return {
    reconciled(result, took) {
      families.total.with({ controller, result }).inc()
      seconds.observe(took)
      if (result === 'error' || result === 'terminal') errors.inc()
      if (result === 'terminal') terminal.inc()
    },
    staleSkip(resource) {
      const dot = resource.indexOf('.')
      const labels =
        dot < 0 ? { group: '', resource } : { group: resource.slice(dot + 1), resource: resource.slice(0, dot) }
      skips.with(labels).inc()
    },
    denied({ verb, resource, group }, objects) {
      const labels = { controller, verb, group, resource }
      if (objects > 0) families.denied.with(labels).set(objects)
      else families.denied.remove(labels)
    },
  }
}

/** The number of pods of a workload that may be, and that are, unavailable. */
export interface Unavailability {
  max: number
  unavailable: number
  /** True if the limit is exceeded. */
  isTooMany: boolean
}

/** The series of one workload. */
interface Measured {
  labels: Labels
  max: Series
  unavailable: Series
  violations: Series
  /** Undefined before the first observation: a state that a new process finds is not a new violation. */
  isTooMany: boolean | undefined
}

/**
 * Measures the allowed and the actual number of unavailable pods per workload, and how often the limit was exceeded.
 * Metric names begin with `prefix`.
 */
export function measuresUnavailability<Owner extends KubeObject, Observed>(
  prefix: string,
  labelsOf: (owner: Owner) => Labels,
  read: (seen: Observed) => Unavailability,
): (registry: MetricsRegistry) => OwnerMeasures<Owner, Observed> {
  const familiesOf = sharedFamilies((registry) => ({
    max: registry.gauge(`${prefix}_max_unavailable`, 'Number of pods that may be unavailable during a rolling update'),
    unavailable: registry.gauge(
      `${prefix}_unavailable_replicas`,
      'Number of replicas that are missing, terminating or not available',
    ),
    violations: registry.counter(
      `${prefix}_unavailability_violation`,
      'Number of times that the limit of unavailable replicas was exceeded',
    ),
  }))
  return (registry) => {
    const { max, unavailable, violations } = familiesOf(registry)
    const known = new Map<string, Measured>()
    const begin = (labels: Labels): Measured => ({
      labels,
      max: max.with(labels),
      unavailable: unavailable.with(labels),
      violations: violations.with(labels),
      isTooMany: undefined,
    })
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
