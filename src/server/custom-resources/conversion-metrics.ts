import type { Counter, Histogram, MetricsRegistry } from '../../base/metrics.ts'

/** Kubernetes' labels for conversion failures. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

const conversionBounds = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)
const requestBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60]

/** Measures webhook conversions, under Kubernetes' names. */
export class ConversionMetrics {
  readonly #conversions: Histogram
  readonly #durations: Histogram
  readonly #requests: Counter

  constructor(registry: MetricsRegistry) {
    this.#conversions = registry.histogram(
      'apiserver_crd_conversion_webhook_duration_seconds',
      'CRD webhook conversion duration in seconds',
      conversionBounds,
    )
    this.#durations = registry.histogram(
      'apiserver_conversion_webhook_duration_seconds',
      'Conversion webhook request latency',
      requestBounds,
    )
    const help = 'Counter for conversion webhook requests with success/failure and failure error type'
    this.#requests = registry.counter('apiserver_conversion_webhook_request_total', help)
  }

  /** Records one call. `versions` are those of the definition, without the group. */
  count(
    definition: string,
    versions: { from: string; to: string },
    seconds: number,
    failure: ConversionFailure | undefined,
  ): void {
    const outcome = { result: failure ? 'failure' : 'success', failure_type: failure ?? '' }
    this.#requests.with(outcome).inc()
    this.#durations.with(outcome).observe(seconds)
    const labels = {
      crd_name: definition,
      from_version: versions.from,
      to_version: versions.to,
      succeeded: String(!failure),
    }
    this.#conversions.with(labels).observe(seconds)
  }
}
