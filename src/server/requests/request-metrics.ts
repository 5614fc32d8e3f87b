import type { MetricsRegistry, Observer, Series } from '../../base/metrics.ts'

/** Kubernetes' buckets of request durations, in seconds. */
const durations = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** The labels of a request, as in Kubernetes' metrics. */
export interface RequestKind {
  verb: string
  group: string
  version: string
  resource: string
  subresource: string
  scope: '' | 'cluster' | 'namespace' | 'resource'
}

/** Counts and times requests under Kubernetes' metric names. */
export class RequestMetrics {
  readonly #total
  readonly #duration
  readonly #inflight
  readonly #longRunning
  /** The series of each combination of labels and code. Watches have no duration. */
  readonly #counted = new Map<string, { total: Series; duration: Observer | undefined }>()

  constructor(registry: MetricsRegistry) {
    this.#total = registry.counter(
      'apiserver_request_total',
      'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    )
    this.#duration = registry.histogram(
      'apiserver_request_duration_seconds',
      'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
      durations,
    )
    this.#inflight = registry.gauge(
      'apiserver_current_inflight_requests',
      'Number of requests that are being served, by kind.',
    )
    this.#longRunning = registry.gauge(
      'apiserver_longrunning_requests',
      'Number of watches that are open, by resource.',
    )
  }

  readonly inflight = (isMutating: boolean): Series =>
    this.#inflight.with({ request_kind: isMutating ? 'mutating' : 'readOnly' })

  watching(kind: RequestKind): Series {
    return this.#longRunning.with(labelsOf(kind))
  }

  done(kind: RequestKind, code: number, isDryRun: boolean, seconds: number): void {
    const key = `${kind.verb} ${kind.group}/${kind.version}/${kind.resource}/${kind.subresource} ${kind.scope} ${isDryRun} ${code}`
    let counted = this.#counted.get(key)
    if (!counted) {
      const labels = { ...labelsOf(kind), dry_run: isDryRun ? 'All' : '' }
      const total = this.#total.with({ ...labels, code: String(code) })
      this.#counted.set(
        key,
        (counted = { total, duration: kind.verb === 'WATCH' ? undefined : this.#duration.with(labels) }),
      )
    }
    counted.total.inc()
    counted.duration?.observe(seconds)
  }
}

const labelsOf = (k: RequestKind) => ({
  verb: k.verb,
  group: k.group,
  version: k.version,
  resource: k.resource,
  subresource: k.subresource,
  scope: k.scope,
  component: 'apiserver',
})
