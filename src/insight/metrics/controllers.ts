import { byName } from '../../api/explain/index.ts'
import { type Samples, sumOf } from './parse.ts'

/** The state of one controller. */
export interface ControllerLoad {
  name: string
  /** The number of waiting keys. */
  depth: number
  /** The age of the oldest waiting key in seconds: the delay of the controller. */
  lagSeconds: number
  /** The duration of the slowest running reconcile in seconds. */
  busySeconds: number
  /** The average wait of keys since the process was started, in seconds. */
  waitSeconds: number | undefined
  reconciles: number
  errors: number
  retries: number
  /** Reconciles that were deferred because the cache lacked the controller's own writes. */
  staleSkips: number
}

/** The delay of one cache behind the API server. */
export interface CacheLag {
  name: string
  objects: number
  /** The age in seconds of the oldest write that it is known not to contain. */
  lagSeconds: number
  silentSeconds: number
}

/** The queues of a process that belong to controllers. */
const namesOf = (samples: Samples, metric: string, label: string): string[] => [
  ...new Set((samples.get(metric) ?? []).flatMap(({ labels }) => labels[label] ?? [])),
]

const isController = (samples: Samples, name: string): boolean =>
  samples.has('controller_runtime_reconcile_total')
    ? sumOf(samples, 'controller_runtime_reconcile_time_seconds_count', { controller: name }) !== undefined
    : true

/** The controllers of a process according to its metrics. kube-controller-manager exports their queues only. */
export function controllersOf(samples: Samples): ControllerLoad[] {
  return namesOf(samples, 'workqueue_depth', 'name')
    .filter((name) => isController(samples, name))
    .sort(byName)
    .map((name) => {
      const queue = (metric: string) => sumOf(samples, metric, { name }) ?? 0
      const controller = (metric: string) => sumOf(samples, metric, { controller: name }) ?? 0
      const handedOut = queue('workqueue_queue_duration_seconds_count')
      return {
        name,
        depth: queue('workqueue_depth'),
        lagSeconds: queue('workqueue_longest_waiting_seconds'),
        busySeconds: queue('workqueue_longest_running_processor_seconds'),
        waitSeconds: handedOut > 0 ? queue('workqueue_queue_duration_seconds_sum') / handedOut : undefined,
        reconciles: controller('controller_runtime_reconcile_total') || queue('workqueue_work_duration_seconds_count'),
        errors: controller('controller_runtime_reconcile_errors_total'),
        retries: queue('workqueue_retries_total'),
        staleSkips: sumOf(samples, `${name.replaceAll('-', '_')}_stale_sync_skips_total`) ?? 0,
      }
    })
}

/** The caches of a process, the most delayed first. */
export function cachesOf(samples: Samples): CacheLag[] {
  const caches = namesOf(samples, 'informer_lag_seconds', 'name').map((name) => ({
    name,
    objects: sumOf(samples, 'informer_store_objects', { name }) ?? 0,
    lagSeconds: sumOf(samples, 'informer_lag_seconds', { name, kind: 'unseen_write' }) ?? 0,
    silentSeconds: sumOf(samples, 'informer_lag_seconds', { name, kind: 'silence' }) ?? 0,
  }))
  return caches.sort(
    (a, b) => b.lagSeconds - a.lagSeconds || b.silentSeconds - a.silentSeconds || byName(a.name, b.name),
  )
}
