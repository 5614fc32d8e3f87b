import type { MetricsRegistry, Observer, Series } from '../../base/metrics.ts'
import { sharedFamilies } from '../cache/shared-metrics.ts'

/** The state of a queue that a scrape reads. */
export interface MeasuredQueue {
  readonly name: string
  /** Number of keys that are waiting to be handed out. */
  depth(): number
  /** Age in seconds of the longest waiting key; 0 if none waits. */
  waitingSeconds(): number
  /** For each key in progress, the seconds since it was handed out. */
  runningSeconds(): Iterable<number>
}

/** The metrics of one queue; times in seconds. */
export interface QueueMetrics {
  adds: Pick<Series, 'inc'>
  retries: Pick<Series, 'inc'>
  queueDuration: Observer
  workDuration: Observer
  /** Removes the gauges; counters stay. */
  close(): void
}

/** As in client-go: 10 ns to 1000 s, each bound ten times the previous one. */
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
      gauge(
        'workqueue_longest_waiting_seconds',
        'For how many seconds the key that has waited longest in the workqueue has been waiting.',
        (q) => q.waitingSeconds(),
      ),
      gauge(
        'workqueue_unfinished_work_seconds',
        'Seconds of work in progress that work_duration has not observed yet, over all keys being processed. Large values mean stuck workers.',
        (q) => {
          let sum = 0
          for (const seconds of q.runningSeconds()) sum += seconds
          return sum
        },
      ),
      gauge(
        'workqueue_longest_running_processor_seconds',
        'For how many seconds the longest running processor of the workqueue has been running.',
        (q) => {
          let longest = 0
          for (const seconds of q.runningSeconds()) longest = Math.max(longest, seconds)
          return longest
        },
      ),
    ],
    adds: registry.counter('workqueue_adds_total', 'Total number of adds handled by workqueue'),
    retries: registry.counter('workqueue_retries_total', 'Total number of retries handled by workqueue'),
    queueDuration: registry.histogram(
      'workqueue_queue_duration_seconds',
      'How long in seconds a key stays in workqueue before being requested.',
      bounds,
    ),
    workDuration: registry.histogram(
      'workqueue_work_duration_seconds',
      'How long in seconds processing a key from workqueue takes.',
      bounds,
    ),
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

/** Registers the workqueue_* metrics of client-go, labelled with the queue's name. */
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
