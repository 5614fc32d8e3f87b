import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../base/seeded-random.ts'
import { NodeInfo } from '../cluster/node-info.ts'
import { PodInfo } from '../cluster/pod-info.ts'
import type { Rejection } from '../plugins/plugin.ts'
import { filterPlugins, scorePlugins } from '../plugins/registry.ts'
import { type PodSketch, type WorldSketch, sampleNode, samplePod, sampleWorld } from '../plugins/sample-world.ts'
import { Nominations } from '../queue/nominations.ts'
import { NodeSearch, enoughNodes, messageOf } from './node-search.ts'
import { schedulePod } from './schedule-pod.ts'

const plugins = filterPlugins({ bind: () => Promise.resolve() })
const rejection = (...reasons: string[]): Rejection => ({ plugin: 'X', reasons, isFinal: false })

function scheduling(sketch: WorldSketch, nominations = new Nominations()) {
  const cycle = { world: sampleWorld(sketch), filters: plugins, scores: scorePlugins, nominations, search: new NodeSearch(0), random: new SeededRandom(1) }
  return (name: string, pod: PodSketch = {}) => {
    const decision = schedulePod(new PodInfo(samplePod(name, pod)), cycle)
    return decision.kind === 'node' ? decision.node.name : decision.kind === 'nowhere' ? messageOf(decision.diagnosis) : decision.kind
  }
}

describe('messageOf()', () => {
  it('counts the same reasons together, in the order of Kubernetes', () => {
    const nodes = new Map([rejection('Insufficient cpu', 'Insufficient memory'), rejection('Insufficient cpu'), rejection('Too many pods')].map((r, i) => [new NodeInfo(`${i}`), r]))
    expect(messageOf({ nodeCount: 3, nodes })).toBe('0/3 nodes are available: 1 Insufficient memory, 1 Too many pods, 2 Insufficient cpu.')
  })

  it('tells what is against nodes that were not looked at', () => {
    expect(messageOf({ nodeCount: 5, nodes: new Map([[new NodeInfo('a'), rejection('A')]]), others: rejection('B') })).toBe('0/5 nodes are available: 1 A, 4 B.')
  })

  it('tells what is against all of them once', () => {
    expect(messageOf({ nodeCount: 5, nodes: new Map(), general: rejection('no claim') })).toBe('0/5 nodes are available: no claim.')
  })
})

describe('enoughNodes()', () => {
  it.each([[3, 0, 3], [99, 0, 99], [100, 0, 100], [1000, 0, 420], [5000, 0, 500], [6000, 0, 300], [1000, 10, 100], [1000, 100, 1000]])('of %i nodes at %i %% is %i', (all, percentage, expected) => {
    expect(enoughNodes(all, percentage)).toBe(expected)
  })
})

describe('schedulePod()', () => {
  it('says so if there are no nodes at all', () => {
    expect(scheduling({})('web')).toBe('no nodes')
  })

  it('takes the only node that fits', () => {
    const nodes = [sampleNode('small', { allocatable: { cpu: '1' } }), sampleNode('large')]
    expect(scheduling({ nodes })('web', { requests: { cpu: '2' } })).toBe('large')
  })

  it('takes the node with the most room', () => {
    const pods = [samplePod('x', { node: 'used', requests: { cpu: '2', memory: '2Gi' } })]
    expect(scheduling({ nodes: [sampleNode('used'), sampleNode('free')], pods })('web', { requests: { cpu: '1', memory: '1Gi' } })).toBe('free')
  })

  it('lets chance decide between equals, the same way each time', () => {
    const nodes = Array.from({ length: 8 }, (_, i) => sampleNode(`node-${i}`))
    const names = (): string[] => {
      const schedule = scheduling({ nodes })
      return Array.from({ length: 20 }, (_, i) => schedule(`pod-${i}`))
    }
    expect(new Set(names()).size).toBeGreaterThan(3)
    expect(names()).toEqual(names())
  })

  it('looks at nodes that are named, and at no others', () => {
    const nodes = [sampleNode('a', { spec: { unschedulable: true } }), sampleNode('b'), sampleNode('c')]
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['a'] }]
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } }
    expect(scheduling({ nodes })('web', { spec: { affinity } })).toBe("0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].")
  })

  it('goes on with the node after the last one that it looked at', () => {
    const nodes = Array.from({ length: 300 }, (_, i) => sampleNode(`node-${i}`))
    const world = sampleWorld({ nodes })
    const search = new NodeSearch(1)
    const looked: string[] = []
    const filters = { check: (node: NodeInfo) => void looked.push(node.name) }
    for (let i = 0; i < 3; i++) search.find(filters as never, world.cluster.nodes)
    expect(new Set(looked).size).toBe(300)
  })

  it('leaves room to pods for which it is being made, unless they are less important', () => {
    const nominations = new Nominations()
    nominations.set(new PodInfo(samplePod('waiting', { requests: { cpu: '3' }, spec: { priority: 5 } })), 'node')
    const schedule = scheduling({ nodes: [sampleNode('node')] }, nominations)
    expect(schedule('web', { requests: { cpu: '2' } })).toBe('0/1 nodes are available: 1 Insufficient cpu.')
    expect(schedule('small', { requests: { cpu: '1' } })).toBe('node')
    expect(schedule('important', { requests: { cpu: '2' }, spec: { priority: 10 } })).toBe('node')
  })

  it('takes the node on which room was made, though others would be better', () => {
    const nominations = new Nominations()
    nominations.set(new PodInfo(samplePod('web')), 'used')
    const pods = [samplePod('x', { node: 'used', requests: { cpu: '2', memory: '2Gi' } })]
    expect(scheduling({ nodes: [sampleNode('used'), sampleNode('free')], pods }, nominations)('web', { requests: { cpu: '1' } })).toBe('used')
  })

  it('takes nodes of all zones in turns', () => {
    const zones = ['a', 'a', 'a', 'b', 'c', 'c']
    const nodes = zones.map((zone, i) => sampleNode(`${zone}${i}`, { labels: { 'topology.kubernetes.io/zone': zone } }))
    expect(sampleWorld({ nodes }).cluster.nodes.map(({ name }) => name)).toEqual(['a0', 'b3', 'c4', 'a1', 'c5', 'a2'])
  })
})
