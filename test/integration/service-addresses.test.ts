import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/index.ts'
import { TestServer, services, settle } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const addresses = '/apis/networking.k8s.io/v1/ipaddresses'
const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
const namesOf = async (url: string, one = server) => (await one.get(url)).body.items.map((i: any) => i.metadata.name) as string[]

describe('a new server', () => {
  it('has a range that is ready and held, and the address of its own service', async () => {
    const { body } = await server.get(`${ranges}/kubernetes`)
    expect(body).toMatchObject({
      metadata: { finalizers: ['networking.k8s.io/service-cidr-finalizer'] },
      spec: { cidrs: ['10.0.0.0/24'] },
      status: { conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' }] },
    })
    expect((await server.get(`${addresses}/10.0.0.1`)).body).toMatchObject({
      metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } },
    })
  })
})

describe('the IPAddress of a service', () => {
  it('is made with it, and goes with it', async () => {
    await server.create(services, service('web', { clusterIP: '10.0.0.9' }))
    expect(await namesOf(addresses)).toEqual(['10.0.0.1', '10.0.0.9'])
    await server.delete(`${services}/web`)
    // Whoever asks for the address at once waits until it is free.
    const next = await server.create(services, service('next', { clusterIP: '10.0.0.9' }))
    expect([next.code, await namesOf(addresses)]).toEqual([201, ['10.0.0.1', '10.0.0.9']])
    expect((await server.get(`${addresses}/10.0.0.9`)).body.spec.parentRef.name).toBe('next')
  })

  it('goes when the service needs no address any more, and comes back when it does', async () => {
    await server.create(services, service('web', { clusterIP: '10.0.0.9' }))
    const change = (spec: object) => server.patch(`${services}/web`, { spec }, 'strategic')
    expect((await change({ type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null })).code).toBe(200)
    await settle()
    expect(await namesOf(addresses)).toEqual(['10.0.0.1'])
    const { body } = await change({ type: 'ClusterIP', externalName: null })
    expect(await namesOf(addresses)).toContain(body.spec.clusterIP)
  })

  it('is not made by a dry run, nor left by a refused request', async () => {
    expect((await server.create(`${services}?dryRun=All`, service('dry'))).code).toBe(201)
    expect((await server.create(services, service('A B'))).code).toBe(422)
    expect((await server.create(services, service('kubernetes'))).code).toBe(409)
    expect(await namesOf(addresses)).toEqual(['10.0.0.1'])
  })

  it('is made again if somebody deletes it', async () => {
    await server.create(services, service('web', { clusterIP: '10.0.0.9' }))
    await server.delete(`${addresses}/10.0.0.9`)
    await settle()
    expect(await namesOf(addresses)).toContain('10.0.0.9')
  })

  it('is deleted if there is no such service, but not while it is young', async () => {
    const labels = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }
    const spec = { parentRef: { resource: 'services', namespace: 'default', name: 'gone' } }
    server.clock.advance(170_000)
    for (const [name, more] of [['10.0.0.50', { labels }], ['10.0.0.51', {}]] as const) {
      expect((await server.create(addresses, { metadata: { name, ...more }, spec })).code).toBe(201)
    }
    server.clock.advance(11_000)
    await settle()
    expect(await namesOf(addresses)).toEqual(['10.0.0.1', '10.0.0.50', '10.0.0.51'])
    server.clock.advance(180_000)
    await settle()
    // Objects of other clients are never deleted.
    expect(await namesOf(addresses)).toEqual(['10.0.0.1', '10.0.0.51'])
  })
})

it('a server that died between the address of its service and the service starts again', async () => {
  const key = '/registry/services/specs/default/kubernetes'
  const { revision } = (await server.store.get(key))!
  server.api.close()
  await server.store.write({ key, expected: revision, value: undefined })
  server = await TestServer.start({ store: server.store })
  expect((await server.get(`${services}/kubernetes`)).body.spec.clusterIPs).toEqual(['10.0.0.1'])
})

describe('ranges', () => {
  const range = (name: string, cidr: string) => ({ metadata: { name }, spec: { cidrs: [cidr] } })

  it('can be added: their addresses are given out, too', async () => {
    const asked = service('asked', { clusterIP: '10.7.0.9' })
    expect((await server.create(services, asked)).code).toBe(422)
    await server.create(ranges, range('more', '10.7.0.0/24'))
    expect((await server.create(services, asked)).code).toBe(201)
    const made = await Promise.all(Array.from({ length: 300 }, (_, i) => server.create(services, service(`s-${i}`))))
    const ips = made.map((r) => r.body.spec.clusterIP as string)
    expect(new Set(ips).size).toBe(300)
    expect(ips.some((ip) => ip.startsWith('10.7.0.'))).toBe(true)
  })

  it('that are being deleted give out nothing', async () => {
    await server.create(ranges, { ...range('more', '10.7.0.0/24'), metadata: { name: 'more', finalizers: ['example.com/wait'] } })
    await server.delete(`${ranges}/more`)
    expect((await server.create(services, service('asked', { clusterIP: '10.7.0.9' }))).code).toBe(422)
  })
})

describe('two servers on one store', () => {
  const startTwo = async () => {
    const other = await TestServer.start({ store: server.store, seed: 2 })
    return { other, both: [server, other] as const }
  }

  it('never give out the same address', async () => {
    const { other, both } = await startTwo()
    const made = await Promise.all(Array.from({ length: 240 }, (_, i) => both[i % 2]!.create(services, service(`s-${i}`))))
    expect(new Set(made.map((r) => r.code))).toEqual(new Set([201]))
    expect(new Set(made.map((r) => r.body.spec.clusterIP)).size).toBe(240)
    other.api.close()
  })

  it('let one of those have an address who ask both for it', async () => {
    const { other, both } = await startTwo()
    const replies = await Promise.all(both.map((one, i) => one.create(services, service(`s-${i}`, { clusterIP: '10.0.0.77' }))))
    expect(replies.map((r) => r.code).sort()).toEqual([201, 422])
    other.api.close()
  })
})

it('services that were stored without IPAddresses get theirs at the next start', async () => {
  await server.create(services, service('web', { clusterIP: '10.0.0.9' }))
  await forget(server.store, '10.0.0.9')
  const next = await server.restart()
  expect(await namesOf(addresses, next)).toEqual(['10.0.0.1', '10.0.0.9'])
  expect(next.errors).toEqual([])
  next.api.close()
})

describe('a server with another range', () => {
  it('gives services whose address is in no range any more another one, and leaves the rest', async () => {
    await server.create(services, service('web', { clusterIP: '10.0.0.9' }))
    await server.create(services, service('head', { clusterIP: 'None' }))
    await server.create(ranges, { metadata: { name: 'more' }, spec: { cidrs: ['10.2.0.0/24'] } })
    await server.create(services, service('kept', { clusterIP: '10.2.0.9' }))
    server.api.close()
    const other = await TestServer.start({ store: server.store, seed: 2, serviceRange: '127.130.16.0/20' })
    const ipOf = async (name: string) => (await other.get(`${services}/${name}`)).body.spec.clusterIPs as string[]
    expect(await ipOf('kubernetes')).toEqual(['127.130.16.1'])
    expect(await ipOf('head')).toEqual(['None'])
    expect(await ipOf('kept')).toEqual(['10.2.0.9'])
    const [moved] = await ipOf('web')
    expect(moved).toMatch(/^127\.130\.(1[6-9]|2\d|3[01])\.\d+$/)
    expect((await namesOf(addresses, other)).sort()).toEqual(['10.2.0.9', '127.130.16.1', moved].sort())
    expect((await other.get(`${ranges}/kubernetes`)).body.spec.cidrs).toEqual(['127.130.16.0/20'])
    const fresh = await other.create(services, service('fresh'))
    expect(fresh.body.spec.clusterIP).toMatch(/^127\.130\./)
    other.api.close()
  })
})

/** Removes an IPAddress as if it had never been made, while nobody looks. */
async function forget(store: Store, ip: string): Promise<void> {
  server.api.close()
  const { items } = await store.range('/registry/')
  const found = items.find(({ key }) => key.endsWith(`ipaddresses/${ip}`))!
  await store.write({ key: found.key, expected: found.revision, value: undefined })
}
