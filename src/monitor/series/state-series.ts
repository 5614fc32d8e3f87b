import type { Int64 } from '../../api/int64.ts'
import { type Gauge, type Labels, type MetricsRegistry, labelText } from '../../base/metrics.ts'
import { sharedFamilies } from '../../client/index.ts'

/** A value under labels that one object has several of; labels may be given as the text that they are told as. */
export type Sample = readonly [labels: Labels | string, value: number]

/** One metric that every object of a kind has. */
export interface StateFamily<T> {
  name: string
  help: string
  type?: 'gauge' | 'counter'
  /** Undefined where an object has none. */
  of(object: T, nowMs: number): Int64 | undefined | readonly Sample[]
}

/** Objects whose state is told. A series is there for as long as its object is. */
export interface StateSource<T extends object> {
  /** What they are called where some are left out. */
  resource: string
  size(): number
  objects(): Iterable<T>
  /** The labels that tell one from the other, as text. */
  identityOf(object: T): string
  families: readonly StateFamily<T>[]
}

const familiesOf = sharedFamilies((registry) => {
  const sources: { source: StateSource<never>; limit: number }[] = []
  const read = (gauge: Gauge) => {
    for (const { source, limit } of sources) gauge.with({ resource: source.resource }).set(Math.max(0, source.size() - limit))
  }
  registry.gauge('coxswain_monitor_objects_without_series', 'Objects whose state is not told, as there are too many of their kind.', read)
  const failures = registry.counter('coxswain_monitor_series_errors_total', 'Objects of which a metric could not be told, each time it was asked for.')
  return { sources, failed: (metric: string) => failures.with({ metric }).inc() }
})

/** Tells the state of objects at each scrape: of the first `limit` of them. */
export function registerState<T extends object>(metrics: MetricsRegistry, source: StateSource<T>, limit: number, now: () => number): void {
  const { sources, failed } = familiesOf(metrics)
  sources.push({ source: source as unknown as StateSource<never>, limit })
  for (const { name, help, type = 'gauge', of } of source.families) {
    metrics.family({
      name,
      help,
      type,
      *lines() {
        const nowMs = now()
        let left = limit
        for (const object of source.objects()) {
          if (left-- <= 0) return
          let value: ReturnType<typeof of>
          try {
            value = of(object, nowMs)
          } catch {
            // One object that nobody could have foreseen must not cost the whole scrape.
            failed(name)
          }
          if (value === undefined) continue
          if (typeof value !== 'object') yield `${name}{${source.identityOf(object)}} ${value}`
          else for (const [labels, one] of value) yield `${name}{${source.identityOf(object)},${typeof labels === 'string' ? labels : labelText(labels)}} ${one}`
        }
      },
    })
  }
}
