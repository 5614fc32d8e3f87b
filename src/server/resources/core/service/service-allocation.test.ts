import { describe, expect, test } from 'vitest'
import type { Random } from '../../../../base/random.ts'
import { alreadyExists, internalError } from '../../../../api/errors.ts'
import type { IPAddress, Service, ServiceSpec } from '../../../../api/generated/types.ts'
import type { Partly } from '../../../../api/object.ts'
import type { ServerObjects } from '../../../objects/objects.ts'
import { ServiceAllocation } from './service-allocation.ts'
import type { ServiceRanges } from './service-supply.ts'

type Spec = Partly<ServiceSpec>

const lowest: Random = { next: () => 0, uuid: () => '00000000-0000-4000-8000-000000000000' }

/** A store of services and addresses, as far as allocation looks at it. */
function cluster(ranges?: ServiceRanges, cidrs = [ranges?.clusterIps ?? '10.0.0.0/24']) {
  const stored: Service[] = []
  const addresses = new Map<string, IPAddress>()
  const ready = [{ type: 'Ready', status: 'True' }]
  const networks = cidrs.map((cidr, i) => ({ metadata: { name: i ? `more-${i}` : 'kubernetes' }, spec: { cidrs: [cidr] }, status: { conditions: ready } }))
  const reader = {
    get: (_: string, plural: string, __: string, name: string) => (plural === 'ipaddresses' ? addresses.get(name) : undefined),
    has: (_: string, plural: string, __: string, name: string) => (plural === 'ipaddresses' ? addresses.has(name) : stored.length > 0),
    list: (_: string, plural: string) => (plural === 'services' ? stored : networks),
    create: async (_: unknown, address: IPAddress) => {
      await Promise.resolve()
      if (addresses.has(address.metadata.name!)) throw alreadyExists({ group: 'networking.k8s.io', resource: 'ipaddresses' }, address.metadata.name!)
      addresses.set(address.metadata.name!, address)
    },
    delete: (_: unknown, __: string, name: string) => Promise.resolve(addresses.delete(name)),
  } as unknown as ServerObjects
  const allocation = new ServiceAllocation(lowest, ranges)
  const service = (spec: Spec) => ({ metadata: { name: 'x', namespace: 'default' }, spec: { type: 'ClusterIP', ...structuredClone(spec) } })
  return {
    stored,
    addresses,
    begin: async (spec: Spec, old?: Service, dryRun = false) => {
      const made = { ...service(spec), status: old?.status } as Service
      const { errors, finish } = await allocation.begin(made, old, { reader, dryRun })
      return { service: made, spec: made.spec!, errors: errors.map((e) => `${e.field}: ${e.message}`), finish }
    },
    async create(spec: Spec): Promise<Service> {
      const begun = await this.begin(spec)
      expect(begun.errors).toEqual([])
      stored.push(begun.service)
      await begun.finish(true)
      return begun.service
    },
  }
}

describe('cluster IPs', () => {
  test('come from above the part for those who ask, and are not given twice', async () => {
    const c = cluster()
    expect((await c.create({})).spec?.clusterIPs).toEqual(['10.0.0.17'])
    expect((await c.create({})).spec?.clusterIP).toBe('10.0.0.18')
  })

  test('come from the lower part when the upper is used up, and then there are none', async () => {
    const c = cluster({ clusterIps: '10.0.0.0/29' })
    const ips: (string | undefined)[] = []
    for (let i = 0; i < 6; i++) ips.push((await c.create({})).spec?.clusterIP)
    expect(ips).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
    await expect(c.begin({})).rejects.toThrow(internalError('failed to allocate a serviceIP: range is full'))
  })

  test('two requests under way do not get the same, and a failed one gives it back', async () => {
    const c = cluster()
    const [first, second] = await Promise.all([c.begin({}), c.begin({})])
    expect([first.spec.clusterIP, second.spec.clusterIP]).toEqual(['10.0.0.17', '10.0.0.18'])
    await first.finish(false)
    expect((await c.begin({})).spec.clusterIP).toBe('10.0.0.17')
  })

  test('a deleted service gives its address back', async () => {
    const c = cluster()
    await c.create({ clusterIP: '10.0.0.5' })
    c.stored.length = 0
    c.addresses.clear()
    expect((await c.create({ clusterIP: '10.0.0.5' })).spec?.clusterIPs).toEqual(['10.0.0.5'])
  })

  test.each<[string, Spec, string]>([
    ['one that is taken', { clusterIP: '10.0.0.9' }, 'spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: provided IP is already allocated'],
    ['one of another network', { clusterIP: '10.77.0.1' }, 'spec.clusterIPs: Invalid value: ["10.77.0.1"]: failed to allocate IP 10.77.0.1: the provided network does not match the current range'],
    ['the broadcast address', { clusterIP: '10.0.0.255' }, 'spec.clusterIPs: Invalid value: ["10.0.0.255"]: failed to allocate IP 10.0.0.255: the provided network does not match the current range'],
    ['one of the other family', { clusterIP: 'fd00::1' }, 'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster'],
    ['one in the list only', { clusterIPs: ['10.0.0.4'] }, 'spec.clusterIPs: Invalid value: ["10.0.0.4"]: must be empty when `clusterIP` is not specified'],
  ])('%s is refused', async (_, spec, error) => {
    const c = cluster()
    await c.create({ clusterIP: '10.0.0.9' })
    expect((await c.begin(spec)).errors).toEqual([error])
  })

  test('are taken by an IPAddress that names the service', async () => {
    const c = cluster()
    await c.create({ clusterIP: '10.0.0.5' })
    expect(c.addresses.get('10.0.0.5')).toMatchObject({
      metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'x' } },
    })
  })

  test('come from further ranges when the first is used up, or when they are asked for', async () => {
    const c = cluster({ clusterIps: '10.0.0.0/30' }, ['10.0.0.0/30', '10.7.0.0/24', 'fd00::/64'])
    const ips: (string | undefined)[] = []
    for (let i = 0; i < 3; i++) ips.push((await c.create({})).spec?.clusterIP)
    expect(ips).toEqual(['10.0.0.1', '10.0.0.2', '10.7.0.17'])
    expect((await c.create({ clusterIP: '10.7.0.9' })).spec?.clusterIPs).toEqual(['10.7.0.9'])
  })

  test('of another server are passed over', async () => {
    const c = cluster()
    const begun = c.begin({})
    c.addresses.set('10.0.0.17', {} as IPAddress)
    expect((await begun).spec.clusterIP).toBe('10.0.0.18')
  })

  test('a dry run takes nothing and shows the network’s own address', async () => {
    const c = cluster()
    expect((await c.begin({}, undefined, true)).spec.clusterIP).toBe('10.0.0.0')
    expect((await c.begin({})).spec.clusterIP).toBe('10.0.0.17')
  })
})

describe('families', () => {
  test.each<[string, Spec, Spec]>([
    ['an ordinary service has one', {}, { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }],
    ['a service that would like two gets what there is', { ipFamilyPolicy: 'PreferDualStack' }, { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] }],
    ['headless with a selector has one', { clusterIP: 'None', selector: { a: 'b' } }, { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }],
    ['headless without a selector has both', { clusterIP: 'None' }, { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['None'] }],
    ['headless without a selector may choose one', { clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }, { ipFamilies: ['IPv6'] }],
  ])('%s', async (_, spec, wanted) => expect((await cluster().begin(spec)).spec).toMatchObject(wanted))

  test('an ExternalName has none', async () => expect((await cluster().begin({ type: 'ExternalName' })).spec).toEqual({ type: 'ExternalName' }))

  test.each<[string, Spec, string]>([
    ['two families demanded of one', { ipFamilyPolicy: 'RequireDualStack' }, 'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
    ['a family there is not', { ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    [
      'two families with the policy of one',
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'SingleStack' },
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
  ])('%s is refused', async (_, spec, error) => expect((await cluster().begin(spec)).errors).toEqual([error]))

  test('giving up the second one takes the word SingleStack', async () => {
    const c = cluster()
    const old = await c.create({ clusterIP: 'None' })
    expect((await c.begin({ ...old.spec, ipFamilies: ['IPv4'] }, old)).errors).toEqual([
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary IP family',
    ])
    expect((await c.begin({ ...old.spec, ipFamilyPolicy: 'SingleStack' }, old)).spec.ipFamilies).toEqual(['IPv4'])
  })
})

describe('node ports', () => {
  test('one number has one node port over its protocols', async () => {
    const ports = [{ name: 'a', port: 53, protocol: 'TCP' }, { name: 'b', port: 53, protocol: 'UDP' }, { name: 'c', port: 80, protocol: 'TCP' }]
    expect((await cluster().create({ type: 'NodePort', ports })).spec?.ports?.map((p) => p.nodePort)).toEqual([30086, 30086, 30087])
  })

  test('a load balancer may go without', async () => {
    const c = cluster()
    expect((await c.create({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] })).spec?.ports).toEqual([{ port: 80 }])
    expect((await c.create({ type: 'LoadBalancer', ports: [{ port: 80 }] })).spec?.ports).toEqual([{ port: 80, nodePort: 30086 }])
  })

  test.each<[string, Spec['ports'], string]>([
    ['taken by another', [{ port: 80, nodePort: 30052 }], 'spec.ports[0].nodePort: Invalid value: 30052: provided port is already allocated'],
    ['used for the health check of another', [{ port: 80, nodePort: 30053 }], 'spec.ports[0].nodePort: Invalid value: 30053: provided port is already allocated'],
    [
      'out of range',
      [{ port: 80, nodePort: 80 }],
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
    ['asked for twice', [{ port: 80, nodePort: 30035 }, { port: 81, nodePort: 30035 }], 'spec.ports[1].nodePort: Invalid value: 30035: provided port is already allocated'],
  ])('one that is %s is refused', async (_, ports, error) => {
    const c = cluster()
    await c.create({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30053, ports: [{ port: 80, nodePort: 30052 }] })
    expect((await c.begin({ type: 'NodePort', ports })).errors).toEqual([error])
  })

  test('what a refused request had taken is free again', async () => {
    const c = cluster()
    const refused = await c.begin({ clusterIP: '10.0.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 30035 }, { port: 81, nodePort: 1 }] })
    expect(refused.errors).toHaveLength(1)
    await refused.finish(false)
    expect((await c.begin({ clusterIP: '10.0.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 30035 }] })).errors).toEqual([])
  })

  test('the health check has one of its own, which stays', async () => {
    const c = cluster()
    const old = await c.create({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] })
    expect(old.spec?.healthCheckNodePort).toBe(30087)
    expect((await c.begin({ ...old.spec, healthCheckNodePort: 30090 }, old)).errors).toEqual(['spec.healthCheckNodePort: Forbidden: field is immutable'])
    expect((await c.begin({ ...old.spec, healthCheckNodePort: undefined }, old)).spec.healthCheckNodePort).toBe(30087)
    await expect(c.begin({ ...old.spec, clusterIP: undefined, clusterIPs: undefined, ports: [] })).rejects.toThrow(
      'failed to allocate requested HealthCheck NodePort 30087: provided port is already allocated',
    )
  })

  test('a dry run shows dummies beyond the range', async () => {
    const c = cluster()
    expect((await c.begin({ type: 'NodePort', ports: [{ port: 80 }, { port: 81 }] }, undefined, true)).spec.ports?.map((p) => p.nodePort)).toEqual([32769, 32770])
  })
})

describe('updates', () => {
  test('what was allocated and is left out stays', async () => {
    const c = cluster()
    const old = await c.create({ type: 'NodePort', ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] })
    const next = await c.begin({ type: 'NodePort', ports: [{ name: 'b', port: 82 }, { name: 'c', port: 83 }] }, old)
    expect(next.spec).toMatchObject({ clusterIP: '10.0.0.17', clusterIPs: ['10.0.0.17'] })
    expect(next.spec.ports?.map((p) => p.nodePort)).toEqual([30087, 30088])
  })

  test('ExternalName gives the address and the ports back', async () => {
    const c = cluster()
    const old = await c.create({ clusterIP: '10.0.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 30035 }] })
    const next = await c.begin({ ...old.spec, type: 'ExternalName', externalName: 'a.example.com' }, old)
    expect(next.spec).toEqual({ type: 'ExternalName', externalName: 'a.example.com', ports: [{ port: 80 }] })
    c.stored[0] = next.service
    await next.finish(true)
    c.addresses.delete('10.0.0.9')
    expect((await c.begin({ clusterIP: '10.0.0.9', type: 'NodePort', ports: [{ port: 80, nodePort: 30035 }] })).errors).toEqual([])
  })

  test('an ExternalName that becomes a ClusterIP gets an address', async () => {
    const c = cluster()
    const old = await c.create({ type: 'ExternalName', externalName: 'a' })
    expect((await c.begin({ ports: [{ port: 80 }] }, old)).spec).toMatchObject({ clusterIP: '10.0.0.17', ipFamilies: ['IPv4'] })
  })

  test('a ClusterIP that becomes a NodePort gets ports', async () => {
    const c = cluster()
    const old = await c.create({ ports: [{ port: 80 }] })
    expect((await c.begin({ ...old.spec, type: 'NodePort' }, old)).spec.ports).toEqual([{ port: 80, nodePort: 30086 }])
  })

  test('one node port for two ports of a protocol is refused whole', async () => {
    const c = cluster()
    const old = await c.create({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30042 }] })
    const ports = [{ name: 'a', port: 80, protocol: 'TCP', nodePort: 30042 }, { name: 'b', port: 81, protocol: 'TCP', nodePort: 30042 }]
    await expect(c.begin({ ...old.spec, ports }, old)).rejects.toThrow('duplicate nodePort: {TCP 30042}')
  })

  test('node ports that are new are left for validation to refuse', async () => {
    const c = cluster()
    const old = await c.create({ type: 'NodePort', ports: [{ port: 80, nodePort: 30042 }] })
    expect((await c.begin({ ...old.spec, type: 'ClusterIP', ports: [{ port: 80, nodePort: 30043 }] }, old)).spec.ports).toEqual([{ port: 80, nodePort: 30043 }])
    expect((await c.begin({ ...old.spec, type: 'ClusterIP' }, old)).spec.ports).toEqual([{ port: 80 }])
  })

  test('a changed clusterIP takes clusterIPs along', async () => {
    const c = cluster()
    const old = await c.create({ clusterIP: '10.0.0.9' })
    expect((await c.begin({ ...old.spec, clusterIP: '10.0.0.8' }, old)).spec.clusterIPs).toEqual(['10.0.0.8'])
  })

  test('what is no load balancer any more reports none', async () => {
    const c = cluster()
    const old = await c.create({ type: 'LoadBalancer', loadBalancerClass: 'a/b', allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster', ports: [{ port: 80 }] })
    old.status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }
    const next = await c.begin({ ...old.spec, type: 'ClusterIP' }, old)
    expect(next.spec).toEqual({ type: 'ClusterIP', clusterIP: '10.0.0.17', clusterIPs: ['10.0.0.17'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ports: [{ port: 80 }] })
    expect(next.service.status).toEqual({ loadBalancer: {} })
    expect(old.status?.loadBalancer?.ingress).toHaveLength(1)
  })
})
