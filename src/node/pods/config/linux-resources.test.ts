import { describe, expect, it } from 'vitest'
import type { ContainerStatus, PodCondition } from '../../../api/generated/types.ts'
import { samplePod } from '../../sample-pod.ts'
import { containerResources, podResources } from './linux-resources.ts'

type Resources = { requests?: Record<string, string>; limits?: Record<string, string> }
const gib = 2 ** 30

function pod(...all: Resources[]) {
  const sample = samplePod()
  const [container] = sample.spec.containers
  return { ...sample, spec: { ...sample.spec, containers: all.map((resources, i) => ({ ...container!, name: `c${i}`, resources })) } }
}

describe('containerResources()', () => {
  it.each<[string, Resources, object]>([
    ['nothing', {}, { cpuShares: 2, oomScoreAdj: 1000, hugepages: {} }],
    ['250m of a core', { requests: { cpu: '250m' } }, { cpuShares: 256, oomScoreAdj: 999, hugepages: {} }],
    ['a limit of CPU alone, which is the request too', { limits: { cpu: '500m' } }, { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, oomScoreAdj: 999, hugepages: {} }],
    ['the least quota there is', { requests: { cpu: '1m' }, limits: { cpu: '1m' } }, { cpuShares: 2, cpuQuota: 1000, cpuPeriod: 100_000, oomScoreAdj: 999, hugepages: {} }],
    ['1 GiB of 4', { requests: { memory: '1Gi' } }, { cpuShares: 2, oomScoreAdj: 750, hugepages: {} }],
    ['a guaranteed container', { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }, { cpuShares: 1024, cpuQuota: 100_000, cpuPeriod: 100_000, memoryLimitBytes: gib, oomScoreAdj: -997, hugepages: {} }],
    ['huge pages', { limits: { 'hugepages-2Mi': '4Mi' } }, { cpuShares: 2, oomScoreAdj: 1000, hugepages: { '2MB': 4 << 20 } }],
  ])('%s', (_name, resources, expected) => {
    const it = pod(resources)
    expect(containerResources(it, { sort: 'regular', spec: it.spec.containers[0]! }, 4 * gib)).toEqual(expected)
  })

  it('spares containers that the node needs', () => {
    const critical = { ...pod({}), spec: { ...pod({}).spec, priority: 2_000_001_000 } }
    expect(containerResources(critical, { sort: 'regular', spec: critical.spec.containers[0]! }, gib).oomScoreAdj).toBe(-997)
  })
})

describe('podResources()', () => {
  it.each<[string, Resources[], object]>([
    ['of containers that are all limited', [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } }, { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } }], { cpuShares: 1024, cpuQuota: 200_000, cpuPeriod: 100_000, memoryLimitBytes: 2 * gib, hugepages: {} }],
    ['of which one is not limited', [{ limits: { memory: '1Gi' } }, {}], { cpuShares: 2, hugepages: {} }],
  ])('%s', (_name, all, expected) => {
    expect(podResources(pod(...all))).toEqual(expected)
  })

  it.each([['1Gi', '2Gi'], ['2Gi', '1Gi']])('counts the larger of what a container has, %s, and what it is to have, %s', (has, wants) => {
    const resized = pod({ limits: { memory: wants } })
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] as PodCondition[]
    const containerStatuses = [{ name: 'c0', resources: { limits: { memory: has } } }] as unknown as ContainerStatus[]
    expect(podResources({ ...resized, status: { conditions, containerStatuses } }).memoryLimitBytes).toBe(2 * gib)
  })
})
