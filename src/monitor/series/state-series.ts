import type { OwnerReference } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { type Gauge, type Labels, type MetricsRegistry, labelText } from '../../base/metrics.ts'
import { sharedFamilies } from '../../client/index.ts'

/** An API timestamp in Prometheus' unit. Undefined if it is missing. */
export function unixTime(text: string | null | undefined): number | undefined {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}

/** The owners of an object. One sample without names if there are none. */
export function ownerSamples(owners: readonly OwnerReference[] = []): Sample[] {
  if (owners.length === 0) return [[{ owner_kind: '', owner_name: '', owner_is_controller: '' }, 1]]
  return owners.map(({ kind, name, controller }): Sample => [
    { owner_kind: kind, owner_name: name, owner_is_controller: String(controller ?? false) },
    1,
  ])
}

interface StatusCondition {
  type: string
  status: string
  reason?: string
}

const statuses = ['true', 'false', 'unknown'] as const

/** One sample per possible status, with the value 1 for the current one, so that queries always find it. */
export const statusSamples = (label: string, status: string): Sample[] =>
  statuses.map((one) => [{ [label]: one }, status.toLowerCase() === one ? 1 : 0])

/** All conditions of a workload, labelled as by kube-state-metrics for Deployments. */
export const conditionSamples = (conditions: readonly StatusCondition[] | undefined): Sample[] =>
  (conditions ?? []).flatMap(({ type, status, reason = '' }) =>
    statuses.map((one): Sample => [{ reason, condition: type, status: one }, status.toLowerCase() === one ? 1 : 0]),
  )

/** A value with labels that distinguish several values of one object. Labels may be rendered text. */
export type Sample = readonly [labels: Labels | string, value: number]

/** A metric of every object of a kind. */
export interface StateFamily<T> {
  name: string
  help: string
  type?: 'gauge' | 'counter'
  /** Undefined if an object has no value. */
  of(object: T, nowMs: number): Int64 | undefined | readonly Sample[]
}

/** Objects whose state is exported. A series exists as long as its object. */
export interface StateSource<T extends object> {
  /** The name of the objects in the metric about omitted ones. */
  resource: string
  size(): number
  objects(): Iterable<T>
  /** The identifying labels as rendered text. */
  identityOf(object: T): string
  families: readonly StateFamily<T>[]
}

const familiesOf = sharedFamilies((registry) => {
  const sources: { source: StateSource<never>; limit: number }[] = []
  const read = (gauge: Gauge) => {
    for (const { source, limit } of sources)
      gauge.with({ resource: source.resource }).set(Math.max(0, source.size() - limit))
  }
  registry.gauge(
    'coxswain_monitor_objects_without_series',
    'Objects without series because the limit of their kind is reached.',
    read,
  )
  const failures = registry.counter(
    'coxswain_monitor_series_errors_total',
    'Number of failures to compute a metric of an object, counted per scrape.',
  )
  return { sources, failed: (metric: string) => failures.with({ metric }).inc() }
})

/** Exports the state of objects at each scrape, up to `limit` of them. */
export function registerState<T extends object>(
  metrics: MetricsRegistry,
  source: StateSource<T>,
  limit: number,
  now: () => number,
): void {
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
            // An unexpected object must not fail the whole scrape.
            failed(name)
          }
          if (value === undefined) continue
          if (typeof value !== 'object') yield `${name}{${source.identityOf(object)}} ${value}`
          else
            for (const [labels, one] of value)
              yield `${name}{${source.identityOf(object)},${typeof labels === 'string' ? labels : labelText(labels)}} ${one}`
        }
      },
    })
  }
}
