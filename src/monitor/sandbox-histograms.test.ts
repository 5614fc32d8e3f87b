import { expect, it } from 'vitest'
import { MetricsRegistry } from '../base/metrics.ts'
import type { SandboxObservation } from './observation.ts'
import { type HistogramOptions, SandboxHistograms } from './sandbox-histograms.ts'

const fact = (kind: SandboxObservation['kind'], seconds: number | undefined, labels: Record<string, string> = {}, isUserError = false): SandboxObservation => ({
  kind, uid: 'u', namespace: 'n', name: 'p', atMs: 0, latencyMs: seconds === undefined ? undefined : seconds * 1000, isLate: false, isUserError,
  labels: { namespace: 'n', runtime_class: '', storage_classes: '', volumes: '0', ...labels },
})

function counted(facts: SandboxObservation[], options: Partial<HistogramOptions> = {}, saved?: unknown, isAlive = true) {
  const metrics = new MetricsRegistry()
  const histograms = new SandboxHistograms({ groupBy: ['runtimeClass'], bounds: [1, 10], maxGroups: 3, nowMs: () => 0, ...options }, metrics)
  if (saved !== undefined) histograms.section.restore(saved)
  for (const one of facts) {
    if (isAlive) histograms.appeared(one.labels)
    histograms.observe(one)
  }
  const lines = metrics.text().split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.endsWith(' 0')).map((line) => line.replace('coxswain_pod_sandbox_', ''))
  return { lines, saved: JSON.parse(JSON.stringify(histograms.section.save())) as unknown }
}

it('SandboxHistograms counts every kind apart, by the labels that were chosen', () => {
  const facts = [
    fact('created', 3, { runtime_class: 'vm', namespace: 'x' }),
    fact('created', 12, { runtime_class: 'vm', namespace: 'y' }),
    fact('failed', 300),
    fact('recreated', undefined),
    fact('recreated', 0.5),
    fact('terminated', 2),
  ]
  expect(counted(facts).lines).toEqual([
    'creation_duration_seconds_bucket{runtime_class="vm",le="10"} 1',
    'creation_duration_seconds_bucket{runtime_class="vm",le="+Inf"} 2',
    'creation_duration_seconds_sum{runtime_class="vm"} 15',
    'creation_duration_seconds_count{runtime_class="vm"} 2',
    'creation_failures_total{runtime_class=""} 1',
    'recreations_total{runtime_class=""} 2',
    'recreation_duration_seconds_bucket{runtime_class="",le="1"} 1',
    'recreation_duration_seconds_bucket{runtime_class="",le="10"} 1',
    'recreation_duration_seconds_bucket{runtime_class="",le="+Inf"} 1',
    'recreation_duration_seconds_sum{runtime_class=""} 0.5',
    'recreation_duration_seconds_count{runtime_class=""} 1',
    'termination_duration_seconds_bucket{runtime_class="",le="10"} 1',
    'termination_duration_seconds_bucket{runtime_class="",le="+Inf"} 1',
    'termination_duration_seconds_sum{runtime_class=""} 2',
    'termination_duration_seconds_count{runtime_class=""} 1',
  ])
})

it('SandboxHistograms counts a pod that is an error of its user once, and as nothing else', () => {
  expect(counted([fact('failed', 300, {}, true), { ...fact('created', 400, {}, true), isLate: true }]).lines).toEqual(['user_errors_total{runtime_class=""} 1'])
})

it('SandboxHistograms takes groups beyond the limit for one, and says how often', () => {
  const facts = ['a', 'b', 'c', 'd', 'e', 'a'].map((runtime_class) => fact('failed', 300, { runtime_class }))
  expect(counted(facts).lines).toEqual([
    'coxswain_monitor_ungrouped_observations_total 2',
    'creation_failures_total{runtime_class="a"} 2',
    'creation_failures_total{runtime_class="b"} 1',
    'creation_failures_total{runtime_class="c"} 1',
    'creation_failures_total{runtime_class="_other"} 2',
  ])
})

it('SandboxHistograms forgets groups without pods for groups that have some', () => {
  const facts = ['a', 'b', 'c', 'd', 'e'].map((runtime_class) => fact('failed', 300, { runtime_class }))
  expect(counted(facts, {}, undefined, false).lines).toEqual(['c', 'd', 'e'].map((name) => `creation_failures_total{runtime_class="${name}"} 1`))
})

it('SandboxHistograms forgets a group an hour after its last pod, and has one from its first pod on', () => {
  let nowMs = 0
  const metrics = new MetricsRegistry()
  const histograms = new SandboxHistograms({ groupBy: ['namespace'], bounds: [1], maxGroups: 3, nowMs: () => nowMs }, metrics)
  const count = () => metrics.text().split('\n').filter((line) => /creation_duration_seconds_count|failures_total\{/.test(line))
  histograms.appeared({ namespace: 'n' })
  expect(count()).toEqual(['coxswain_pod_sandbox_creation_duration_seconds_count{namespace="n"} 0', 'coxswain_pod_sandbox_creation_failures_total{namespace="n"} 0'])
  nowMs = 2 * 3_600_000
  expect(count()).toHaveLength(2)
  histograms.vanished({ namespace: 'n' })
  expect(count()).toEqual([])
})

it('SandboxHistograms tells all without labels where none were chosen', () => {
  expect(counted([fact('failed', 300, { runtime_class: 'x' }), fact('failed', 300)], { groupBy: [] }).lines).toEqual(['creation_failures_total 2'])
})

it('SandboxHistograms goes on with what was kept, unless that was counted in another way', () => {
  const { saved } = counted([fact('created', 3), fact('failed', 300)])
  expect(counted([fact('created', 4)], {}, saved).lines).toContain('creation_duration_seconds_sum{runtime_class=""} 7')
  expect(counted([fact('created', 4)], { bounds: [1, 10, 100] }, saved).lines).toContain('creation_duration_seconds_sum{runtime_class=""} 4')
  expect(counted([fact('created', 4)], { groupBy: ['namespace'] }, saved).lines).toContain('creation_duration_seconds_sum{namespace="n"} 4')
})
