import type { MetricsRegistry, Series } from '../../base/metrics.ts'
import { sharedFamilies } from '../cache/shared-metrics.ts'

/** Reason why an event was dropped. */
type DropReason = 'spam' | 'queue_full' | 'retries' | 'rejected' | 'invalid' | 'closed'

/** The metrics of one recorder. */
export interface RecorderMetrics {
  recorded(type: string): void
  dropped(reason: DropReason): void
  written(verb: 'create' | 'patch'): void
  retried: Pick<Series, 'inc'>
  close(): void
}

const familiesOf = sharedFamilies((registry) => {
  const lengths = new Map<string, () => number>()
  return {
    lengths,
    length: registry.gauge('event_recorder_queue_length', 'Events that wait to be written', (gauge) => {
      for (const [component, length] of lengths) gauge.with({ component }).set(length())
    }),
    recorded: registry.counter('event_recorder_events_total', 'Events that happened, by type'),
    dropped: registry.counter('event_recorder_dropped_total', 'Events that were not written, by reason'),
    written: registry.counter('event_recorder_writes_total', 'Events written, by verb'),
    retried: registry.counter(
      'event_recorder_retries_total',
      'Attempts to write an event that failed and were to be repeated',
    ),
  }
})

/** Registers the metrics of a recorder, labelled with its component. */
export function measureRecorder(
  component: string,
  length: () => number,
  registry: MetricsRegistry | undefined,
): RecorderMetrics {
  const nothing = () => {}
  if (!registry)
    return { recorded: nothing, dropped: nothing, written: nothing, retried: { inc: nothing }, close: nothing }
  const families = familiesOf(registry)
  families.lengths.set(component, length)
  return {
    recorded: (type) => families.recorded.with({ component, type }).inc(),
    dropped: (reason) => families.dropped.with({ component, reason }).inc(),
    written: (verb) => families.written.with({ component, verb }).inc(),
    retried: families.retried.with({ component }),
    close: () => {
      if (families.lengths.get(component) !== length) return
      families.lengths.delete(component)
      families.length.remove({ component })
    },
  }
}
