import type { FeatureGates } from '../../api/feature-gates.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'

/** Registers metrics of the process: feature gates, memory, CPU time. */
export function registerProcessMetrics(registry: MetricsRegistry, gates: FeatureGates): void {
  const enabled = registry.gauge(
    'kubernetes_feature_enabled',
    'This metric records the data about the stage and enablement of a k8s feature.',
  )
  for (const gate of gates.all()) enabled.with({ name: gate.name, stage: gate.stage }).set(gate.enabled ? 1 : 0)
  registry.gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', (gauge) => {
    try {
      gauge.with().set(process.memoryUsage.rss())
    } catch {
      // Node reads a file. Without a free descriptor the last value stays.
    }
  })
  registry.counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', (counter) => {
    const { user, system } = process.cpuUsage()
    counter.with().set((user + system) / 1e6)
  })
  registry
    .gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.')
    .with()
    .set(Math.round(Date.now() / 1000 - process.uptime()))
}
