import { describe, expect, it } from 'vitest'
import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts'
import { routesOf } from './routes.ts'

const service = (spec: object = {}): Service => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: { clusterIP: '127.130.0.9', clusterIPs: ['127.130.0.9'], ports: [{ port: 80, protocol: 'TCP' }], ...spec },
} as Service)
const endpoint = (address: string, conditions: Endpoint['conditions'] = {}, more: object = {}): Endpoint => ({ addresses: [address], conditions, nodeName: 'here', ...more })
const slice = (endpoints: Endpoint[], ports: object[] = [{ name: '', port: 8080, protocol: 'TCP' }], addressType = 'IPv4'): EndpointSlice =>
  ({ metadata: { name: 's' }, addressType, endpoints, ports } as EndpointSlice)
const ready = { ready: true, serving: true, terminating: false }
const going = { ready: false, serving: true, terminating: true }
const gone = { ready: false, serving: false, terminating: true }
const here = { nodeName: 'here', zone: 'a' }
const addresses = (spec: object, slices: EndpointSlice[]) => routesOf(service(spec), slices, here)[0]?.internal.map(({ address }) => address)

describe('routesOf()', () => {
  it('leads the port to the number that the slice has for its name and protocol', () => {
    const spec = { ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'web' }, { name: 'dns', port: 53, protocol: 'UDP' }, { name: 'dns-tcp', port: 53, protocol: 'TCP' }] }
    const first = slice([endpoint('127.1.0.1', ready)], [{ name: 'http', port: 8080, protocol: 'TCP' }, { name: 'dns', port: 5353, protocol: 'UDP' }])
    const second = slice([endpoint('127.1.0.2', ready)], [{ name: 'http', port: 9090, protocol: 'TCP' }])
    expect(routesOf(service(spec), [first, second], here).map(({ portName, protocol, internal }) => [portName, protocol, internal])).toEqual([
      ['http', 'TCP', [{ address: '127.1.0.1', port: 8080 }, { address: '127.1.0.2', port: 9090 }]],
      ['dns', 'UDP', [{ address: '127.1.0.1', port: 5353 }]],
      ['dns-tcp', 'TCP', []],
    ])
  })

  it.each<[string, object]>([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['an external name', { type: 'ExternalName', externalName: 'example.com', clusterIP: '' }],
    ['without an address yet', { clusterIP: '', clusterIPs: [] }],
  ])('has none for a service that is %s', (_, spec) => {
    expect(routesOf(service(spec), [slice([endpoint('127.1.0.1', ready)])], here)).toEqual([])
  })

  it.each<[string, object, EndpointSlice[], string[]]>([
    ['those that are ready', {}, [slice([endpoint('1.0.0.1', ready), endpoint('1.0.0.2', going), endpoint('1.0.0.3', { ready: false })])], ['1.0.0.1']],
    ['those of which nothing is said', {}, [slice([endpoint('1.0.0.1')])], ['1.0.0.1']],
    ['those that go and still serve, if no other is there', {}, [slice([endpoint('1.0.0.1', going), endpoint('1.0.0.2', gone)])], ['1.0.0.1']],
    ['none, if none serves', {}, [slice([endpoint('1.0.0.2', gone), endpoint('1.0.0.3', { ready: false, serving: true })])], []],
    ['those that are ready and go, where not ready ones are published', {}, [slice([endpoint('1.0.0.1', { ready: true, serving: false, terminating: true })])], ['1.0.0.1']],
    ['each once', {}, [slice([endpoint('1.0.0.1', ready)]), slice([endpoint('1.0.0.1', ready)])], ['1.0.0.1']],
    ['none of an FQDN', {}, [slice([endpoint('example.com', ready)], undefined, 'FQDN')], []],
    ['those of this node', { internalTrafficPolicy: 'Local' }, [slice([endpoint('1.0.0.1', ready), endpoint('1.0.0.2', ready, { nodeName: 'there' })])], ['1.0.0.1']],
    ['those of this node that go, before others that are ready', { internalTrafficPolicy: 'Local' }, [slice([endpoint('1.0.0.1', going), endpoint('1.0.0.2', ready, { nodeName: 'there' })])], ['1.0.0.1']],
    ['those that are meant for this zone', {}, [slice([endpoint('1.0.0.1', ready, { hints: { forZones: [{ name: 'a' }] } }), endpoint('1.0.0.2', ready, { hints: { forZones: [{ name: 'b' }] } })])], ['1.0.0.1']],
    ['those that are meant for this node', {}, [slice([endpoint('1.0.0.1', ready, { hints: { forNodes: [{ name: 'here' }] } }), endpoint('1.0.0.2', ready, { hints: { forNodes: [{ name: 'there' }] } })])], ['1.0.0.1']],
    ['all, if one has no hint', {}, [slice([endpoint('1.0.0.1', ready, { hints: { forZones: [{ name: 'a' }] } }), endpoint('1.0.0.2', ready)])], ['1.0.0.1', '1.0.0.2']],
    ['all, if none is meant for this zone', {}, [slice([endpoint('1.0.0.1', ready, { hints: { forZones: [{ name: 'b' }] } })])], ['1.0.0.1']],
  ])('takes %s', (_, spec, slices, wanted) => {
    expect(addresses(spec, slices)).toEqual(wanted)
  })

  it('leads node ports by the external policy', () => {
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }], externalTrafficPolicy: 'Local' }
    const [route] = routesOf(service(spec), [slice([endpoint('1.0.0.1', ready), endpoint('1.0.0.2', ready, { nodeName: 'there' })])], here)
    expect([route!.nodePort, route!.isExternalLocal, route!.internal.length, route!.external]).toEqual([30080, true, 2, [{ address: '1.0.0.1', port: 8080 }]])
  })

  it.each([[undefined, undefined], ['None', undefined], ['ClientIP', 10_800_000]])('has the affinity of %s', (sessionAffinity, affinityMs) => {
    expect(routesOf(service({ sessionAffinity }), [], here)[0]!.affinityMs).toBe(affinityMs)
  })
})
