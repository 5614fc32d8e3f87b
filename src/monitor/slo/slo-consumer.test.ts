import { describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { SandboxObservation } from '../observation.ts'
import type { SloReport } from './report.ts'
import { SloConsumer } from './slo-consumer.ts'
import type { Slo } from './slo-file.ts'
import { fact, objective } from './sample.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

class Bench {
  readonly clock: VirtualClock
  metrics = new MetricsRegistry()
  consumer: SloConsumer
  readonly #slos: Slo[]

  constructor(...slos: Slo[]) {
    this.clock = new VirtualClock()
    this.#slos = slos
    this.consumer = new SloConsumer(slos, this.clock, this.metrics)
  }

  tell(count: number, given: Partial<SandboxObservation> = {}): void {
    for (let i = 0; i < count; i++) this.consumer.observe(fact({ atMs: this.clock.now(), ...given }))
  }

  /** As after a restart, through the text of a snapshot; `slos` as the file says them then. */
  restart(slos = this.#slos): void {
    const saved: unknown = JSON.parse(JSON.stringify(this.consumer.section.save()))
    this.metrics = new MetricsRegistry()
    this.consumer = new SloConsumer(slos, this.clock, this.metrics)
    this.consumer.section.restore(saved)
  }

  get slo() {
    return this.consumer.report().slos[0]!
  }

  lines = (start: string) => this.metrics.text().split('\n').filter((line) => line.startsWith(start))
}

const slow = { latencyMs: 10_000 }
const byClass = { groupBy: ['runtimeClass', 'storageClasses'] }
const ofClass = (runtime: string, storage: string) => ({ labels: { runtime_class: runtime, storage_classes: storage } })

describe('an objective', () => {
  it('has all of its budget before anything has happened', () => {
    expect(new Bench(objective()).slo).toMatchObject({ events: 0, bad: 0, compliance: null, errorBudgetRemaining: 1, burnRates: { '5m': 0, '30d': 0 }, alert: null })
  })

  it('is missed by 10 s where 99 in a hundred have less than 10 s', () => {
    const bench = new Bench(objective())
    bench.tell(97)
    bench.tell(3, slow)
    expect(bench.slo).toMatchObject({ events: 100, bad: 3, compliance: 0.97, errorBudgetRemaining: -2, burnRates: { '5m': 3, '1h': 3, '30d': 3 }, alert: 'ticket' })
  })

  it('pages while it burns and not when it is over, though the long window has it still', () => {
    const bench = new Bench(objective())
    bench.tell(80)
    bench.tell(20, slow)
    expect(bench.slo).toMatchObject({ alert: 'page', burnRates: { '5m': 20, '1h': 20 } })
    bench.clock.advance(40 * minuteMs)
    bench.tell(10)
    expect(bench.slo.burnRates).toMatchObject({ '5m': 0, '30m': 0, '1h': 18.1818181818 })
    expect(bench.slo.alert).toBe('ticket')
    bench.clock.advance(7 * hourMs)
    expect(bench.slo.alert).toBeNull()
  })

  it('forgets what is older than its window', () => {
    const bench = new Bench(objective({ windowMs: 24 * hourMs }))
    bench.tell(1, slow)
    bench.clock.advance(24 * hourMs)
    expect(bench.slo.errorBudgetRemaining).toBe(-99)
    bench.clock.advance(hourMs)
    expect(bench.slo).toMatchObject({ events: 0, compliance: null, errorBudgetRemaining: 1 })
  })

  it('counts what it hears late when it happened', () => {
    const bench = new Bench(objective())
    bench.tell(1, { ...slow, atMs: bench.clock.now() - 10 * minuteMs })
    expect(bench.slo.burnRates).toMatchObject({ '5m': 0, '30m': 100, '1h': 100 })
  })

  it('does not burn by mistakes of users', () => {
    const bench = new Bench(objective())
    bench.tell(5, { kind: 'failed', isUserError: true })
    expect(bench.slo.events).toBe(0)
  })
})

describe('groups', () => {
  it('find the guilty storage class and runtime class', () => {
    const bench = new Bench(objective(byClass))
    bench.tell(10, ofClass('', 'fast'))
    bench.tell(4, { ...slow, ...ofClass('', 'broken') })
    bench.tell(5, { ...slow, ...ofClass('kata', '') })
    const guilty = bench.slo.groups.filter(({ bad }) => bad > 0)
    expect(guilty.map(({ labels, bad }) => [labels, bad])).toEqual([[{ runtime_class: '', storage_classes: 'broken' }, 4], [{ runtime_class: 'kata', storage_classes: '' }, 5]])
    expect(bench.slo).toMatchObject({ events: 19, bad: 9 })
    expect(bench.lines('coxswain_slo_events_total')).toContain('coxswain_slo_events_total{slo="ready",outcome="bad",runtime_class="",storage_classes="broken"} 4')
    expect(bench.lines('coxswain_slo_group_error_budget')).toHaveLength(3)
  })

  it('beyond the limit are told as one, and add up to the whole', () => {
    const bench = new Bench(objective({ groupBy: ['namespace'], maxGroups: 2 }))
    for (const namespace of ['a', 'b', 'c', 'd']) bench.consumer.appeared({ namespace })
    for (const namespace of ['a', 'b', 'c', 'd', 'a']) bench.tell(1, { labels: { namespace } })
    expect(bench.slo.groups.map(({ labels, events }) => [labels['namespace'], events])).toEqual([['a', 2], ['b', 1], ['_other', 2]])
    expect(bench.slo.events).toBe(5)
  })

  it('without pods make room for those that have pods, and what they did stays in the whole', () => {
    const bench = new Bench(objective({ groupBy: ['namespace'], maxGroups: 2 }))
    for (let day = 0; day < 20; day++) {
      const labels = { namespace: `dead-${day}` }
      bench.consumer.appeared(labels)
      bench.tell(1, { ...slow, labels })
      bench.consumer.vanished(labels)
      bench.clock.advance(hourMs)
    }
    bench.consumer.appeared({ namespace: 'live' })
    bench.tell(3, { labels: { namespace: 'live' } })
    const counts = bench.slo.groups.map(({ labels, events, bad }) => [labels['namespace'], events, bad])
    expect(counts).toEqual([['_other', 19, 19], ['dead-19', 1, 1], ['live', 3, 0]])
    expect(bench.slo).toMatchObject({ events: 23, bad: 20 })
    // A counter that jumped would look like events of now.
    expect(bench.lines('coxswain_slo_events_total{slo="ready",outcome="bad",namespace="_other"}')).toEqual([expect.stringMatching(/ 0$/)])
  })

  it('are born at zero when their first pod is there', () => {
    const bench = new Bench(objective({ groupBy: ['namespace'], selector: { namespaces: ['a'] } }))
    for (const namespace of ['a', 'b']) bench.consumer.appeared({ namespace })
    expect(bench.lines('coxswain_slo_events_total')).toEqual([
      'coxswain_slo_events_total{slo="ready",outcome="good",namespace="a"} 0',
      'coxswain_slo_events_total{slo="ready",outcome="bad",namespace="a"} 0',
    ])
    expect(bench.slo.groups).toEqual([])
  })

  it('make room when nothing of them is left in the window', () => {
    const bench = new Bench(objective({ groupBy: ['namespace'], maxGroups: 1, windowMs: hourMs }))
    bench.tell(1, { labels: { namespace: 'a' } })
    bench.clock.advance(2 * hourMs)
    expect(bench.lines('coxswain_slo_events_total')).toEqual([])
    bench.tell(1, { labels: { namespace: 'b' } })
    expect(bench.slo.groups.map(({ labels }) => labels['namespace'])).toEqual(['b'])
  })
})

describe('a restart', () => {
  const lived = () => {
    const bench = new Bench(objective(byClass), objective({ name: 'gone', indicator: 'termination-latency' }))
    for (let hour = 0; hour < 80; hour++) {
      bench.tell(3, ofClass('', 'fast'))
      if (hour % 7 === 0) bench.tell(1, { ...slow, ...ofClass('kata', 'slow') })
      bench.tell(1, { kind: 'terminated', latencyMs: 2000 })
      bench.clock.advance(hourMs)
    }
    bench.tell(1, { kind: 'failed' })
    return bench
  }
  const answers = (bench: Bench): [SloReport, string] => [bench.consumer.report(), bench.metrics.text()]

  it('changes no answer, then and later', () => {
    const bench = lived()
    const other = lived()
    bench.restart()
    expect(answers(bench)).toEqual(answers(other))
    for (const each of [bench, other]) {
      each.clock.advance(5 * hourMs)
      each.tell(2, slow)
    }
    expect(answers(bench)).toEqual(answers(other))
  })

  it('with another objective keeps the counts, with another threshold or group it does not', () => {
    const bench = lived()
    const { events, bad } = bench.slo
    bench.restart([objective({ ...byClass, objectivePercent: 50, description: 'new' })])
    expect(bench.slo).toMatchObject({ events, bad, objective: 0.5 })
    bench.restart([objective({ ...byClass, thresholdMs: 2000 })])
    expect(bench.slo.events).toBe(0)
  })

  it.each([['nothing', null], ['something else', 'x'], ['another form', { ready: { whole: 1 } }], ['a list', []]])('passes over a snapshot of %s', (_what, saved) => {
    const bench = new Bench(objective())
    bench.consumer.section.restore(saved)
    bench.tell(1)
    expect(bench.slo.events).toBe(1)
  })
})

describe('/slo', () => {
  it('tells latencies by bounds, the threshold among them', () => {
    const bench = new Bench(objective({ thresholdMs: 2500 }))
    bench.tell(6, { latencyMs: 1000 })
    bench.tell(2, { latencyMs: 2499 })
    bench.clock.advance(30 * minuteMs)
    bench.tell(1, { latencyMs: 3_600_000 })
    bench.tell(1, { kind: 'failed' })
    const { slos } = JSON.parse(bench.consumer.pages['/slo']!().body) as SloReport
    const hour = slos[0]!.latencies['1h']!
    expect(hour).toMatchObject({
      events: 10, never: 1, p50: 2, p90: null, p99: null,
      buckets: [{ lessThanSeconds: 2, count: 6 }, { lessThanSeconds: 2.5, count: 2 }, { lessThanSeconds: null, count: 1 }],
    })
    expect(hour.history.map(({ events, bad, p90 }, i) => (events ? [i, events, bad, p90] : [])).flat()).toEqual([19, 8, 0, 2.5, 39, 2, 2, null])
  })

  it('says what was asked for', () => {
    const selector = { namespaces: ['default'] }
    expect(new Bench(objective({ selector, description: 'In time' })).slo).toMatchObject({
      name: 'ready', description: 'In time', objective: 0.99, objectiveText: '99% of sandboxes are ready in less than 10s, over 30d', thresholdSeconds: 10, window: '30d', selector,
    })
  })
})

describe('metrics', () => {
  it('have every figure, and none that nothing is known of', () => {
    const bench = new Bench(objective(), objective({ name: 'quiet', indicator: 'creation-success', thresholdMs: undefined }))
    bench.consumer.observe(fact({ kind: 'terminated' }))
    expect(bench.lines('coxswain_slo_compliance_ratio')).toEqual([])
    bench.tell(3)
    bench.tell(1, slow)
    expect(bench.lines('coxswain_slo_threshold_seconds')).toEqual(['coxswain_slo_threshold_seconds{slo="ready"} 10'])
    expect(bench.lines('coxswain_slo_events_total{slo="ready"')).toEqual(['coxswain_slo_events_total{slo="ready",outcome="good"} 3', 'coxswain_slo_events_total{slo="ready",outcome="bad"} 1'])
    expect(bench.lines('coxswain_slo_compliance_ratio')).toEqual(['coxswain_slo_compliance_ratio{slo="ready"} 0.75', 'coxswain_slo_compliance_ratio{slo="quiet"} 1'])
    expect(bench.lines('coxswain_slo_burn_rate{slo="ready",window="5m"}')).toEqual(['coxswain_slo_burn_rate{slo="ready",window="5m"} 25'])
  })
})
