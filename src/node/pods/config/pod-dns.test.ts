import { describe, expect, it } from 'vitest'
import { samplePod } from '../../sample-pod.ts'
import { type NodeDns, podDns } from './pod-dns.ts'

const node: NodeDns = { servers: ['127.130.0.10'], domain: 'cluster.local', machine: () => ({ servers: ['192.0.2.53'], searches: ['lan'], options: ['edns0'] }) }
const cluster = { servers: ['127.130.0.10'], searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'lan'], options: ['ndots:5'], problems: [] }
const machine = { servers: ['192.0.2.53'], searches: ['lan'], options: ['edns0'], problems: [] }
const pod = (spec: object) => {
  const sample = samplePod()
  return { ...sample, metadata: { ...sample.metadata, namespace: 'default' }, spec: { ...sample.spec, ...spec } }
}

describe('podDns()', () => {
  it.each<[string, object, object]>([
    ['nothing said', {}, cluster],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, cluster],
    ['ClusterFirst on the host\'s network', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, machine],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    ['Default', { dnsPolicy: 'Default' }, machine],
    ['None', { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.2.3.4'] } }, { servers: ['1.2.3.4'], searches: [], options: [], problems: [] }],
    ['more of everything', { dnsConfig: { nameservers: ['1.2.3.4'], searches: ['lan', 'more'], options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] } },
      { servers: ['127.130.0.10', '1.2.3.4'], searches: [...cluster.searches, 'more'], options: ['ndots:2', 'edns0'], problems: [] }],
  ])('makes of %s', (_, spec, wanted) => {
    expect(podDns(pod(spec), node)).toEqual(wanted)
  })

  it('falls back to the machine\'s where nobody answers for the cluster, and says so', () => {
    const { problems, ...found } = podDns(pod({}), { ...node, servers: [] })
    expect({ ...found, problems: [] }).toEqual(machine)
    expect(problems).toEqual(['kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'])
  })

  it('leaves out what resolvers do not take', () => {
    const dnsConfig = { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'], searches: Array.from({ length: 40 }, (_, i) => `s${i}`) }
    const { servers, searches, problems } = podDns(pod({ dnsConfig }), node)
    expect([servers, searches.length]).toEqual([['127.130.0.10', '1.1.1.1', '2.2.2.2'], 32])
    expect(problems.map((text) => text.slice(0, 32))).toEqual(['Nameserver limits were exceeded,', 'Search Line limits were exceeded'])
  })
})
