import type { MetricsRegistry, Observer, Series } from '../../base/metrics.ts'
import { sharedFamilies } from '../shared-metrics.ts'

/** What a scrape asks of a queue. */
export interface MeasuredQueue {
  readonly name: string
  /** Keys that were added and not handed out yet. */
  depth(): number
  /** Seconds for which the key has waited that has waited longest; 0 where none waits. */
  waitingSeconds(): number
  /** Seconds for which each key that is being worked on has been so. */
  runningSeconds(): Iterable<number>
}

/** Series of one queue; times in seconds. */
export interface QueueMetrics {
  adds: Pick<Series, 'inc'>
  retries: Pick<Series, 'inc'>
  queueDuration: Observer
  workDuration: Observer
  /** The queue is gone: its gauges go with it, what was counted stays. */
  close(): void
}

/** Upstream's: 10 ns to 1000 s, each ten times the one before. */
const bounds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]

const familiesOf = sharedFamilies((registry) => {
  const queues = new Set<MeasuredQueue>()
  const gauge = (name: string, help: string, value: (queue: MeasuredQueue) => number) =>
    registry.gauge(name, help, (g) => {
      for (const queue of queues) g.with({ name: queue.name }).set(value(queue))
    })
  return {
    queues,
    gauges: [
      gauge('workqueue_depth', 'Current depth of workqueue', (q) => q.depth()),
      gauge('workqueue_longest_waiting_seconds', 'For how many seconds the key that has waited longest in the workqueue has been waiting.', (q) => q.waitingSeconds()),
      gauge('workqueue_unfinished_work_seconds', 'Seconds of work in progress that work_duration has not observed yet, over all keys being processed. Large values mean stuck workers.', (q) => {
        let sum = 0
        for (const seconds of q.runningSeconds()) sum += seconds
        return sum
      }),
      gauge('workqueue_longest_running_processor_seconds', 'For how many seconds the longest running processor of the workqueue has been running.', (q) => {
        let longest = 0
        for (const seconds of q.runningSeconds()) longest = Math.max(longest, seconds)
        return longest
      }),
    ],
    adds: registry.counter('workqueue_adds_total', 'Total number of adds handled by workqueue'),
    retries: registry.counter('workqueue_retries_total', 'Total number of retries handled by workqueue'),
    queueDuration: registry.histogram('workqueue_queue_duration_seconds', 'How long in seconds a key stays in workqueue before being requested.', bounds),
    workDuration: registry.histogram('workqueue_work_duration_seconds', 'How long in seconds processing a key from workqueue takes.', bounds),
  }
})

const nothing = () => {}
const unmeasured: QueueMetrics = {
  adds: { inc: nothing },
  retries: { inc: nothing },
  queueDuration: { observe: nothing },
  workDuration: { observe: nothing },
  close: nothing,
}

/** Upstream's workqueue_* metrics of one queue, with its name as label. */
export function measureQueue(queue: MeasuredQueue, registry: MetricsRegistry | undefined): QueueMetrics {
  if (!registry) return unmeasured
  const families = familiesOf(registry)
  const { queues, gauges } = families
  const labels = { name: queue.name }
  queues.add(queue)
  for (const gauge of gauges) gauge.with(labels)
  return {
    adds: families.adds.with(labels),
    retries: families.retries.with(labels),
    queueDuration: families.queueDuration.with(labels),
    workDuration: families.workDuration.with(labels),
    close: () => {
      queues.delete(queue)
      for (const gauge of gauges) gauge.remove(labels)
    },
  }
}
