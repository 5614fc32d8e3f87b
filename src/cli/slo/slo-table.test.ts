import { describe, expect, it } from 'vitest'
import type { LatencyReport, SloStatus } from '../../cluster/index.ts'
import { sloChart, sloTable } from './slo-table.ts'

const fine = { events: 200, bad: 1, compliance: 0.995, errorBudgetRemaining: 0.5, burnRates: { '5m': 0, '30m': 0, '1h': 0.25, '6h': 0.5, '1d': 0.5 }, alert: null }
const latencies = (given: Partial<LatencyReport>): LatencyReport => ({ events: 0, never: 0, buckets: [], p50: null, p90: null, p99: null, history: [], ...given })
const slo = (given: Partial<SloStatus>): SloStatus => ({
  name: 'ready', objectiveText: '99% of sandboxes are ready in less than 10s, over 1d', indicator: 'creation-latency', objective: 0.99, thresholdSeconds: 10, window: '1d', selector: {}, groupBy: [],
  ...fine, groups: [], latencies: { '1h': latencies({}) }, ...given,
})
const table = (...slos: SloStatus[]) => sloTable({ at: '2026-01-01T00:00:00Z', slos })

describe('sloTable()', () => {
  it('has a line for an objective and one for each group, the worst first', () => {
    const groups = [
      { ...fine, labels: { runtime_class: '', storage_classes: 'fast' } },
      { ...fine, bad: 20, compliance: 0.9, errorBudgetRemaining: -9, alert: 'page' as const, labels: { runtime_class: 'kata', storage_classes: '' } },
    ]
    expect(table(slo({ groups }))).toEqual([
      'NAME                                    OBJECTIVE  WINDOW  EVENTS  BAD  COMPLIANCE  BUDGET LEFT  BURN 5m  BURN 30m  BURN 1h  BURN 6h  BURN 3d  STATE',
      'ready                                   99% < 10s  1d      200     1    99.50%      50.0%        0.0      0.0       0.3      0.5      -        ok',
      '  runtime_class=kata storage_classes=-                     200     20   90.00%      -900.0%      0.0      0.0       0.3      0.5      -        page',
      '  runtime_class=- storage_classes=fast                     200     1    99.50%      50.0%        0.0      0.0       0.3      0.5      -        ok',
    ])
  })

  it.each<[string, Partial<SloStatus>]>([
    ['page', { alert: 'page' }],
    ['ticket', { alert: 'ticket' }],
    ['missed', { errorBudgetRemaining: -0.1 }],
    ['no events', { events: 0, compliance: null, errorBudgetRemaining: 1 }],
  ])('says %s', (state, given) => {
    expect(table(slo(given))[1]!.endsWith(`  ${state}`)).toBe(true)
  })
})

describe('sloChart()', () => {
  it('draws latencies, with a line at the threshold', () => {
    const hour = latencies({
      events: 107, never: 1, p50: 3, p90: 12, p99: null,
      buckets: [{ lessThanSeconds: 3, count: 80 }, { lessThanSeconds: 10, count: 20 }, { lessThanSeconds: 12, count: 5 }, { lessThanSeconds: null, count: 1 }],
      history: [{ events: 80, bad: 0, p90: 3 }, { events: 0, bad: 0, p90: null }, { events: 26, bad: 9, p90: 12 }, { events: 1, bad: 1, p90: null }],
    })
    expect(sloChart(slo({ latencies: { '1h': hour } }), '1h')).toEqual([
      'ready: 99% of sandboxes are ready in less than 10s, over 1d',
      '  the last 1h: 107 events, half in less than 3s, 90% in less than 12s',
      '      < 3s ████████████████████████████████████████ 80',
      '     < 10s ██████████ 20',
      '       10s ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄',
      '     < 12s ██▌ 5',
      '    longer ▌ 1',
      '     never ▌ 1',
      '       90% ▂·██ █ is 12s',
    ])
  })

  it('says so where there is nothing to draw', () => {
    expect(sloChart(slo({}), '1h').slice(1)).toEqual(['  the last 1h: 0 events', '  nothing happened'])
  })

  it('names the windows that there are', () => {
    expect(() => sloChart(slo({}), '2h')).toThrow('--window: ready has the windows 1h')
  })
})
