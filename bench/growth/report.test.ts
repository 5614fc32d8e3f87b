import { describe, expect, it } from 'vitest'
import { type Measured, eventLoopMetrics } from './meter.ts'
import type { Load } from './phases.ts'
import { Report } from './report.ts'

const load = (podsEach: number): Load => ({
  title: `Job of ${podsEach}`, series: 'Job', isCluster: false, kind: 'job', owners: 1, podsEach, nodes: 100,
})
const latencies = (p99: number) => ({ p50: 1, p99, max: p99, count: 100 })
const fast = latencies(2)
const quick = { list: fast, get: fast, watch: undefined, ownDelayP99Ms: 1, cpuSeconds: 0, errors: 0 }
const measured = (pods: number, seconds: number, over: Partial<Measured> = {}): Measured => ({
  pods,
  seconds,
  cpuSeconds: seconds / 2,
  grownMb: pods / 1024,
  rssMb: 100,
  probe: { ...quick, livez: latencies(pods) },
  othersCores: 0,
  eventLoop: {},
  detail: {},
  stopped: undefined,
  ...over,
})

describe('Report', () => {
  it('compares each figure with that of the smallest size, times and CPU by pod', () => {
    const report = new Report()
    report.add(load(100), 'create', measured(100, 1))
    const figures = report.add(load(1000), 'create', measured(1000, 20))
    const told = figures.map(({ figure, value, detail }) => [figure, value, detail['ratio'], detail['smallest']])
    expect(told).toEqual([
      ['Job of 1000: create: time', 20, 2, 100],
      ['Job of 1000: create: CPU per pod', 10, 2, 100],
      ['Job of 1000: create: memory per pod', 1, 1, 100],
      ['Job of 1000: create: livez p50', 1, 1, 100],
      ['Job of 1000: create: livez p99', 1000, 10, 100],
      ['Job of 1000: create: livez max', 1000, 10, 100],
      ['Job of 1000: create: list p99', 2, 1, 100],
      ['Job of 1000: create: get p99', 2, 1, 100],
    ])
    expect(report.isComplete).toBe(true)
    expect(report.table()).toMatch(/^Job of 1000 +create +1000 +20\.00 +2\.00 +10\.00 +1\.0 +1\.0 +1000/m)
  })

  it('leaves out what is not known', () => {
    const unknown = { cpuSeconds: undefined, grownMb: undefined, rssMb: undefined, probe: undefined }
    const figures = new Report().add(load(100), 'create', measured(100, 1, unknown))
    expect(figures.map(({ figure }) => figure)).toEqual(['Job of 100: create: time'])
  })

  it('says how far a phase got that was broken off, and compares nothing with it', () => {
    const report = new Report()
    const stopped = '7 of 100 pods are ready after 5 s (--timeout)'
    const [figure, ...rest] = report.add(load(100), 'create', measured(100, 5, { stopped }))
    expect(rest).toEqual([])
    expect(figure).toMatchObject({ figure: 'Job of 100: create: stopped', value: 5, detail: { why: stopped } })
    expect(report.isComplete).toBe(false)
    expect(report.table()).toContain(`Job of 100: create: stopped: ${stopped}`)
    const [time] = report.add(load(1000), 'create', measured(1000, 1))
    expect(time!.detail).toMatchObject({ ratio: 1, smallest: 1000 })
  })
})

describe('eventLoopMetrics()', () => {
  it('finds what a server tells of its event loop', () => {
    const text = [
      '# HELP nodejs_eventloop_lag_p99_seconds The 99th percentile.',
      'nodejs_eventloop_lag_p99_seconds 0.0123',
      'coxswain_event_loop_delay_seconds_bucket{le="0.1"} 12',
      'coxswain_event_loop_delay_seconds_count 13',
      'process_cpu_seconds_total 7',
    ].join('\n')
    const found = { nodejs_eventloop_lag_p99_seconds: 0.0123, coxswain_event_loop_delay_seconds_count: 13 }
    expect(eventLoopMetrics(text)).toEqual(found)
  })
})
