import { describe, expect, it } from 'vitest'
import type { EndpointSlice, Node, Pod, Service } from '../../api/generated/types.ts'
import type { Observed } from './observe.ts'
import { type Action, plan } from './plan.ts'

const readyAt = '2026-01-01T00:00:05Z'
const service = (spec: object = {}, metadata: object = {}): Service =>
  ({
    metadata: { name: 'web', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', labels: { team: 'a' }, ...metadata },
    spec: { clusterIP: '10.0.0.9', ipFamilies: ['IPv4'], selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
  }) as unknown as Service

const pod = (i: number, over: { ready?: boolean; metadata?: object; spec?: object; status?: object } = {}): Pod =>
  ({
    metadata: { name: `p${String(i).padStart(3, '0')}`, namespace: 'ns', uid: `u${i}`, ...over.metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'main', ports: [{ name: 'web', containerPort: 8000 + (i % 2), protocol: 'TCP' }] }], ...over.spec },
    status: {
      phase: 'Running',
      podIPs: [{ ip: `10.1.${Math.floor(i / 200)}.${i % 200}` }],
      conditions: [{ type: 'Ready', status: over.ready === false ? 'False' : 'True', lastTransitionTime: readyAt }],
      ...over.status,
    },
  }) as unknown as Pod
const many = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => pod(from + i))

const node = (name: string, zone?: string): Node => ({ metadata: { name, labels: zone ? { 'topology.kubernetes.io/zone': zone } : {} } }) as Node
const nodes = new Map([['n1', node('n1', 'z1')]])

const observed = (pods: Pod[], slices: EndpointSlice[] = [], of = service(), on: Observed['nodes'] = nodes): Observed => ({ service: of, pods, slices, nodes: on })

/** The slices after a plan was carried out. */
let made = 0
function after(seen: Observed): EndpointSlice[] {
  const slices = new Map(seen.slices.map((slice) => [slice.metadata.name, slice]))
  for (const action of plan(seen).actions) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u', controller: true }]
    if (action.kind === 'CreateSlice') {
      const name = `${action.slice.metadata.generateName}${++made}`
      slices.set(name, { ...action.slice, metadata: { ...action.slice.metadata, name, ownerReferences } })
    } else if (action.kind === 'UpdateSlice') slices.set(action.slice.metadata.name, action.slice)
    else slices.delete(action.slice.metadata.name)
  }
  return [...slices.values()]
}

const kinds = (actions: readonly Action[]) => actions.map((a) => a.kind.replace('Slice', '')).join()
const sizes = (slices: readonly EndpointSlice[]) => slices.map((slice) => slice.endpoints.length).sort((a, b) => b - a).join()

describe('a slice', () => {
  it('says whose it is and who serves', () => {
    const [action, ...more] = plan(observed([pod(1)])).actions
    expect(more).toEqual([])
    expect(action).toEqual({
      kind: 'CreateSlice',
      slice: {
        metadata: {
          generateName: 'web-',
          namespace: 'ns',
          labels: { team: 'a', 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
          annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
        },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        endpoints: [
          {
            addresses: ['10.1.0.1'],
            conditions: { ready: true, serving: true, terminating: false },
            nodeName: 'n1',
            zone: 'z1',
            targetRef: { kind: 'Pod', namespace: 'ns', name: 'p001', uid: 'u1' },
          },
        ],
      },
    })
  })

  it('is made empty for a service without endpoints, once', () => {
    const slices = after(observed([]))
    expect(slices).toMatchObject([{ ports: [], endpoints: [] }])
    expect(plan(observed([], slices)).actions).toEqual([])
  })

  it('of a headless service says so', () => {
    expect(after(observed([pod(1)], [], service({ clusterIP: 'None' })))[0]!.metadata.labels).toHaveProperty('service.kubernetes.io/headless', '')
  })

  it.each<[string, Service]>([
    ['without a selector', service({ selector: undefined })],
    ['for a name elsewhere', service({ type: 'ExternalName' })],
  ])('is nobody’s business for a service %s', (_, of) => {
    expect(plan({ service: of, pods: undefined, slices: [], nodes }).actions).toEqual([])
  })
})

describe('an endpoint', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  it.each<[string, Pod, object, object | undefined]>([
    ['that is ready', pod(1), {}, { conditions: { ready: true, serving: true, terminating: false } }],
    ['that is not ready', pod(1, { ready: false }), {}, { conditions: { ready: false, serving: false, terminating: false } }],
    ['that is going and still serves', pod(1, { metadata: going }), {}, { conditions: { ready: false, serving: true, terminating: true } }],
    ['that is published anyway', pod(1, { ready: false, metadata: going }), { publishNotReadyAddresses: true }, { conditions: { ready: true, serving: false, terminating: true } }],
    ['that has ended', pod(1, { status: { phase: 'Succeeded' } }), {}, undefined],
    ['without an address', pod(1, { status: { podIPs: undefined } }), {}, undefined],
    ['with an address of another kind', pod(1, { status: { podIPs: [{ ip: 'fd00::1' }] } }), {}, undefined],
    ['on a node that nobody knows', pod(1, { spec: { nodeName: 'n9' } }), {}, undefined],
    ['on a node that nobody knows, published anyway', pod(1, { spec: { nodeName: 'n9' } }), { publishNotReadyAddresses: true }, { nodeName: 'n9' }],
    ['with a name of its own', pod(1, { spec: { nodeName: 'n1', hostname: 'h', subdomain: 'web' } }), {}, { hostname: 'h' }],
    ['with a name in another domain', pod(1, { spec: { nodeName: 'n1', hostname: 'h', subdomain: 'other' } }), {}, { hostname: undefined }],
    ['to be used nearby', pod(1), { trafficDistribution: 'PreferClose' }, { hints: { forZones: [{ name: 'z1' }] } }],
    ['to be used on its node', pod(1), { trafficDistribution: 'PreferSameNode' }, { hints: { forZones: [{ name: 'z1' }], forNodes: [{ name: 'n1' }] } }],
    ['that is not ready is not recommended', pod(1, { ready: false }), { trafficDistribution: 'PreferClose' }, { hints: undefined }],
  ])('%s', (_, of, spec, endpoint) => {
    const [slice] = after(observed([of], [], service(spec)))
    for (const [field, value] of Object.entries(endpoint ?? {})) expect(slice!.endpoints[0]![field as 'hints']).toEqual(value)
    expect(slice!.endpoints.length).toBe(endpoint ? 1 : 0)
  })

  it('has the number of a port that its pod has a name for; pods with other numbers are in other slices', () => {
    const named = service({ ports: [{ port: 80, targetPort: 'web', protocol: 'TCP' }, { name: 'x', port: 81, targetPort: 'none', protocol: 'TCP' }] })
    const slices = after(observed(many(0, 4), [], named))
    expect(slices.map((slice) => [slice.ports, slice.endpoints.length])).toEqual([
      [[{ name: '', port: 8000, protocol: 'TCP' }], 2],
      [[{ name: '', port: 8001, protocol: 'TCP' }], 2],
    ])
  })

  it('of a service with two kinds of addresses is in a slice of each', () => {
    const dual = service({ ipFamilies: ['IPv4', 'IPv6'] })
    const slices = after(observed([pod(1, { status: { podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }] } })], [], dual))
    expect(slices.map((slice) => [slice.addressType, slice.endpoints[0]!.addresses])).toEqual([['IPv4', ['10.1.0.1']], ['IPv6', ['fd00::1']]])
    expect(kinds(plan(observed([pod(1)], slices)).actions)).toBe('Delete')
  })
})

describe('slices change little', () => {
  const full = after(observed(many(0, 250)))

  it('and hold a hundred endpoints at most', () => {
    expect(sizes(full)).toBe('100,100,50')
    expect(plan(observed(many(0, 250), full)).actions).toEqual([])
  })

  it.each<[string, Pod[], Service, string, string]>([
    ['one more goes where there is room', many(0, 251), service(), 'Update', '100,100,51'],
    ['one less is one write', many(1, 250), service(), 'Update', '100,99,50'],
    ['one that takes the place of another is one write', [...many(1, 250), pod(300)], service(), 'Update', '100,100,50'],
    ['one that changes is one write', [pod(0, { ready: false }), ...many(1, 250)], service(), 'Update', '100,100,50'],
    ['more than one slice has room for are put where they fit', many(0, 360), service(), 'Create,Update', '100,100,100,60'],
    ['another label is written to all', many(0, 250), service({}, { labels: { team: 'b' } }), 'Update,Update,Update', '100,100,50'],
    ['another port takes the slices there are', many(0, 250), service({ ports: [{ name: 'http', port: 80, targetPort: 9090 }] }), 'Update,Update,Update', '100,100,50'],
    ['none at all leaves one empty slice', [], service(), 'Update,Delete,Delete', '0'],
  ])('%s', (_, pods, of, actions, result) => {
    const seen = observed(pods, full, of)
    expect(kinds(plan(seen).actions)).toBe(actions)
    const next = after(seen)
    expect(sizes(next)).toBe(result)
    expect(plan(observed(pods, next, of)).actions).toEqual([])
    expect(next.flatMap((slice) => slice.endpoints.map((e) => e.targetRef!.name)).sort()).toEqual(pods.map((p) => p.metadata.name).sort())
  })

  it('and say since when the change was due', () => {
    const later = pod(0, { ready: false, status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:09:00Z' }] } })
    const [action] = plan(observed([later, ...many(1, 250)], full)).actions
    expect(action!.slice.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:09:00Z' })
    const [removed] = plan(observed(many(1, 250), full)).actions
    expect(removed!.slice.metadata.annotations).toEqual({})
  })

  it('but those of a service of the same name that is gone are deleted', () => {
    const stranger = { ...full[0]!, metadata: { ...full[0]!.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'before', controller: true }] } }
    expect(kinds(plan(observed(many(0, 3), [stranger])).actions)).toBe('Create,Delete')
  })
})
