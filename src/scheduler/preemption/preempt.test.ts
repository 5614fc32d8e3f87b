import { describe, expect, it } from 'vitest'
import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { PodInfo } from '../cluster/pod-info.ts'
import { NodeSearch } from '../cycle/node-search.ts'
import { schedulePod } from '../cycle/schedule-pod.ts'
import { filterPlugins } from '../plugins/registry.ts'
import { type PodSketch, type WorldSketch, sampleNode, samplePod, sampleWorld } from '../plugins/sample-world.ts'
import { Nominations } from '../queue/nominations.ts'
import { preempt } from './preempt.ts'

const plugins = filterPlugins({ bind: () => Promise.resolve() })
const nowMs = Date.UTC(2026, 0, 1)

/** `node: victim victim`, or why there are none. */
function preempting(pod: Pod, sketch: WorldSketch, { budgets = [], nominatedNode = '' }: { budgets?: PodDisruptionBudget[]; nominatedNode?: string } = {}): string {
  const world = sampleWorld(sketch)
  const info = new PodInfo(pod)
  const random = new SeededRandom(1)
  const decision = schedulePod(info, { world, filters: plugins, scores: [], nominations: new Nominations(), search: new NodeSearch(0), random })
  if (decision.kind !== 'nowhere') throw new Error(`${decision.kind} would do`)
  const result = preempt(info, decision.diagnosis, decision.filters, { cluster: world.cluster, budgets, nominatedNode, random, nowMs })
  if (result.kind === 'none') return result.message
  return `${result.victims.node.name}: ${result.victims.pods.map((victim) => victim.pod.metadata.name).join(' ')}`
}

const pod = (name: string, node: string, priority: number, cpu: string, more: PodSketch = {}): Pod =>
  samplePod(name, { ...more, node, requests: { cpu }, spec: { priority, ...more.spec } })
const important = (cpu: string, spec: Partial<Pod['spec']> = {}): Pod => samplePod('important', { requests: { cpu }, labels: { app: 'important' }, spec: { priority: 100, ...spec } })
const node = (name: string) => sampleNode(name, { allocatable: { cpu: '4' } })
const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget =>
  ({ metadata: { name: app, namespace: 'default' }, spec: { selector: { matchLabels: { app } } }, status: { disruptionsAllowed } }) as unknown as PodDisruptionBudget
const since = (minutesAgo: number): PodSketch => ({ status: { startTime: new Date(nowMs - minutesAgo * 60_000).toISOString() } })

describe('preempt()', () => {
  it.each<[string, Pod, Pod[], string]>([
    ['takes as few as it needs', important('2'), [pod('a', 'n1', 1, '2'), pod('b', 'n1', 1, '2')], 'n1: b'],
    ['takes the least important', important('2'), [pod('high', 'n1', 9, '2'), pod('low', 'n1', 1, '2')], 'n1: low'],
    ['takes several if it must', important('4'), [pod('a', 'n1', 1, '2'), pod('b', 'n1', 2, '2')], 'n1: b a'],
    ['spares who is as important', important('4'), [pod('peer', 'n1', 100, '1')], 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.'],
    ['helps nobody for whom the node is too small', important('5'), [pod('a', 'n1', 1, '2')], 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'],
    ['helps nobody if not enough may go', important('4'), [pod('peer', 'n1', 100, '1'), pod('a', 'n1', 1, '2')], 'preemption: 0/1 nodes are available: 1 Insufficient cpu.'],
    ['is not for those who do not want it', important('2', { preemptionPolicy: 'Never' }), [pod('a', 'n1', 1, '4')], 'preemption: not eligible due to preemptionPolicy=Never.'],
  ])('%s', (_, incoming, pods, expected) => {
    expect(preempting(incoming, { nodes: [node('n1')], pods })).toBe(expected)
  })

  it.each<[string, Pod[], PodDisruptionBudget[], string]>([
    ['breaks no budget', [pod('a', 'n1', 1, '4', { labels: { app: 'kept' } }), pod('b', 'n2', 5, '4')], [budget('kept', 0)], 'n2: b'],
    ['has the least important victim', [pod('a', 'n1', 5, '4'), pod('b', 'n2', 1, '4')], [], 'n2: b'],
    ['has the least important victims together', [pod('a', 'n1', 5, '2'), pod('a2', 'n1', 4, '2'), pod('b', 'n2', 5, '2'), pod('b2', 'n2', 1, '2')], [], 'n2: b b2'],
    ['has fewer victims', [pod('a', 'n1', 1, '2'), pod('a2', 'n1', 1, '2'), pod('b', 'n2', 1, '4')], [], 'n2: b'],
    ['has younger victims', [pod('a', 'n1', 1, '4', since(60)), pod('b', 'n2', 1, '4', since(5))], [], 'n2: b'],
  ])('takes the node that %s', (_, pods, budgets, expected) => {
    expect(preempting(important('4'), { nodes: [node('n1'), node('n2')], pods }, { budgets })).toBe(expected)
  })

  it('breaks a budget if there is no other way', () => {
    const pods = [pod('a', 'n1', 1, '4', { labels: { app: 'kept' } })]
    expect(preempting(important('4'), { nodes: [node('n1')], pods }, { budgets: [budget('kept', 0)] })).toBe('n1: a')
  })

  it('spares whom a budget protects, though others are more important', () => {
    const pods = [pod('kept', 'n1', 1, '2', { labels: { app: 'kept' } }), pod('other', 'n1', 5, '2')]
    expect(preempting(important('2'), { nodes: [node('n1')], pods }, { budgets: [budget('kept', 0)] })).toBe('n1: other')
  })

  it('makes room for pods that must be away from others', () => {
    const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'noisy' } } }] } }
    const pods = [pod('noisy', 'n1', 1, '1', { labels: { app: 'noisy' } }), pod('quiet', 'n1', 1, '1')]
    expect(preempting(important('1', { affinity: antiAffinity }), { nodes: [node('n1')], pods })).toBe('n1: noisy')
  })

  it('waits for those who are on their way out already', () => {
    const going: PodSketch = {
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
    }
    const sketch = { nodes: [node('n1'), node('n2')], pods: [pod('a', 'n1', 1, '4', going), pod('b', 'n2', 1, '4')] }
    expect(preempting(important('4'), sketch, { nominatedNode: 'n1' })).toBe('preemption: not eligible due to a terminating pod on the nominated node.')
  })

  it('tells what is against each of several nodes', () => {
    const cordoned = sampleNode('n2', { spec: { unschedulable: true } })
    expect(preempting(important('4'), { nodes: [node('n1'), cordoned], pods: [pod('peer', 'n1', 100, '1')] })).toBe(
      'preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    )
  })
})
