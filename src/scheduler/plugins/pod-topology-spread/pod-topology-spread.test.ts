import { describe, expect, it } from 'vitest'
import type { Pod, TopologySpreadConstraint } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import { type NodeFilter, isRejection } from '../plugin.ts'
import { rejections, sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { podTopologySpread } from './pod-topology-spread.ts'
import { evenSpread } from './spread-score.ts'

const zoneKey = 'topology.kubernetes.io/zone'
const web = { app: 'web' }
const inZone = (name: string, zone: string, more: object = {}) => sampleNode(name, { labels: { [zoneKey]: zone }, ...more })
const a1 = inZone('a1', 'a')
const a2 = inZone('a2', 'a')
const b1 = inZone('b1', 'b')
const on = (node: string, count: number, labels: Record<string, string> = web): Pod[] => Array.from({ length: count }, (_, i) => samplePod(`${node}-${i}`, { node, labels }))
const over = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: web },
  ...more,
})
const spreading = (constraints: TopologySpreadConstraint[], spec: Partial<Pod['spec']> = {}, labels: Record<string, string> = web) =>
  samplePod('web', { labels, spec: { topologySpreadConstraints: constraints, ...spec } })

const uneven = "node(s) didn't match pod topology spread constraints"
const unlabelled = `${uneven} (missing required label) (final)`

describe('PodTopologySpread', () => {
  it.each<[string, Pod, Pod[], object]>([
    ['lets the first pod go anywhere', spreading([over(zoneKey)]), [], {}],
    ['keeps pods from a zone that is ahead', spreading([over(zoneKey)]), on('a1', 1), { a1: uneven, a2: uneven }],
    ['allows as much as it is told to', spreading([over(zoneKey, { maxSkew: 2 })]), on('a1', 1), {}],
    ['does not count a pod that is none of them itself', spreading([over(zoneKey)], {}, { app: 'other' }), on('a1', 1), {}],
    ['does not count pods of other sorts', spreading([over(zoneKey)]), on('a1', 3, { app: 'other' }), {}],
    ['does not count pods of other namespaces', spreading([over(zoneKey)]), [samplePod('x', { node: 'a1', namespace: 'elsewhere', labels: web })], {}],
    ['does not count pods that are on their way out', spreading([over(zoneKey)]), [samplePod('x', { node: 'a1', labels: web, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })], {}],
    ['does not count nodes that the pod cannot go to', spreading([over(zoneKey)], { nodeSelector: { [zoneKey]: 'a' } }), on('a1', 1), {}],
    ['counts them if it is told to', spreading([over(zoneKey, { nodeAffinityPolicy: 'Ignore' })], { nodeSelector: { [zoneKey]: 'a' } }), on('a1', 1), { a1: uneven, a2: uneven }],
    ['takes zones that are not there for empty', spreading([over(zoneKey, { minDomains: 3 })]), [...on('a1', 1), ...on('b1', 1)], { a1: uneven, a2: uneven, b1: uneven }],
    ['spreads over hosts', spreading([over('kubernetes.io/hostname')]), on('a1', 1), { a1: uneven }],
    ['wants all constraints to hold', spreading([over(zoneKey, { maxSkew: 2 }), over('kubernetes.io/hostname')]), on('a1', 1), { a1: uneven }],
    ['tells versions of a workload apart', spreading([over(zoneKey, { matchLabelKeys: ['version'] })], {}, { ...web, version: '2' }), on('a1', 1, { ...web, version: '1' }), {}],
  ])('%s', (_, pod, pods, expected) => {
    expect(rejections(podTopologySpread, pod, sampleWorld({ nodes: [a1, a2, b1], pods }))).toEqual(expected)
  })

  it('keeps pods from nodes without the label, and does not count those', () => {
    const world = sampleWorld({ nodes: [a1, b1, sampleNode('nowhere')], pods: on('nowhere', 3) })
    expect(rejections(podTopologySpread, spreading([over(zoneKey)]), world)).toEqual({ nowhere: unlabelled })
  })

  it('does not count nodes with taints if it is told not to', () => {
    const tainted = inZone('b1', 'b', { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } })
    const world = sampleWorld({ nodes: [a1, a2, tainted], pods: on('a1', 1) })
    expect(rejections(podTopologySpread, spreading([over(zoneKey, { nodeTaintsPolicy: 'Honor' })]), world)).toEqual({})
  })

  it('follows pods that come and go', () => {
    const world = sampleWorld({ nodes: [a1, a2, b1] })
    const pod = spreading([over(zoneKey)])
    expect(rejections(podTopologySpread, pod, world)).toEqual({})
    const [first] = on('a1', 1)
    world.cluster.setPod(first!)
    expect(rejections(podTopologySpread, pod, world)).toEqual({ a1: uneven, a2: uneven })
    world.cluster.removePod(first!.metadata.uid!)
    expect(rejections(podTopologySpread, pod, world)).toEqual({})
  })

  it('follows nodes that move to other zones', () => {
    const world = sampleWorld({ nodes: [a1, b1], pods: on('a1', 1) })
    const pod = spreading([over(zoneKey)])
    expect(rejections(podTopologySpread, pod, world)).toEqual({ a1: uneven })
    world.cluster.setNode(inZone('b1', 'a'))
    expect(rejections(podTopologySpread, pod, world)).toEqual({})
  })

  it('supposes that pods are gone, and that they are back', () => {
    const world = sampleWorld({ nodes: [a1, b1], pods: on('a1', 1) })
    const filter = podTopologySpread.filter(new PodInfo(spreading([over(zoneKey)])), world) as NodeFilter
    const node = world.cluster.node('a1')!
    const [victim] = node.pods.values()
    expect(isRejection(filter)).toBe(false)
    filter.podRemoved!(victim!, node)
    expect(filter.check(node)).toBeUndefined()
    filter.podAdded!(victim!, node)
    expect(filter.check(node)?.reasons).toEqual([uneven])
  })

  it.each([
    ['a pod of the sort goes', { kind: 'AssignedPodDelete', pod: new PodInfo(on('a1', 1)[0]!) }, true],
    ['a pod of the sort comes', { kind: 'AssignedPodAdd', pod: new PodInfo(on('a1', 1)[0]!) }, true],
    ['a pod of another sort goes', { kind: 'AssignedPodDelete', pod: new PodInfo(on('a1', 1, { app: 'x' })[0]!) }, false],
    ['a node with the label comes', { kind: 'NodeAdd', node: a1 }, true],
    ['a node without the label comes', { kind: 'NodeAdd', node: sampleNode('nowhere') }, false],
    ['a node gets another zone', { kind: 'NodeUpdate', before: a1, node: inZone('a1', 'c') }, true],
    ['a node tells how it is', { kind: 'NodeUpdate', before: a1, node: a1 }, false],
  ] as const)('knows whether it helps when %s', (_, event, expected) => {
    expect(podTopologySpread.helps(event, new PodInfo(spreading([over(zoneKey)])), sampleWorld())).toBe(expected)
  })
})

describe('the score of PodTopologySpread', () => {
  const soft = (key: string) => over(key, { whenUnsatisfiable: 'ScheduleAnyway' })

  it('prefers zones with fewer pods', () => {
    const world = sampleWorld({ nodes: [a1, a2, b1], pods: [...on('a1', 2), ...on('b1', 1)] })
    // Two zones weigh ln 4: 2.77 and 1.39, rounded 3 and 1.
    expect(scores(evenSpread, spreading([soft(zoneKey)]), world)).toEqual({ a1: 33, a2: 33, b1: 100 })
  })

  it('gives nodes without the label nothing', () => {
    const world = sampleWorld({ nodes: [a1, sampleNode('nowhere')] })
    expect(scores(evenSpread, spreading([soft(zoneKey)]), world)).toEqual({ a1: 100, nowhere: 0 })
  })

  it('spreads pods of services and sets without being told', () => {
    const world = sampleWorld({ nodes: [a1, a2, b1], pods: on('a1', 1), siblings: [{ matchLabels: web }] })
    const given = scores(evenSpread, samplePod('web', { labels: web }), world)!
    expect(given.b1).toBeGreaterThan(given.a2!)
    expect(given.a2).toBeGreaterThan(given.a1!)
  })

  it('has no opinion about pods that are on their own', () => {
    expect(scores(evenSpread, samplePod('web'), sampleWorld({ nodes: [a1, b1] }))).toBeUndefined()
  })
})
