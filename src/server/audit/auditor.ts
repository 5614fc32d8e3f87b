import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry, Series } from '../../base/metrics.ts'
import type { AuditEvent } from './event.ts'
import { type Arrival, AuditedRequest, type EventRecorder } from './audited-request.ts'
import type { Policy } from './policy.ts'
import { PolicyMatcher } from './policy-match.ts'
import { type AuditSink, type SinkOptions } from './sink.ts'

interface AuditorOptions {
  policy: Policy
  clock: Clock
  logger: Logger
  /** Creates the sinks. Each reports the events that it loses to `onError`. */
  sinks(onError: SinkOptions['onError']): readonly AuditSink[]
}

/** A failing backend is logged at most once in this time. */
const complaintMs = 10_000

/** Records requests in audit events, as a policy says. */
export class Auditor implements EventRecorder {
  readonly matcher: PolicyMatcher
  readonly clock: Clock
  readonly #logger: Logger
  readonly #sinks: readonly AuditSink[]
  #events: Series | undefined
  #rejected: Series | undefined
  #lost: ((plugin: string, count: number) => void) | undefined
  #levels: ((level: string) => void) | undefined
  #complainedMs = -Infinity

  constructor({ policy, clock, logger, sinks }: AuditorOptions) {
    this.matcher = new PolicyMatcher(policy)
    this.clock = clock
    this.#logger = logger
    this.#sinks = sinks((plugin, lost, error) => this.#onError(plugin, lost, error))
  }

  /** Registers the metrics, under Kubernetes' names. */
  register(metrics: MetricsRegistry): void {
    this.#events = metrics
      .counter('apiserver_audit_event_total', 'Counter of audit events generated and sent to the audit backend.')
      .with()
    const errors = metrics.counter(
      'apiserver_audit_error_total',
      'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    )
    this.#lost = (plugin, count) => errors.with({ plugin }).inc(count)
    this.#rejected = metrics
      .counter(
        'apiserver_audit_requests_rejected_total',
        'Counter of apiserver requests rejected due to an error in audit logging backend.',
      )
      .with()
    const levels = metrics.counter(
      'apiserver_audit_level_total',
      'Counter of policy levels for audit events (1 per request).',
    )
    const byLevel = new Map<string, Series>()
    this.#levels = (level) => {
      let series = byLevel.get(level)
      if (!series) byLevel.set(level, (series = levels.with({ level })))
      series.inc()
    }
  }

  /** Begins a request. Nothing is recorded before it is authenticated. */
  begin(arrival: Arrival): AuditedRequest {
    return new AuditedRequest(this, arrival)
  }

  take(event: AuditEvent): Promise<boolean> | undefined {
    this.#events?.inc()
    let waiting: Promise<boolean> | undefined
    for (const sink of this.#sinks) {
      const stored = sink.take(event)
      if (stored) waiting = waiting ? both(waiting, stored) : stored
    }
    return waiting
  }

  countLevel(level: string): void {
    this.#levels?.(level)
  }

  countRejected(): void {
    this.#rejected?.inc()
  }

  /** Resolves when every event is stored or lost. */
  async close(): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink.close()))
  }

  #onError(plugin: string, lost: number, error: Error): void {
    this.#lost?.(plugin, lost)
    const now = this.clock.now()
    if (now - this.#complainedMs < complaintMs) return
    this.#complainedMs = now
    this.#logger.error('audit events were dropped', { plugin, lost, error: error.message })
  }
}

const both = async (one: Promise<boolean>, other: Promise<boolean>): Promise<boolean> => {
  const [a, b] = await Promise.all([one, other])
  return a && b
}
