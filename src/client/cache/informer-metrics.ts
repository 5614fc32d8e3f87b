import type { Gauge, Labels, MetricsRegistry, Series } from '../../base/metrics.ts'
import type { InformerLag } from './informer.ts'
import { sharedFamilies } from './shared-metrics.ts'
import type { Absence, RestartReason } from '../watcher/index.ts'

/** The state of an informer that each scrape reads. */
interface MeasuredInformer {
  readonly name: string
  readonly lag: InformerLag
  readonly lastSyncResourceVersion: string
  readonly size: number
  /** Number of objects received but not cached yet. */
  readonly queued: number
  /** Set while the API is not served or not allowed. */
  readonly absence: Absence | undefined
}

/** The counters of one informer. */
export interface InformerMetrics {
  restarts(reason: RestartReason): Series
  lists(how: 'list' | 'stream'): Series
  events(type: string): Series
  failures: Series
  /** Adds the informer's gauges to scrapes until the returned function is called. Counters stay. */
  measure(informer: MeasuredInformer): () => void
}

const familiesOf = sharedFamilies((registry) => {
  const informers = new Set<MeasuredInformer>()
  const gauges: { gauge: Gauge; kinds: readonly string[] }[] = []
  const labels = (name: string, kind: string): Labels => (kind ? { name, kind } : { name })
  const gauge = (name: string, help: string, readings: Record<string, (informer: MeasuredInformer) => number>) => {
    const read = (g: Gauge) => {
      for (const informer of informers)
        for (const [kind, value] of Object.entries(readings)) g.with(labels(informer.name, kind)).set(value(informer))
    }
    gauges.push({ gauge: registry.gauge(name, help, read), kinds: Object.keys(readings) })
  }
  gauge(
    'informer_lag_seconds',
    'Lag of an informer: age of the oldest known write that it has not seen, and time since its last message.',
    {
      unseen_write: (i) => i.lag.unseenWriteSeconds(),
      silence: (i) => i.lag.silentSeconds(),
    },
  )
  gauge('informer_store_resource_version', 'The resource version up to which an informer has seen everything.', {
    '': (i) => Number(i.lastSyncResourceVersion),
  })
  gauge('informer_store_objects', 'Objects in the cache of an informer.', { '': (i) => i.size })
  gauge('informer_queued_items', 'Objects that an informer has received and that are not in its cache yet.', {
    '': (i) => i.queued,
  })
  gauge(
    'informer_api_absent',
    '1 while an informer cannot follow its resource because the API server does not serve it (missing) or does not allow it (forbidden).',
    {
      missing: (i) => (i.absence?.kind === 'missing' ? 1 : 0),
      forbidden: (i) => (i.absence?.kind === 'forbidden' ? 1 : 0),
    },
  )
  return {
    informers,
    forget(name: string) {
      for (const { gauge, kinds } of gauges) for (const kind of kinds) gauge.remove(labels(name, kind))
    },
    restarts: registry.counter(
      'informer_watch_restarts_total',
      'Number of watches that were resumed or restarted, by reason.',
    ),
    lists: registry.counter(
      'informer_list_total',
      'Number of requests for all objects: pages of lists, and watches with initial events.',
    ),
    events: registry.counter('informer_events_total', 'Number of events that an informer received, by type.'),
    failures: registry.counter(
      'informer_handler_errors_total',
      'Number of errors of informer callbacks: handlers, indexes, transforms.',
    ),
  }
})

/** Returns the metrics of an informer by its name. */
export function informerMetrics(registry: MetricsRegistry, name: string): InformerMetrics {
  const families = familiesOf(registry)
  return {
    restarts: (reason) => families.restarts.with({ name, reason }),
    lists: (how) => families.lists.with({ name, how }),
    events: (type) => families.events.with({ name, type }),
    failures: families.failures.with({ name }),
    measure(informer) {
      families.informers.add(informer)
      return () => {
        families.informers.delete(informer)
        if (![...families.informers].some((i) => i.name === name)) families.forget(name)
      }
    },
  }
}
