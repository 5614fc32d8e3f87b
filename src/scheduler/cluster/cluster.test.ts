import { describe, expect, it } from 'vitest'
import { PodInfo } from './pod-info.ts'
import { Cluster } from './cluster.ts'
import { sampleNode, samplePod } from '../plugins/sample-world.ts'

const usedCpu = (cluster: Cluster, node: string) => cluster.node(node)?.requested.cpu

describe('Cluster', () => {
  it('counts an assumed pod until it is confirmed, and then once', () => {
    const cluster = new Cluster()
    cluster.setNode(sampleNode('a'))
    const pod = samplePod('web', { requests: { cpu: '1' } })
    cluster.assume(new PodInfo(pod), 'a')
    expect([usedCpu(cluster, 'a'), cluster.isAssumed('uid-of-web'), cluster.assumedCount]).toEqual([1000, true, 1])
    const bound = samplePod('web', { requests: { cpu: '1' }, node: 'a' })
    expect(cluster.setPod(bound)).toMatchObject({ wasAssumed: true })
    expect([usedCpu(cluster, 'a'), cluster.isAssumed('uid-of-web'), cluster.assumedCount, cluster.podCount]).toEqual([1000, false, 0, 1])
  })

  it('moves a pod that somebody else has put elsewhere', () => {
    const cluster = new Cluster()
    for (const name of ['a', 'b']) cluster.setNode(sampleNode(name))
    cluster.assume(new PodInfo(samplePod('web', { requests: { cpu: '1' } })), 'a')
    cluster.setPod(samplePod('web', { requests: { cpu: '1' }, node: 'b' }))
    expect([usedCpu(cluster, 'a'), usedCpu(cluster, 'b'), cluster.assumedCount]).toEqual([0, 1000, 0])
  })

  it('takes back an assumption', () => {
    const cluster = new Cluster()
    cluster.setNode(sampleNode('a'))
    cluster.assume(new PodInfo(samplePod('web', { requests: { cpu: '1', 'example.com/gpu': '1' } })), 'a')
    cluster.removePod('uid-of-web')
    expect([usedCpu(cluster, 'a'), cluster.node('a')?.requested.others?.get('example.com/gpu'), cluster.has('uid-of-web'), cluster.assumedCount]).toEqual([0, 0, false, 0])
  })

  it('knows the pods of a node before it knows the node', () => {
    const cluster = new Cluster()
    cluster.setPod(samplePod('web', { requests: { cpu: '1' }, node: 'a' }))
    expect([cluster.nodes.length, cluster.node('a')]).toEqual([0, undefined])
    cluster.setNode(sampleNode('a'))
    expect(usedCpu(cluster, 'a')).toBe(1000)
    cluster.removeNode('a')
    expect(cluster.nodes).toEqual([])
    cluster.setNode(sampleNode('a'))
    expect(usedCpu(cluster, 'a')).toBe(1000)
  })

  it('counts anew what a pod asks for that was resized, and not what merely tells how it is', () => {
    const cluster = new Cluster()
    cluster.setNode(sampleNode('a'))
    const { info } = cluster.setPod(samplePod('web', { requests: { cpu: '1' }, node: 'a' }))
    expect(cluster.setPod(samplePod('web', { requests: { cpu: '1' }, node: 'a', status: { phase: 'Running' } })).info).toBe(info)
    cluster.setPod(samplePod('web', { requests: { cpu: '3' }, node: 'a', metadata: { generation: 2 } }))
    expect(usedCpu(cluster, 'a')).toBe(3000)
  })
})
