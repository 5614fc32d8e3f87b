import type { MetricsRegistry } from '../../base/metrics.ts'

/**
 * Registers families with a registry on first use, so that all queues, recorders or electors of a process share them.
 */
export function sharedFamilies<F>(register: (registry: MetricsRegistry) => F): (registry: MetricsRegistry) => F {
  const families = new WeakMap<MetricsRegistry, F>()
  return (registry) => {
    let found = families.get(registry)
    if (!found) families.set(registry, (found = register(registry)))
    return found
  }
}
