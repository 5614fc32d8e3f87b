import type { Clock } from '../base/clock.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { sharedFamilies } from '../client/index.ts'

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error'

const exponential = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start * factor ** i)

const familiesOf = sharedFamilies((registry) => ({
  attempts: registry.counter(
    'scheduler_schedule_attempts_total',
    'Number of attempts to schedule pods, by the result. "unschedulable" means a pod could not be scheduled.',
  ),
  attemptSeconds: registry.histogram(
    'scheduler_scheduling_attempt_duration_seconds',
    'Latency of scheduling attempts, binding included.',
    exponential(0.001, 2, 15),
  ),
  algorithmSeconds: registry.histogram(
    'scheduler_scheduling_algorithm_duration_seconds',
    'Latency of choosing a node.',
    exponential(0.001, 2, 15),
  ),
  podAttempts: registry.histogram(
    'scheduler_pod_scheduling_attempts',
    'Number of attempts to successfully schedule a pod.',
    exponential(1, 2, 5),
  ),
  podSeconds: registry.histogram(
    'scheduler_pod_scheduling_sli_duration_seconds',
    'Time from the first attempt until a pod was scheduled.',
    exponential(0.01, 2, 20),
  ),
  incoming: registry.counter(
    'scheduler_queue_incoming_pods_total',
    'Number of pods added to the scheduling queues, by event and queue.',
  ),
  preemptions: registry.counter('scheduler_preemption_attempts_total', 'Total number of preemption attempts.'),
  victims: registry.histogram(
    'scheduler_preemption_victims',
    'Number of preemption victims per preempting pod.',
    exponential(1, 2, 7),
  ),
  // The gauges of the scheduler that currently acts.
  pending: registry.gauge('scheduler_pending_pods', 'Number of pending pods, by queue.', () => collect(registry)),
  cacheSize: registry.gauge(
    'scheduler_scheduler_cache_size',
    'Number of nodes, pods and assumed pods in the scheduler cache.',
  ),
}))

const collectors = new WeakMap<MetricsRegistry, () => void>()
const collect = (registry: MetricsRegistry) => collectors.get(registry)?.()

/** The current numbers of a scheduler. */
export interface Readings {
  pending(): Readonly<Record<string, number>>
  cached(): Readonly<Record<string, number>>
}

/** The metrics of a scheduler, with kube-scheduler's names. */
export class SchedulerMetrics {
  readonly #families
  readonly #profile: string
  readonly #clock: Clock
  readonly #registry: MetricsRegistry

  constructor(registry: MetricsRegistry, profile: string, clock: Clock) {
    this.#registry = registry
    this.#families = familiesOf(registry)
    this.#profile = profile
    this.#clock = clock
  }

  /** Sets the source of the gauges, until the next call or close. */
  read({ pending, cached }: Readings): void {
    collectors.set(this.#registry, () => {
      for (const [queue, count] of Object.entries(pending())) this.#families.pending.with({ queue }).set(count)
      for (const [type, count] of Object.entries(cached())) this.#families.cacheSize.with({ type }).set(count)
    })
  }

  close(): void {
    collectors.delete(this.#registry)
  }

  attempted(result: AttemptResult, startedMs: number): void {
    const labels = { profile: this.#profile, result }
    this.#families.attempts.with(labels).inc()
    this.#families.attemptSeconds.with(labels).observe(this.#since(startedMs))
  }

  chosen(startedMs: number): void {
    this.#families.algorithmSeconds.with().observe(this.#since(startedMs))
  }

  scheduled(attempts: number, addedMs: number): void {
    this.#families.podAttempts.with().observe(attempts)
    this.#families.podSeconds
      .with({ attempts: attempts >= 15 ? '15+' : String(attempts) })
      .observe(this.#since(addedMs))
  }

  moved(queue: string, event: string): void {
    this.#families.incoming.with({ queue, event }).inc()
  }

  preempted(victims: number): void {
    this.#families.preemptions.with().inc()
    if (victims > 0) this.#families.victims.with().observe(victims)
  }

  #since(ms: number): number {
    return (this.#clock.now() - ms) / 1000
  }
}
