import { describe, expect, it } from 'vitest'
import { MetricsRegistry } from './metrics.ts'
import type { Turns } from './turns.ts'

describe('MetricsRegistry', () => {
  it('writes counters and gauges in the text form of Prometheus', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter('requests_total', 'Requests.')
    requests.with({ code: '200' }).inc()
    requests.with({ code: '200' }).inc(2)
    requests.with({ code: '500' }).inc()
    const held = registry.gauge('open', 'Open ones.').with()
    held.set(5)
    held.inc(-1)
    expect(registry.text()).toBe(
      '# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total{code="200"} 3\nrequests_total{code="500"} 1\n' +
        '# HELP open Open ones.\n# TYPE open gauge\nopen 4\n',
    )
  })

  it('escapes what labels may contain', () => {
    const registry = new MetricsRegistry()
    registry.gauge('g', 'G.').with({ a: 'x"y\\z\nw' }).set(1)
    expect(registry.text()).toContain('g{a="x\\"y\\\\z\\nw"} 1\n')
  })

  it('asks for values when they are read', () => {
    const registry = new MetricsRegistry()
    let now = 1
    registry.gauge('g', 'G.', (gauge) => gauge.with().set(now))
    now = 7
    expect(registry.text()).toContain('g 7\n')
  })

  it('forgets a series that is removed', () => {
    const registry = new MetricsRegistry()
    const gauge = registry.gauge('g', 'G.')
    gauge.with({ a: '1' }).set(1)
    gauge.remove({ a: '1' })
    expect(registry.text()).not.toContain('g{')
  })

  it('counts observations into buckets that add up', () => {
    const registry = new MetricsRegistry()
    const seconds = registry.histogram('h', 'H.', [0.1, 1, 10]).with({ v: 'x' })
    for (const value of [0.1, 0.05, 0.5, 5, 50]) seconds.observe(value)
    const lines = registry.text().split('\n').filter((l) => l.startsWith('h'))
    expect(lines).toEqual([
      'h_bucket{v="x",le="0.1"} 2', 'h_bucket{v="x",le="1"} 3', 'h_bucket{v="x",le="10"} 4', 'h_bucket{v="x",le="+Inf"} 5', 'h_sum{v="x"} 55.65', 'h_count{v="x"} 5',
    ])
  })

  it('takes lines that somebody else makes, however many', () => {
    const registry = new MetricsRegistry()
    registry.family({ name: 'f', help: 'F.', type: 'gauge', lines: () => Array.from({ length: 200_000 }, (_, i) => `f{i="${i}"} 1`) })
    expect(registry.text().split('\n').length).toBe(200_003)
  })

  it('does not take a name twice', () => {
    const registry = new MetricsRegistry()
    registry.counter('a', 'A.')
    expect(() => registry.gauge('a', 'B.')).toThrow('metric a is registered twice')
  })
})

it('MetricsRegistry.labelled() has its metrics told by the other, with labels besides their own', () => {
  const outer = new MetricsRegistry()
  const inner = outer.labelled({ cluster: 'a "b"' })
  inner.counter('plain_total', 'Plain.').with().inc()
  inner.gauge('labelled', 'Labelled.').with({ text: 'x{y} z' }).set(2)
  inner.histogram('seconds', 'Seconds.', [1]).with().observe(3)
  expect(outer.text().split('\n').filter((line) => !line.startsWith('#') && line)).toEqual([
    'plain_total{cluster="a \\"b\\""} 1',
    'labelled{cluster="a \\"b\\"",text="x{y} z"} 2',
    'seconds_bucket{cluster="a \\"b\\"",le="1"} 0',
    'seconds_bucket{cluster="a \\"b\\"",le="+Inf"} 1',
    'seconds_sum{cluster="a \\"b\\""} 3',
    'seconds_count{cluster="a \\"b\\""} 1',
  ])
  expect(() => outer.gauge('labelled', 'Twice.')).toThrow('registered twice')
})

it('are told in slices: others come between, and a histogram agrees with itself', async () => {
  const registry = new MetricsRegistry()
  const sizes = registry.histogram('h', 'sizes', Array.from({ length: 1200 }, (_, i) => i))
  sizes.with().observe(1)
  let turns = 0
  const busy: Turns = {
    isSpent: true,
    async next() {
      turns++
      sizes.with().observe(1100)
    },
  }
  const pieces: string[] = []
  for await (const piece of registry.bytes(busy)) pieces.push(piece.toString())
  expect(turns).toBeGreaterThan(1)
  expect(pieces.join('')).toContain('h_bucket{le="1199"} 1\nh_bucket{le="+Inf"} 1\n')
})
