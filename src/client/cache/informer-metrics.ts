import type { MetricsRegistry, Series } from '../../base/metrics.ts'
import type { InformerLag } from '../informer.ts'
import type { RestartReason } from '../watcher/index.ts'

/** What is read of an informer whenever metrics are scraped. */
export interface MeasuredInformer {
  readonly name: string
  readonly lag: InformerLag
  readonly lastSyncResourceVersion: string
  readonly size: number
  /** Received and not in the cache yet. */
  readonly queued: number
}

/** The metrics of all informers of a process: made once for a registry. */
export class InformerMetrics {
  readonly #informers = new Set<MeasuredInformer>()
  readonly #restarts
  readonly #lists
  readonly #events
  readonly #failures

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string, read: (informer: MeasuredInformer) => number) => {
      registry.gauge(name, help, (g) => {
        for (const informer of this.#informers) g.with({ name: informer.name }).set(read(informer))
      })
    }
    registry.gauge(
      'informer_lag_seconds',
      'How far an informer is behind: age of the oldest write that it is known not to have seen, and time since it last heard anything.',
      (g) => {
        for (const { name, lag } of this.#informers) {
          g.with({ name, kind: 'unseen_write' }).set(lag.unseenWriteSeconds())
          g.with({ name, kind: 'silence' }).set(lag.silentSeconds())
        }
      },
    )
    gauge('informer_store_resource_version', 'The resource version up to which an informer has seen everything.', (i) => Number(i.lastSyncResourceVersion))
    gauge('informer_store_objects', 'Objects in the cache of an informer.', (i) => i.size)
    gauge('informer_queued_items', 'Objects that an informer has received and that are not in its cache yet.', (i) => i.queued)
    this.#restarts = registry.counter('informer_watch_restarts_total', 'Watches that were resumed or begun anew, by reason.')
    this.#lists = registry.counter('informer_list_total', 'Requests for all there is: pages of lists, and watches that begin with it.')
    this.#events = registry.counter('informer_events_total', 'Events that an informer was told, by type.')
    this.#failures = registry.counter('informer_handler_errors_total', 'Errors thrown by what an informer calls: handlers, indexes, transforms.')
  }

  /** Begins to measure an informer; the returned function ends that. */
  add(informer: MeasuredInformer): () => void {
    this.#informers.add(informer)
    return () => this.#informers.delete(informer)
  }

  restarts = (name: string, reason: RestartReason): Series => this.#restarts.with({ name, reason })
  lists = (name: string, how: 'list' | 'stream'): Series => this.#lists.with({ name, how })
  events = (name: string, type: string): Series => this.#events.with({ name, type })
  failures = (name: string): Series => this.#failures.with({ name })
}
