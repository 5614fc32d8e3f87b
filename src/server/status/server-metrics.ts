import type { FeatureGates } from '../../api/feature-gates.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { registerProcessMetrics } from './process-metrics.ts'
import type { ServerParts } from '../requests/request.ts'

/** Registers metrics of the server besides its requests, under Kubernetes' names where they exist. */
export function registerServerMetrics(registry: MetricsRegistry, parts: ServerParts, gates: FeatureGates): void {
  registerProcessMetrics(registry, gates)
  const { objects, registry: resources } = parts
  registry.gauge(
    'apiserver_storage_objects',
    'Number of stored objects at the time of last check split by kind.',
    (gauge) => {
      for (const place of resources.storages())
        gauge.with({ resource: storageName(place.resource) }).set(objects.cache(place).size)
    },
  )
  registry.gauge('apiserver_watch_cache_watchers', 'Number of watches that follow each resource live.', (gauge) => {
    for (const place of resources.storages())
      gauge.with({ resource: storageName(place.resource) }).set(objects.cache(place).listeners)
  })
  registry.gauge(
    'apiserver_storage_size_bytes',
    'Size of the storage database file physically allocated in bytes.',
    (gauge) => {
      gauge.with().set(objects.store.size())
    },
  )
  registry.gauge('coxswain_store_revision', 'The newest revision of the store.', (gauge) =>
    gauge.with().set(objects.revision),
  )
  registry.gauge('coxswain_store_compacted_revision', 'The revision up to which history is gone.', (gauge) =>
    gauge.with().set(objects.store.compactedRevision),
  )
  const { store } = objects
  if (!store.silenceMs) return
  registry.gauge(
    'coxswain_store_silence_seconds',
    'How long the shared store has not answered; 0 while it answers.',
    (gauge) => gauge.with().set(store.silenceMs!() / 1000),
  )
}

const storageName = ({ group, plural }: { group: string; plural: string }) => (group ? `${plural}.${group}` : plural)
