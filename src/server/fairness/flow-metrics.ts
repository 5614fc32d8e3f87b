import type { MetricsRegistry, Observer } from '../../base/metrics.ts'
import type { RefusalReason } from './level.ts'

/** Kubernetes' buckets of wait times, in seconds. */
const waits = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
/** The maximum number of series. Further schemas and levels share one, so that users cannot create series at will. */
const mostFlows = 500

/** The counters of one schema at one level. */
export class FlowCounts {
  readonly schema: string
  readonly level: string
  readonly rejected = new Map<RefusalReason, number>()
  readonly #waits: { readonly served: Observer; readonly refused: Observer }
  dispatched = 0
  executing = 0
  executingSeats = 0
  waiting = 0

  constructor(schema: string, level: string, waited: { served: Observer; refused: Observer }) {
    this.schema = schema
    this.level = level
    this.#waits = waited
  }

  start(seats: number, waitedMs: number): void {
    this.dispatched++
    this.executing++
    this.executingSeats += seats
    this.#waits.served.observe(waitedMs / 1000)
  }

  end(seats: number): void {
    this.executing--
    this.executingSeats -= seats
  }

  refuse(reason: RefusalReason, waitedMs: number): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
    this.#waits.refused.observe(waitedMs / 1000)
  }
}

/** Metrics of flows under Kubernetes' names, computed when they are collected. */
export class FlowMetrics {
  readonly #flows = new Map<string, FlowCounts>()
  readonly #waits

  constructor(registry: MetricsRegistry) {
    this.#tell(
      registry,
      'gauge',
      'current_inqueue_requests',
      'Number of requests that wait for seats.',
      ({ waiting }) => waiting,
    )
    this.#tell(
      registry,
      'gauge',
      'current_executing_requests',
      'Number of executing requests, and of watches that are starting.',
      ({ executing }) => executing,
    )
    this.#tell(
      registry,
      'gauge',
      'current_executing_seats',
      'Seats of the requests that are being served.',
      ({ executingSeats }) => executingSeats,
    )
    this.#tell(
      registry,
      'counter',
      'dispatched_requests_total',
      'Number of requests that were let in.',
      ({ dispatched }) => dispatched,
    )
    registry.counter(
      'apiserver_flowcontrol_rejected_requests_total',
      'Number of requests that were refused.',
      (family) => {
        for (const { schema, level, rejected } of this.#flows.values()) {
          for (const [reason, n] of rejected) family.with({ flow_schema: schema, priority_level: level, reason }).set(n)
        }
      },
    )
    this.#waits = registry.histogram(
      'apiserver_flowcontrol_request_wait_duration_seconds',
      'Time that requests waited for seats.',
      waits,
    )
  }

  of(schema: string, level: string): FlowCounts {
    const isNew = !this.#flows.has(`${schema} ${level}`)
    const names: [string, string] = isNew && this.#flows.size >= mostFlows ? ['other', 'other'] : [schema, level]
    const key = names.join(' ')
    let counts = this.#flows.get(key)
    if (!counts) {
      const labels = { flow_schema: names[0], priority_level: names[1] }
      const observer = (execute: string) => this.#waits.with({ ...labels, execute })
      this.#flows.set(
        key,
        (counts = new FlowCounts(...names, { served: observer('true'), refused: observer('false') })),
      )
    }
    return counts
  }

  #tell(
    registry: MetricsRegistry,
    type: 'gauge' | 'counter',
    name: string,
    help: string,
    value: (counts: FlowCounts) => number,
  ): void {
    registry[type](`apiserver_flowcontrol_${name}`, help, (family) => {
      for (const counts of this.#flows.values()) {
        family.with({ flow_schema: counts.schema, priority_level: counts.level }).set(value(counts))
      }
    })
  }
}
