import type { Counter, Histogram, MetricsRegistry } from '../../../base/metrics.ts'

const durationSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]

/** The labels of a call in metrics. */
interface Outcome {
  name: string
  type: 'admit' | 'validating'
  operation: string
  seconds: number
  isRejected: boolean
  /** The HTTP status code of the response or error. */
  code: number
  errorType?: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error'
}

const known = new WeakMap<MetricsRegistry, WebhookMetrics>()

/** The webhook metrics of a server, shared by mutating and validating webhooks. */
export function webhookMetrics(registry: MetricsRegistry): WebhookMetrics {
  let metrics = known.get(registry)
  if (!metrics) known.set(registry, (metrics = new WebhookMetrics(registry)))
  return metrics
}

/** Measures webhook calls, under Kubernetes' names. */
export class WebhookMetrics {
  readonly #durations: Histogram
  readonly #requests: Counter
  readonly #rejections: Counter
  readonly #failedOpen: Counter

  constructor(metrics: MetricsRegistry) {
    const name = (rest: string) => `apiserver_admission_webhook_${rest}`
    const by = 'identified by name and broken out for each operation and API resource and type (validate or admit).'
    this.#durations = metrics.histogram(
      name('admission_duration_seconds'),
      `Admission webhook latency histogram in seconds, ${by}`,
      durationSeconds,
    )
    this.#requests = metrics.counter(name('request_total'), `Admission webhook request total, ${by}`)
    this.#rejections = metrics.counter(name('rejection_count'), `Admission webhook rejection count, ${by}`)
    this.#failedOpen = metrics.counter(
      name('fail_open_count'),
      'Admission webhook fail open count, identified by name and broken out for each admission type (validating or mutating).',
    )
  }

  count({ name, type, operation, seconds, isRejected, code, errorType }: Outcome): void {
    const labels = { name, type, operation }
    this.#durations.with({ ...labels, rejected: String(isRejected) }).observe(seconds)
    this.#requests.with({ ...labels, code: String(code), rejected: String(isRejected) }).inc()
    if (isRejected && errorType)
      this.#rejections.with({ ...labels, error_type: errorType, rejection_code: String(code) }).inc()
  }

  failedOpen(name: string, type: Outcome['type']): void {
    this.#failedOpen.with({ name, type }).inc()
  }
}
