import { describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { textOf } from '../terminal/line.ts'
import { cachesOf, controllersOf } from '../../insight/metrics/controllers.ts'
import { controllersTable, secondsText } from './controllers-table.ts'
import { parseMetrics, sumOf } from '../../insight/metrics/parse.ts'

describe('parseMetrics()', () => {
  it.each([
    ['a bare value', 'up 1', { name: 'up', labels: {}, value: 1 }],
    ['labels', 'a{x="1",y="2"} 0.5', { name: 'a', labels: { x: '1', y: '2' }, value: 0.5 }],
    ['a comma at the end, and blanks', 'a{ x = "1", } 2', { name: 'a', labels: { x: '1' }, value: 2 }],
    ['escaped letters', 'a{x="q\\"b\\\\n\\n"} 2', { name: 'a', labels: { x: 'q"b\\n\n' }, value: 2 }],
    ['braces inside a value', 'a{x="}{"} 2', { name: 'a', labels: { x: '}{' }, value: 2 }],
    ['a time behind the value', 'a 3 1395066363000', { name: 'a', labels: {}, value: 3 }],
    ['an exponent', 'a 1.5e+03', { name: 'a', labels: {}, value: 1500 }],
    ['infinity', 'a{le="+Inf"} +Inf', { name: 'a', labels: { le: '+Inf' }, value: Infinity }],
    ['what is no number', 'a NaN', { name: 'a', labels: {}, value: Number.NaN }],
  ])('reads %s', (_, line, sample) => {
    expect([...parseMetrics(`# HELP a b\n# TYPE a gauge\n${line}\n`).values()].flat()).toEqual([sample])
  })

  it.each(['', 'a', 'a{x="1" 2', 'a{x=1} 2', '{x="1"} 2', '<html>', 'a{x="1"} two'])('leaves out %j', (line) => {
    expect(parseMetrics(`${line}\nb 1\n`).size).toBe(1)
  })

  it('reads back what our registry writes', () => {
    const registry = new MetricsRegistry()
    registry.gauge('depth', 'help').with({ name: 'a "b"\\\n' }).set(7)
    registry.histogram('took', 'help', [1, 2]).with({ name: 'x' }).observe(1.5)
    const samples = parseMetrics(registry.text())
    expect(sumOf(samples, 'depth', { name: 'a "b"\\\n' })).toBe(7)
    expect(sumOf(samples, 'took_bucket', { le: '2' })).toBe(1)
    expect(sumOf(samples, 'took_sum')).toBe(1.5)
    expect(sumOf(samples, 'nothing')).toBeUndefined()
  })
})

const scrape = `
workqueue_depth{name="deployment"} 3
workqueue_depth{name="garbage"} 1
workqueue_depth{name="replica-set"} 0
workqueue_longest_waiting_seconds{name="deployment"} 12.5
workqueue_longest_running_processor_seconds{name="deployment"} 0.02
workqueue_queue_duration_seconds_sum{name="deployment"} 4
workqueue_queue_duration_seconds_count{name="deployment"} 8
workqueue_retries_total{name="deployment"} 5
controller_runtime_reconcile_total{controller="deployment",result="success"} 10
controller_runtime_reconcile_total{controller="deployment",result="error"} 2
controller_runtime_reconcile_errors_total{controller="deployment"} 2
controller_runtime_reconcile_time_seconds_count{controller="deployment"} 12
controller_runtime_reconcile_time_seconds_count{controller="replica-set"} 0
replica_set_stale_sync_skips_total{group="",resource="pods"} 4
replica_set_stale_sync_skips_total{group="apps",resource="replicasets"} 3
informer_lag_seconds{name="pods",kind="unseen_write"} 2
informer_lag_seconds{name="pods",kind="silence"} 3
informer_lag_seconds{name="nodes",kind="unseen_write"} 0
informer_lag_seconds{name="nodes",kind="silence"} 70
informer_store_objects{name="pods"} 40
`

describe('controllersOf()', () => {
  it('tells the load of controllers, and not of other queues', () => {
    const nothing = {
      depth: 0,
      lagSeconds: 0,
      busySeconds: 0,
      waitSeconds: undefined,
      reconciles: 0,
      errors: 0,
      retries: 0,
    }
    expect(controllersOf(parseMetrics(scrape))).toEqual([
      {
        name: 'deployment',
        depth: 3,
        lagSeconds: 12.5,
        busySeconds: 0.02,
        waitSeconds: 0.5,
        reconciles: 12,
        errors: 2,
        retries: 5,
        staleSkips: 0,
      },
      { ...nothing, name: 'replica-set', staleSkips: 7 },
    ])
  })

  it("takes every queue of kube-controller-manager's for one", () => {
    const theirs = 'workqueue_depth{name="deployment"} 1\nworkqueue_work_duration_seconds_count{name="deployment"} 9\n'
    expect(controllersOf(parseMetrics(theirs))).toMatchObject([{ name: 'deployment', depth: 1, reconciles: 9 }])
  })
})

it('controllersTable() has those that are behind first, and the caches that are', () => {
  const samples = parseMetrics(scrape)
  expect(controllersTable(controllersOf(samples), cachesOf(samples)).map((line) => textOf(line).trimEnd())).toEqual([
    'CONTROLLER   QUEUE  LAG  BUSY  AVG WAIT  RECONCILES  ERRORS  RETRIES  STALE SKIPS',
    'deployment   3      13s  20ms  500ms     12          2       5        0',
    'replica-set  0      0s   0s    -         0           0       0        7',
    '',
    'CACHE  LAG   SILENT FOR  OBJECTS',
    'pods   2.0s  3.0s        40',
  ])
})

it.each([
  [0, '0s'],
  [0.0001, '<1ms'],
  [0.25, '250ms'],
  [1, '1.0s'],
  [9.96, '10.0s'],
  [95.4, '95s'],
])('secondsText(%d)', (seconds, text) => {
  expect(secondsText(seconds)).toBe(text)
})
