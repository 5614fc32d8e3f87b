import { describe, expect, it } from 'vitest'
import type { Endpoints, Pod, Service } from '../../api/generated/types.ts'
import { plan } from './plan.ts'
import { subsetsOf, truncate } from './subsets.ts'

const service = (spec: object = {}, metadata: object = {}): Service =>
  ({
    metadata: { name: 'web', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', labels: { team: 'a' }, ...metadata },
    spec: { clusterIP: '10.0.0.9', ipFamilies: ['IPv4'], selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
  }) as unknown as Service
const pod = (i: number, over: { ready?: boolean; metadata?: object; spec?: object; status?: object } = {}): Pod =>
  ({
    metadata: { name: `p${i}`, namespace: 'ns', uid: `u${i}`, ...over.metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'main', ports: [{ name: 'web', containerPort: 8000 + (i % 2), protocol: 'TCP' }] }], ...over.spec },
    status: { phase: 'Running', podIPs: [{ ip: `10.1.0.${i}` }], conditions: [{ type: 'Ready', status: over.ready === false ? 'False' : 'True' }], ...over.status },
  }) as unknown as Pod

/** `1,2 (3) on 8080/http`: ready, not ready, ports. */
const told = (of: Service, pods: Pod[]) =>
  subsetsOf(of, pods).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const last = (list: typeof addresses) => list.map((a) => a.ip.split('.').at(-1)).join()
    return `${last(addresses)} (${last(notReadyAddresses)}) on ${ports.map((p) => `${p.port}/${p.name ?? ''}`).join()}`
  })

const two = { ports: [{ name: 'a', port: 1, targetPort: 11 }, { name: 'b', port: 2, targetPort: 'web' }] }

describe('subsets', () => {
  it.each<[string, Service, Pod[], string[]]>([
    ['hold pods by whether they are ready', service(), [pod(2), pod(1), pod(3, { ready: false })], ['1,2 (3) on 8080/http']],
    ['hold those that are not ready as ready where the service wants it', service({ publishNotReadyAddresses: true }), [pod(1, { ready: false })], ['1 () on 8080/http']],
    ['leave out those that are going', service(), [pod(1, { metadata: { deletionTimestamp: 'x' } })], []],
    ['leave out those that have ended', service(), [pod(1, { status: { phase: 'Failed' } })], []],
    ['join ports that the same pods have', service(two), [pod(2), pod(4)], ['2,4 () on 11/a,8000/b']],
    ['part ports that other pods have', service(two), [pod(2), pod(3)], ['2,3 () on 11/a', '2 () on 8000/b', '3 () on 8001/b']],
    ['need no ports if headless', service({ clusterIP: 'None', ports: [] }), [pod(1), pod(2)], ['1,2 () on ']],
    ['have addresses of the first kind', service({ ipFamilies: ['IPv6'] }), [pod(1)], []],
  ])('%s', (_, of, pods, subsets) => {
    expect(told(of, pods)).toEqual(subsets)
  })
})

describe('truncate()', () => {
  const list = (n: number, from = 0) => Array.from({ length: n }, (_, i) => ({ ip: `10.${Math.floor((from + i) / 250)}.0.${(from + i) % 250}` }))
  it.each<[string, [number, number][], [number, number][], boolean]>([
    ['leaves a thousand', [[600, 400]], [[600, 400]], false],
    ['takes from those that are not ready first', [[600, 300], [100, 100]], [[600, 225], [100, 75]], true],
    ['takes from those that are ready by their share', [[900, 5], [600, 0]], [[600, 0], [400, 0]], true],
  ])('%s', (_, before, after, isTruncated) => {
    const result = truncate(before.map(([ready, not]) => ({ addresses: list(ready), notReadyAddresses: list(not, 5000) })))
    expect(result.isTruncated).toBe(isTruncated)
    expect(result.subsets.map((s) => [s.addresses?.length ?? 0, s.notReadyAddresses?.length ?? 0])).toEqual(after)
  })
})

describe('plan()', () => {
  const made = (of: Service, pods: Pod[]): Endpoints => {
    const [action] = plan({ service: of, pods, endpoints: undefined }).actions
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u', controller: true }]
    return { ...action!.endpoints, metadata: { ...action!.endpoints.metadata, ownerReferences } }
  }

  it('makes what is missing, also without pods', () => {
    expect(plan({ service: service(), pods: [], endpoints: undefined }).actions).toEqual([
      {
        kind: 'CreateEndpoints',
        endpoints: {
          metadata: {
            name: 'web',
            namespace: 'ns',
            labels: { team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
            annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
          },
          subsets: [],
        },
      },
    ])
    expect(made(service({ clusterIP: 'None' }), []).metadata.labels).toHaveProperty('service.kubernetes.io/headless', '')
  })

  it.each<[string, Service, Pod[], boolean]>([
    ['nothing new', service(), [pod(1)], false],
    ['another pod', service(), [pod(1), pod(2)], true],
    ['a pod that is not ready any more', service(), [pod(1, { ready: false })], true],
    ['another label', service({}, { labels: {} }), [pod(1)], true],
  ])('%s', (_, of, pods, isWritten) => {
    const endpoints = made(service(), [pod(1)])
    expect(plan({ service: of, pods, endpoints }).actions.map((a) => a.kind)).toEqual(isWritten ? ['UpdateEndpoints'] : [])
  })

  it('takes over what another service of the name has left, and leaves alone what is served by something else', () => {
    const endpoints = made(service(), [pod(1)])
    expect(plan({ service: service({}, { uid: 'new' }), pods: [pod(1)], endpoints }).actions).toMatchObject([{ endpoints: { metadata: { ownerReferences: [{ uid: 'new' }] } } }])
    expect(plan({ service: service(), pods: undefined, endpoints }).actions).toEqual([])
  })

  it('says when something was cut off', () => {
    const pods = Array.from({ length: 1001 }, (_, i) => pod(i))
    expect(made(service(), pods).metadata.annotations).toHaveProperty('endpoints.kubernetes.io/over-capacity', 'truncated')
    expect(plan({ service: service(), pods, endpoints: made(service(), pods) }).actions).toEqual([])
  })
})
