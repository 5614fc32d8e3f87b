import type { FeatureGates } from '../api/feature-gates.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { ServerParts } from './request.ts'

/** What the server tells of itself besides its requests, under upstream's names where it has them. */
export function registerServerMetrics(registry: MetricsRegistry, parts: ServerParts, gates: FeatureGates): void {
  const enabled = registry.gauge('kubernetes_feature_enabled', 'This metric records the data about the stage and enablement of a k8s feature.')
  for (const gate of gates.all()) enabled.with({ name: gate.name, stage: gate.stage }).set(gate.enabled ? 1 : 0)

  const { objects, registry: resources } = parts
  registry.gauge('apiserver_storage_objects', 'Number of stored objects at the time of last check split by kind.', (gauge) => {
    for (const place of resources.storages()) gauge.with({ resource: storageName(place.resource) }).set(objects.cache(place).size)
  })
  registry.gauge('apiserver_watch_cache_watchers', 'Number of watches that follow each resource live.', (gauge) => {
    for (const place of resources.storages()) gauge.with({ resource: storageName(place.resource) }).set(objects.cache(place).listeners)
  })
  registry.gauge('apiserver_storage_size_bytes', 'Size of the storage database file physically allocated in bytes.', (gauge) => {
    gauge.with().set(objects.store.size())
  })
  registry.gauge('coxswain_store_revision', 'The newest revision of the store.', (gauge) => gauge.with().set(objects.revision))
  registry.gauge('coxswain_store_compacted_revision', 'The revision up to which history is gone.', (gauge) => gauge.with().set(objects.store.compactedRevision))
  registry.gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', (gauge) => gauge.with().set(process.memoryUsage.rss()))
  registry.counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', (counter) => {
    const { user, system } = process.cpuUsage()
    counter.with().set((user + system) / 1e6)
  })
  registry.gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.').with().set(Math.round(Date.now() / 1000 - process.uptime()))
}

const storageName = ({ group, plural }: { group: string; plural: string }) => (group ? `${plural}.${group}` : plural)
