import { describe, expect, it } from 'vitest'
import type { Node, Pod, Service } from '../../../src/api/generated/types.ts'
import { endpoints, endpointslices, nodes, pods, services } from '../../../src/client/index.ts'
import { endpointSlice } from '../../../src/controllers/endpoint-slice/controller.ts'
import { endpoint } from '../../../src/controllers/endpoints/controller.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import { Scene } from '../kit/scene.ts'

async function start(): Promise<Scene> {
  const s = await Scene.start({ controllers: [endpointSlice, endpoint] })
  await s.client.create(nodes, { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } } as unknown as Node)
  return s
}

async function makeService(s: Scene, spec: object = {}): Promise<void> {
  await s.client.create(services, {
    metadata: { name: 'web', namespace: 'default', labels: { team: 'a' } },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  } as unknown as Service)
  await s.pass(100)
}

async function makePods(s: Scene, count: number, status: 'True' | 'False' = 'True', from = 1): Promise<void> {
  for (let i = from; i < from + count; i++) {
    await s.client.create(pods, {
      metadata: { name: `p${i}`, namespace: 'default', labels: { app: 'web' } },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    } as unknown as Pod)
    await report(s, `p${i}`, { podIP: `10.1.0.${i}`, podIPs: [{ ip: `10.1.0.${i}` }], ...ready(s, status) })
  }
  await s.pass(100)
}

const ready = (s: Scene, status: 'True' | 'False') => ({ phase: 'Running', conditions: [{ type: 'Ready', status, lastTransitionTime: timestamp(s.clock.now()) }] })
const report = (s: Scene, name: string, status: object) => s.client.patch(pods, 'default', name, { status }, { type: 'strategic', subresource: 'status' })

const slicesOf = async (s: Scene) => (await s.client.list(endpointslices, 'default', { labelSelector: 'kubernetes.io/service-name=web' })).items

/** `p1 p2 not p3`: who serves, by the slices and by the Endpoints. */
async function served(s: Scene): Promise<[string, string]> {
  const all = (await slicesOf(s)).flatMap((slice) => slice.endpoints ?? [])
  const names = (list: { targetRef?: { name?: string } }[]) => list.map((e) => e.targetRef?.name).sort().join(' ')
  const told = (yes: typeof all, no: typeof all) => `${names(yes)}${no.length ? ` not ${names(no)}` : ''}`
  const { subsets = [] } = await s.client.get(endpoints, 'default', 'web')
  return [
    told(all.filter((e) => e.conditions.ready), all.filter((e) => !e.conditions.ready)),
    told(subsets.flatMap((x) => x.addresses ?? []) as never, subsets.flatMap((x) => x.notReadyAddresses ?? []) as never),
  ]
}

describe('a service', () => {
  it('knows its pods', async () => {
    const s = await start()
    await makeService(s)
    expect(await served(s)).toEqual(['', ''])
    await makePods(s, 2)
    expect(await served(s)).toEqual(['p1 p2', 'p1 p2'])
    expect((await slicesOf(s))[0]).toMatchObject({
      metadata: { labels: { team: 'a' }, ownerReferences: [{ kind: 'Service', name: 'web', controller: true, blockOwnerDeletion: true }] },
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: ['10.1.0.1'], nodeName: 'n1', zone: 'z1', conditions: { ready: true, serving: true, terminating: false } }, {}],
    })
    await report(s, 'p1', ready(s, 'False'))
    await s.pass(100)
    expect(await served(s)).toEqual(['p2 not p1', 'p2 not p1'])
    await s.client.delete(pods, 'default', 'p2', { gracePeriodSeconds: 30 })
    await s.pass(100)
    expect(await served(s)).toEqual([' not p1 p2', ' not p1'])
    await s.client.patch(pods, 'default', 'p1', { metadata: { labels: { app: 'other' } } }, { type: 'merge' })
    await s.client.delete(pods, 'default', 'p2', { gracePeriodSeconds: 0 })
    await s.pass(100)
    expect(await served(s)).toEqual(['', ''])
    expect(await slicesOf(s)).toHaveLength(1)
    expect(s.warnings).toEqual([])
  })

  it('is written once for many pods, and not at all while nothing changes', async () => {
    const s = await start()
    await makePods(s, 30)
    await makeService(s)
    expect(s.wire.counts()).toEqual({ 'POST endpointslices': 1, 'POST endpoints': 1 })
    await s.client.patch(pods, 'default', 'p1', { metadata: { annotations: { a: 'b' } } }, { type: 'merge' })
    await s.client.patch(nodes, '', 'n1', { metadata: { annotations: { a: 'b' } } }, { type: 'merge' })
    await s.pass(600_000)
    expect(s.wire.writes).toHaveLength(2)
  })

  it('without a selector is left to whoever made it', async () => {
    const s = await start()
    await makeService(s, { selector: undefined })
    await s.client.create(endpoints, { metadata: { name: 'web', namespace: 'default' }, subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 80 }] }] })
    await makePods(s, 1)
    expect(s.wire.writes).toEqual([])
  })

  it('has what others spoil put right', async () => {
    const s = await start()
    await makePods(s, 1)
    await makeService(s)
    const [slice] = await slicesOf(s)
    await s.client.patch(endpointslices, 'default', slice!.metadata.name!, { endpoints: [] }, { type: 'merge' })
    await s.client.delete(endpoints, 'default', 'web')
    await s.pass(1000)
    expect(await served(s)).toEqual(['p1', 'p1'])
    await s.client.delete(endpointslices, 'default', slice!.metadata.name!)
    await s.pass(1000)
    expect(await served(s)).toEqual(['p1', 'p1'])
  })

  it('waits for a node that nobody knows yet', async () => {
    const s = await start()
    await s.client.delete(nodes, '', 'n1')
    await makePods(s, 1)
    await makeService(s)
    expect((await served(s))[0]).toBe('')
    await s.client.create(nodes, { metadata: { name: 'n1' } } as unknown as Node)
    await s.pass(100)
    expect((await served(s))[0]).toBe('p1')
  })

  it.each([0, 5000])('says the same in the end, with its own writes seen %s ms later', async (delayMs) => {
    const s = await start()
    s.wire.delaysMs.set('endpointslices', delayMs).set('endpoints', delayMs)
    await makeService(s)
    await makePods(s, 3)
    await makePods(s, 3, 'False', 4)
    await s.pass(30_000)
    expect(await served(s)).toEqual(['p1 p2 p3 not p4 p5 p6', 'p1 p2 p3 not p4 p5 p6'])
    expect(await slicesOf(s)).toHaveLength(1)
    expect(s.wire.writes.filter(({ error }) => error)).toEqual([])
  })
})
