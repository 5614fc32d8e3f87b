import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import { type PodSketch, rejections, sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { leastAllocated, nodeResourcesFit } from './node-resources-fit.ts'

const node = sampleNode('node', { allocatable: { cpu: '4', memory: '4Gi', 'ephemeral-storage': '10Gi', 'example.com/gpu': '2', pods: '3' } })
const other = samplePod('other', { node: 'node', requests: { cpu: '3', memory: '1Gi', 'example.com/gpu': '1' } })
const container = (cpu: string, more: object = {}) => ({ name: `c${cpu}`, resources: { requests: { cpu } }, ...more })

describe('NodeResourcesFit', () => {
  it.each<[string, PodSketch, object]>([
    ['nothing at all', {}, {}],
    ['what is left', { requests: { cpu: '1', memory: '3Gi' } }, {}],
    ['more than is left', { requests: { cpu: '1001m' } }, { node: 'Insufficient cpu' }],
    ['more than the node ever had', { requests: { cpu: '5' } }, { node: 'Insufficient cpu (final)' }],
    ['too much of several', { requests: { cpu: '2', memory: '3500Mi', 'ephemeral-storage': '11Gi' } }, { node: 'Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage (final)' }],
    ['a device that is left', { requests: { 'example.com/gpu': '1' } }, {}],
    ['a device that is taken', { requests: { 'example.com/gpu': '2' } }, { node: 'Insufficient example.com/gpu' }],
    ['a device that it does not have', { requests: { 'example.com/fpga': '1' } }, { node: 'Insufficient example.com/fpga (final)' }],
    ['an init container that needs most', { spec: { initContainers: [container('2')], containers: [container('500m')] } }, { node: 'Insufficient cpu' }],
    ['an init container that needs less', { spec: { initContainers: [container('1')], containers: [container('1')] } }, {}],
    ['a sidecar that keeps running', { spec: { initContainers: [container('600m', { restartPolicy: 'Always' })], containers: [container('500m')] } }, { node: 'Insufficient cpu' }],
    ['overhead', { spec: { containers: [container('900m')], overhead: { cpu: '200m' } } }, { node: 'Insufficient cpu' }],
    ['less for the whole pod than its containers add up to', { spec: { containers: [container('900m')], resources: { requests: { cpu: '2' } } } }, { node: 'Insufficient cpu' }],
  ])('judges a pod that asks for %s', (_, sketch, expected) => {
    expect(rejections(nodeResourcesFit, samplePod('web', sketch), sampleWorld({ nodes: [node], pods: [other] }))).toEqual(expected)
  })

  it('counts pods, too', () => {
    const full = ['a', 'b', 'c'].map((name) => samplePod(name, { node: 'node' }))
    expect(rejections(nodeResourcesFit, samplePod('web'), sampleWorld({ nodes: [node], pods: full }))).toEqual({ node: 'Too many pods' })
  })

  it('counts what a pod was given that is being made smaller', () => {
    const status = { containerStatuses: [{ name: 'main', allocatedResources: { cpu: '3' }, resources: { requests: { cpu: '3' } } }] } as unknown as Pod['status']
    const shrinking = samplePod('other', { node: 'node', requests: { cpu: '1' }, metadata: { generation: 2 }, status })
    expect(rejections(nodeResourcesFit, samplePod('web', { requests: { cpu: '2' } }), sampleWorld({ nodes: [node], pods: [shrinking] }))).toEqual({ node: 'Insufficient cpu' })
  })

  it.each([
    ['a pod that goes', { kind: 'AssignedPodDelete', pod: new PodInfo(other) }, true],
    ['a new node that is large enough', { kind: 'NodeAdd', node }, true],
    ['a new node that is too small', { kind: 'NodeAdd', node: sampleNode('small', { allocatable: { cpu: '1' } }) }, false],
    ['a node that grows', { kind: 'NodeUpdate', before: sampleNode('node', { allocatable: { cpu: '1' } }), node }, true],
    ['a node that stays the same', { kind: 'NodeUpdate', before: node, node }, false],
  ] as const)('thinks rightly whether %s helps', (_, event, expected) => {
    expect(nodeResourcesFit.helps(event, new PodInfo(samplePod('web', { requests: { cpu: '2' } })), sampleWorld())).toBe(expected)
  })

  it.each([
    ['what is asked for', { cpu: '1', memory: '1Gi' }, { empty: 75, used: 25 }],
    ['at least a little for those that ask for nothing', undefined, { empty: 96, used: 46 }],
  ])('prefers nodes with more left, counting %s', (_, requests, expected) => {
    const nodes = ['empty', 'used'].map((name) => sampleNode(name, { allocatable: { cpu: '4', memory: '4Gi' } }))
    const pods = [samplePod('other', { node: 'used', requests: { cpu: '2', memory: '2Gi' } })]
    expect(scores(leastAllocated, samplePod('web', requests ? { requests } : {}), sampleWorld({ nodes, pods }))).toEqual(expected)
  })
})
