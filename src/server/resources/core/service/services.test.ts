import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../../../base/random.ts'
import { FeatureGates } from '../../../../api/feature-gates.ts'
import type { Service, ServiceSpec, ServiceStatus } from '../../../../api/generated/types.ts'
import type { Partly } from '../../../../api/object.ts'
import { ServiceAllocation } from './service-allocation.ts'
import { services } from './services.ts'

type Spec = Partly<ServiceSpec>

const resource = services(new ServiceAllocation(systemRandom))
const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)

/** A service as it is after defaults and allocation. */
function complete(spec: Spec = {}, annotations?: Record<string, string>): Service {
  const made = { metadata: { name: 'x', annotations }, spec: structuredClone(spec) } as Service
  resource.defaults!(made, ctx)
  const own = made.spec!
  if (own.type !== 'ExternalName') {
    own.clusterIP ??= '10.0.0.9'
    own.clusterIPs ??= [own.clusterIP]
  }
  return made
}
const http = { ports: [{ port: 80 }] }
const headless = { clusterIP: 'None', ...http }

describe('defaults', () => {
  test.each<[string, Spec, Spec]>([
    [
      'a ClusterIP',
      http,
      { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    ],
    ['external IPs make it reachable from outside', { externalIPs: ['1.2.3.4'] }, { externalTrafficPolicy: 'Cluster' }],
    ['a NodePort', { type: 'NodePort' }, { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' }],
    ['a LoadBalancer', { type: 'LoadBalancer' }, { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' }],
    ['affinity by client', { sessionAffinity: 'ClientIP' }, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } }],
    ['affinity None has no configuration', { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }, { sessionAffinityConfig: undefined }],
    ['a target port by name stays', { ports: [{ port: 80, targetPort: 'web' }] }, { ports: [{ port: 80, protocol: 'TCP', targetPort: 'web' }] }],
  ])('%s', (_, spec, wanted) => {
    const made = { metadata: {}, spec: structuredClone(spec) } as Service
    resource.defaults!(made, ctx)
    expect(made.spec).toMatchObject(wanted)
  })

  test('an ExternalName has no traffic policies', () => {
    const made = { metadata: {}, spec: { type: 'ExternalName' } } as Service
    resource.defaults!(made, ctx)
    expect(made.spec).toEqual({ type: 'ExternalName', sessionAffinity: 'None' })
  })
})

describe('validate()', () => {
  test.each<[string, Spec]>([
    ['the least', http],
    ['headless without ports', { clusterIP: 'None' }],
    ['an ExternalName with a dot at the end', { type: 'ExternalName', externalName: 'a.example.com.' }],
    ['two ports of one number', { ports: [{ name: 'a', port: 53 }, { name: 'b', port: 53, protocol: 'UDP' }] }],
    ['a load balancer with ranges', { ...http, type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.0/8 '], loadBalancerClass: 'example.com/lb' }],
    ['a distribution', { ...http, trafficDistribution: 'PreferSameNode' }],
  ])('takes %s', (_, spec) => expect(said(resource.validate(complete(spec), ctx))).toEqual([]))

  test.each<[string, Spec, string[]]>([
    ['no ports', {}, ['spec.ports: Required value']],
    ['an unknown type', { ...headless, type: 'Other' }, ['spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"']],
    ['ports without names', { ports: [{ port: 80 }, { port: 81 }] }, ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value']],
    ['a name twice', { ports: [{ name: 'a', port: 80 }, { name: 'a', port: 81 }] }, ['spec.ports[1].name: Duplicate value: "a"']],
    [
      'a port twice',
      { ports: [{ name: 'a', port: 80 }, { name: 'b', port: 80 }] },
      ['spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'],
    ],
    ['a bad protocol', { ports: [{ port: 80, protocol: 'X' }] }, ['spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']],
    ['a bad target', { ports: [{ port: 80, targetPort: '80' }] }, ['spec.ports[0].targetPort: Invalid value: "80": must contain at least one letter (a-z)']],
    ['the kubelet’s port outside', { type: 'LoadBalancer', ports: [{ port: 10250 }] }, ['spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet']],
    ['a headless NodePort', { ...headless, type: 'NodePort' }, ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"]],
    ['a node port on a ClusterIP', { ports: [{ port: 80, nodePort: 30001 }] }, ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]],
    ['an ExternalName without a name', { type: 'ExternalName' }, ['spec.externalName: Required value']],
    ['affinity for two days', { ...http, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 172800 } } }, ['spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 172800: must be greater than 0 and less than 86400']],
    ['an unknown affinity', { ...http, sessionAffinity: 'Cookie' }, ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"']],
    ['an external IP of this machine', { ...http, externalIPs: ['127.0.0.1'] }, ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)']],
    ['addresses that disagree', { ...http, clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.6'] }, ['spec.clusterIPs: Invalid value: ["10.0.0.6"]: first value must match `clusterIP`']],
    ['a family and an address of another', { ...http, clusterIP: '10.0.0.5', ipFamilies: ['IPv6'] }, ['spec.clusterIPs[0]: Invalid value: "10.0.0.5": expected an IPv6 value as indicated by `ipFamilies[0]`']],
    ['a health check port without need', { ...http, type: 'LoadBalancer', healthCheckNodePort: 30001 }, ["spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"]],
    ['ranges on a NodePort', { ...http, type: 'NodePort', loadBalancerSourceRanges: ['10.0.0.0/99'] }, ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'", 'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/99": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['an external policy inside', { ...http, externalTrafficPolicy: 'Local' }, ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services']],
    ['an unknown distribution', { ...http, trafficDistribution: 'Near' }, ['spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"']],
  ])('refuses %s', (_, spec, errors) => expect(said(resource.validate(complete(spec), ctx))).toEqual(errors))

  test('looks at source ranges in the annotation', () => {
    const key = 'service.beta.kubernetes.io/load-balancer-source-ranges'
    expect(said(resource.validate(complete(http, { [key]: '10.0.0.0/8, abc' }), ctx))).toEqual([
      `metadata.annotations[${key}]: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
      `metadata.annotations[${key}]: Invalid value: "abc": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
    ])
  })
})

describe('validateUpdate()', () => {
  test.each<[string, Spec, Spec, string[]]>([
    ['another address', { ...http, clusterIP: '10.0.0.7' }, { ...http, clusterIP: '10.0.0.8' }, ['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set']],
    ['an address for a headless one', headless, http, ['spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set']],
    ['another family', { ...http, ipFamilies: ['IPv4'] }, { ...http, clusterIP: '10.0.0.9', ipFamilies: ['IPv6'] }, [
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ]],
    ['another class', { ...http, type: 'LoadBalancer', loadBalancerClass: 'a/b' }, { ...http, type: 'LoadBalancer', loadBalancerClass: 'a/c' }, ['spec.loadBalancerClass: Invalid value: "a/c": may not change once set']],
    ['nothing against an external IP it has', { ...http, externalIPs: ['1.1.1.01'] }, { ...http, externalIPs: ['1.1.1.01'] }, []],
    ['nothing against a change to ExternalName', http, { type: 'ExternalName', externalName: 'a' }, []],
  ])('says of %s', (_, old, next, errors) => expect(said(resource.validateUpdate(complete(next), complete(old), ctx))).toEqual(errors))
})

describe('status', () => {
  const loadBalancer = { ...http, type: 'LoadBalancer' }
  const judge = (spec: Spec, status: Partly<ServiceStatus>) => said(resource.status!.validate({ ...complete(spec), status } as Service, complete(spec), ctx))
  test('only load balancers have addresses', () => {
    expect(judge(http, { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } })).toEqual(["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"])
    expect(judge(loadBalancer, { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }, { hostname: 'a.example.com' }] } })).toEqual([])
  })
  test('modes go with addresses, and hosts are names', () => {
    expect(judge(loadBalancer, { loadBalancer: { ingress: [{ ip: 'abc', ipMode: 'VIP' }, { hostname: '1.2.3.4' }, { ip: '1.2.3.4', ipMode: 'Other' }, { hostname: 'h', ipMode: 'VIP' }] } })).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "abc": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[2].ipMode: Unsupported value: "Other": supported values: "Proxy", "VIP"',
      'status.loadBalancer.ingress[3].ipMode: Forbidden: may not be specified when `ip` is not set',
    ])
  })
})

test('cells show how a service is reached', () => {
  const cells = (spec: Spec, status?: Partly<ServiceStatus>) => {
    const made = { ...complete(spec), status } as Service
    return resource.columns!.filter((c) => c.name !== 'Age').map((c) => c.cell(made, 0))
  }
  expect(cells({ ...http, externalIPs: ['1.2.3.4'], selector: { b: 'c', a: 'd' } })).toEqual(['x', 'ClusterIP', '10.0.0.9', '1.2.3.4', '80/TCP', 'a=d,b=c'])
  expect(cells({ type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] })).toEqual(['x', 'NodePort', '10.0.0.9', '<none>', '80:30001/TCP', '<none>'])
  expect(cells({ ...http, type: 'LoadBalancer' })[3]).toBe('<pending>')
  expect(cells({ ...http, type: 'LoadBalancer', externalIPs: ['9.9.9.9'] }, { loadBalancer: { ingress: [{ hostname: 'b' }, { ip: '1.2.3.4' }, { hostname: 'b' }] } })[3]).toBe('1.2.3.4,b,9.9.9.9')
  expect(cells({ type: 'ExternalName', externalName: 'a.b' })).toEqual(['x', 'ExternalName', '<none>', 'a.b', '<none>', '<none>'])
})

test('warnings say what is ignored', () => {
  const warn = (spec: Spec) => resource.warnings!(complete(spec), undefined, ctx)
  expect(warn(http)).toEqual([])
  expect(warn({ ...headless, sessionAffinity: 'ClientIP' })).toEqual(['spec.SessionAffinity is ignored for headless services'])
  expect(warn({ ...http, externalName: 'a' })).toEqual(['spec.externalName is ignored when spec.type is not "ExternalName"'])
  expect(warn({ ...http, externalIPs: ['FE80::1'] })).toEqual(['spec.externalIPs[0]: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")'])
})
