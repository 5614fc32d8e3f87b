import type { Counter, MetricsRegistry, Observer } from '../../base/metrics.ts'
import { sharedFamilies } from '../../client/index.ts'
import type { Result } from './errors.ts'

/** What is counted about one controller. */
export interface ControllerMetrics {
  reconciled(result: Result, seconds: number): void
  /** A reconcile that was put off because the cache lacks a write to this resource, `replicasets.apps`. */
  staleSkip(resource: string): void
}

const familiesOf = sharedFamilies((registry) => ({
  total: registry.counter('controller_runtime_reconcile_total', 'Total number of reconciliations per controller'),
  errors: registry.counter('controller_runtime_reconcile_errors_total', 'Total number of reconciliation errors per controller'),
  terminal: registry.counter('controller_runtime_terminal_reconcile_errors_total', 'Total number of terminal reconciliation errors per controller'),
  seconds: registry.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation per controller',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ),
  skips: new Map<string, Counter>(),
}))

const unmeasured: ControllerMetrics = { reconciled: () => {}, staleSkip: () => {} }

/** controller-runtime's metrics, with the name of the controller as label, and the skips of spec 5647, with it in the name. */
export function measureController(controller: string, registry: MetricsRegistry | undefined): ControllerMetrics {
  if (!registry) return unmeasured
  const families = familiesOf(registry)
  let skips = families.skips.get(controller)
  if (!skips) {
    const name = `${controller.replaceAll('-', '_')}_stale_sync_skips_total`
    skips = registry.counter(name, `Reconciliations that were put off because the ${controller} controller's cache lacked its own writes`)
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
      const labels = dot < 0 ? { group: '', resource } : { group: resource.slice(dot + 1), resource: resource.slice(0, dot) }
      skips.with(labels).inc()
    },
  }
}
