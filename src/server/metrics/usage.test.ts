import { describe, expect, it } from 'vitest'
import { parseResourceMetrics } from './exposition.ts'
import { usageBetween } from './usage.ts'

const text = (atMs: number, cpuSeconds: number, startSeconds = 10) => `# HELP container_cpu_usage_seconds_total [STABLE] Cumulative
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="app",namespace="default",pod="web"} ${cpuSeconds} ${atMs}
container_cpu_usage_seconds_total{container="half",namespace="default",pod="web"} 1 ${atMs}
container_memory_working_set_bytes{container="app",namespace="default",pod="web"} 8.388608e+06 ${atMs}
container_start_time_seconds{container="app",namespace="default",pod="web"} ${startSeconds}
container_swap_usage_bytes{container="app",namespace="default",pod="web"} 0
node_cpu_usage_seconds_total ${100 + cpuSeconds} ${atMs}
node_memory_working_set_bytes 1.073741824e+09 ${atMs}
scrape_error 0
`

describe('parseResourceMetrics()', () => {
  it('reads what kubelets say, and leaves out what is only half said', () => {
    const scrape = parseResourceMetrics(text(20_000, 1.5), 0)
    expect(scrape.atMs).toBe(20_000)
    expect(scrape.node).toEqual({ cpuSeconds: 101.5, memoryBytes: 1 << 30 })
    expect([...scrape.pods.get('default/web')!]).toEqual([['app', { cpuSeconds: 1.5, memoryBytes: 8 << 20, startedAtMs: 10_000, atMs: 20_000 }]])
  })

  it('makes nothing of what is something else', () => {
    expect(parseResourceMetrics('<html>\n', 7)).toEqual({ atMs: 7, node: undefined, pods: new Map() })
  })
})

describe('usageBetween()', () => {
  const usage = (first: string, second: string) => usageBetween(parseResourceMetrics(first, 0), parseResourceMetrics(second, 0))
  it.each([
    ['what was used in between', text(20_000, 1.5), text(30_000, 4), '250m'],
    ['very little', text(20_000, 1), text(30_000, 1.00001), '1u'],
    ['what a container used since its start that was started anew', text(20_000, 1.5), text(30_000, 2, 26), '500m'],
    ['what one used that was not there', 'node_cpu_usage_seconds_total 100 20000', text(30_000, 1, 20), '100m'],
  ])('tells %s', (_what, first, second, cpu) => {
    expect(usage(first, second).pods.get('default/web')!.get('app')).toEqual({ cpu, memory: '8Mi' })
  })

  it('tells what the node used, over which time', () => {
    expect(usage(text(20_000, 1), text(30_000, 6))).toMatchObject({ atMs: 30_000, windowMs: 10_000, node: { cpu: '500m', memory: '1Gi' } })
  })
})
