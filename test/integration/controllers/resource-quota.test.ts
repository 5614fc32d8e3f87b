import { describe, expect, it } from 'vitest'
import { type KubeObject, type New, type ResourceType, deployments, namespaces, pods, replicasets, resourcequotas, secrets } from '../../../src/client/index.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { customQuotaController } from '../../../src/controllers/resource-quota/custom-kinds.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { Scene } from '../kit/scene.ts'

const start = (...more: (typeof replicaSetController)[]) => Scene.start({ controllers: [resourceQuotaController, ...more] })
const makeQuota = (s: Scene, hard: Record<string, string>) => s.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard } })
const statusOf = async (s: Scene) => (await s.client.get(resourcequotas, 'default', 'q')).status
const usedOf = async (s: Scene) => (await statusOf(s))?.used
const pod = (name: string, requests: Record<string, string> = {}): New<Pod> =>
  ({ metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }] } }) as New<Pod>
const make = (s: Scene, name: string, requests?: Record<string, string>) => s.client.create(pods, pod(name, requests))
const quotaWrites = (s: Scene) => s.wire.writes.filter(({ request }) => request.path.includes('/resourcequotas/')).length

describe('the status of a quota', () => {
  it('says at once what it holds and what was there before it', async () => {
    const s = await start()
    await make(s, 'a', { cpu: '250m' })
    await make(s, 'b', { cpu: '1' })
    await makeQuota(s, { pods: '5', 'requests.cpu': '2', 'count/leases.coordination.k8s.io': '3', 'count/things.example.com': '1' })
    await s.settle()
    await s.pass(10)
    expect(await statusOf(s)).toEqual({
      hard: { pods: '5', 'requests.cpu': '2', 'count/leases.coordination.k8s.io': '3', 'count/things.example.com': '1' },
      used: { pods: '2', 'requests.cpu': '1250m', 'count/leases.coordination.k8s.io': '0' },
    })
  })

  it('is charged by the server as objects are made, so that there is nothing to write', async () => {
    const s = await start()
    await makeQuota(s, { pods: '100' })
    await s.pass(1000)
    const before = quotaWrites(s)
    await Promise.all(Array.from({ length: 20 }, (_, i) => make(s, `p${i}`)))
    await s.pass(1000)
    expect(await usedOf(s)).toEqual({ pods: '20' })
    expect(quotaWrites(s)).toBe(before)
  })

  it('is corrected soon when objects go or finish, in one write however many', async () => {
    const s = await start()
    await makeQuota(s, { pods: '100', 'count/pods': '100' })
    await s.pass(1000)
    for (let i = 0; i < 10; i++) await make(s, `p${i}`)
    await s.pass(1000)
    const before = quotaWrites(s)
    for (let i = 0; i < 4; i++) await s.client.delete(pods, 'default', `p${i}`, { gracePeriodSeconds: 0 })
    await s.client.patch(pods, 'default', 'p9', { status: { phase: 'Failed' } }, { type: 'merge', subresource: 'status' })
    await s.pass(300)
    expect(await usedOf(s)).toEqual({ pods: '5', 'count/pods': '6' })
    expect(quotaWrites(s)).toBe(before + 1)
  })

  it('does not count a pod that should have ended long ago, though it is still there', async () => {
    const s = await start()
    await makeQuota(s, { pods: '5', 'count/pods': '5' })
    await s.pass(1000)
    const held = pod('a')
    await s.client.create(pods, { ...held, metadata: { ...held.metadata, finalizers: ['test/held'] }, spec: { ...held.spec, nodeName: 'n' } } as New<Pod>)
    await s.client.delete(pods, 'default', 'a', { gracePeriodSeconds: 30 })
    await s.pass(59_000)
    expect(await usedOf(s)).toEqual({ pods: '1', 'count/pods': '1' })
    await s.pass(3000)
    expect(await usedOf(s)).toEqual({ pods: '0', 'count/pods': '1' })
  })

  it('follows a change of what it holds', async () => {
    const s = await start()
    await makeQuota(s, { pods: '1' })
    await s.client.create(secrets, { metadata: { name: 's', namespace: 'default' } })
    await s.pass(1000)
    await s.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { pods: null, secrets: '7' } } }, { type: 'merge' })
    await s.pass(10)
    expect(await statusOf(s)).toEqual({ hard: { secrets: '7' }, used: { secrets: '1' } })
  })

  it('is put right when somebody has put it wrong', async () => {
    const s = await start()
    await makeQuota(s, { pods: '5' })
    await s.pass(1000)
    await s.client.patch(resourcequotas, 'default', 'q', { status: { used: { pods: '4' } } }, { type: 'merge', subresource: 'status' })
    await s.pass(11_000)
    expect(await usedOf(s)).toEqual({ pods: '0' })
  })

  it('is not written while nothing changes', async () => {
    const s = await start()
    await makeQuota(s, { pods: '5', services: '5' })
    await make(s, 'a').catch(() => {})
    await s.pass(10_000)
    const before = s.wire.writes.length
    await s.pass(3_600_000)
    expect(s.wire.writes).toHaveLength(before)
  })
})

describe('a cache that is five seconds late', () => {
  it.each(['pods', 'resourcequotas'])('makes no difference to what is written: %s', async (late) => {
    const s = await start()
    await makeQuota(s, { pods: '100', 'count/pods': '100' })
    await s.pass(10_000)
    s.wire.delaysMs.set(late, 5000)
    const before = quotaWrites(s)
    for (let i = 0; i < 10; i++) {
      await make(s, `p${i}`)
      await s.pass(1500)
    }
    expect(await usedOf(s)).toEqual({ pods: '10', 'count/pods': '10' })
    await s.pass(10_000)
    expect(quotaWrites(s)).toBe(before)
    for (let i = 0; i < 4; i++) await s.client.delete(pods, 'default', `p${i}`, { gracePeriodSeconds: 0 })
    await s.pass(10_000)
    expect(await usedOf(s)).toEqual({ pods: '6', 'count/pods': '6' })
    expect(quotaWrites(s)).toBe(before + 1)
  })
})

describe('a hundred creates against a quota of ten, with its controller', () => {
  it.each([1, 2, 3])('exactly ten succeed, and the status comes to say so (round %i)', async () => {
    const s = await start()
    await makeQuota(s, { pods: '10' })
    await s.pass(1000)
    const fates = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => make(s, `p${i}`)))
    expect(fates.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    await s.pass(1000)
    expect(await usedOf(s)).toEqual({ pods: '10' })
  })
})

describe('a Deployment of twenty under a quota of ten', () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployment = { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 20, selector: { matchLabels: { app: 'web' } }, template } }

  it('says what the quota says, and settles by itself when it is raised', async () => {
    const s = await start(replicaSetController, deploymentController as never)
    await makeQuota(s, { pods: '10' })
    await s.pass(1000)
    await s.client.create(deployments, deployment as never)
    await s.pass(5000)
    expect(await s.podsOf('web')).toHaveLength(10)
    const [set] = (await s.client.list(replicasets, 'default')).items
    for (const status of [set?.status, (await s.client.get(deployments, 'default', 'web')).status]) {
      const failure = findCondition(status?.conditions, 'ReplicaFailure')
      expect(failure).toMatchObject({ status: 'True', reason: 'FailedCreate' })
      expect(failure?.message).toMatch(/^pods "web-.*" is forbidden: exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10$/)
    }
    await s.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { pods: '30' } } }, { type: 'merge' })
    await s.pass(30_000)
    expect(await s.podsOf('web')).toHaveLength(20)
    expect(findCondition((await s.client.get(deployments, 'default', 'web')).status?.conditions, 'ReplicaFailure')).toBeUndefined()
    expect(await usedOf(s)).toEqual({ pods: '20' })
  })
})

describe('the status of a quota of custom resources', () => {
  const boats: ResourceType = { group: 'example.com', version: 'v1', kind: 'Boat', plural: 'boats', namespaced: true }
  const definitions: ResourceType = {
    group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', namespaced: false,
  }
  const startAll = () => Scene.start({ controllers: [resourceQuotaController, customQuotaController] })
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema: { type: 'object' } } })
  const define = (s: Scene, ...versions: object[]) =>
    s.client.create(definitions, {
      metadata: { name: 'boats.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' }, versions: versions.length ? versions : [version('v1', true)] },
    } as unknown as New<KubeObject>)
  const launch = (s: Scene, name: string, namespace = 'default') =>
    s.client.create(boats, { metadata: { name, namespace } } as New<KubeObject>).then(() => 'made', (e: Error) => e.message)
  const refused = (used: number) =>
    `boats.example.com "x" is forbidden: exceeded quota: q, requested: count/boats.example.com=1, used: count/boats.example.com=${used}, limited: count/boats.example.com=2`
  const hard = { pods: '5', 'count/boats.example.com': '2' }

  it('is there for a kind that comes after the quota, and lets in as many as fit', async () => {
    const s = await startAll()
    await makeQuota(s, hard)
    await define(s)
    await s.pass(2000)
    expect(await statusOf(s)).toEqual({ hard, used: { pods: '0', 'count/boats.example.com': '0' } })
    expect(await Promise.all(['a', 'b', 'x'].map((name) => launch(s, name)))).toEqual(['made', 'made', refused(2)])
    await make(s, 'p')
    await s.pass(2000)
    expect(await usedOf(s)).toEqual({ pods: '1', 'count/boats.example.com': '2' })
  })

  it('counts what was there before it, and follows what goes', async () => {
    const s = await startAll()
    await define(s)
    await s.pass(500)
    expect([await launch(s, 'a'), await launch(s, 'b')]).toEqual(['made', 'made'])
    await makeQuota(s, hard)
    await s.pass(2000)
    expect(await launch(s, 'x')).toBe(refused(2))
    await s.client.delete(boats, 'default', 'a')
    await s.pass(500)
    expect(await usedOf(s)).toEqual({ pods: '0', 'count/boats.example.com': '1' })
    expect(await launch(s, 'x')).toBe('made')
  })

  it('counts an object once, in however many versions its kind is served', async () => {
    const s = await startAll()
    await makeQuota(s, hard)
    await define(s, version('v2', true), version('v1', false))
    await s.pass(2000)
    expect(await launch(s, 'a')).toBe('made')
    await s.client.create({ ...boats, version: 'v2' }, { metadata: { name: 'b', namespace: 'default' } } as New<KubeObject>)
    expect(await launch(s, 'x')).toBe(refused(2))
    await s.pass(20_000)
    expect(await usedOf(s)).toEqual({ pods: '0', 'count/boats.example.com': '2' })
  })

  it('goes on when the definition goes and comes again', async () => {
    const s = await startAll()
    await makeQuota(s, hard)
    for (let i = 0; i < 3; i++) {
      await define(s)
      await s.pass(2000)
      expect([await launch(s, 'a'), await launch(s, 'b'), await launch(s, 'x')]).toEqual(['made', 'made', refused(2)])
      await s.client.delete(definitions, '', 'boats.example.com')
      await s.pass(2000)
      expect((await usedOf(s))?.['count/boats.example.com']).toBe('0')
    }
    expect(s.warnings.filter((line) => !line.includes('the API is not available'))).toEqual([])
  })

  it('is of its own namespace', async () => {
    const s = await startAll()
    await s.client.create(namespaces, { metadata: { name: 'other' } })
    await define(s)
    await makeQuota(s, hard)
    await s.pass(2000)
    for (const name of ['a', 'b', 'c']) expect(await launch(s, name, 'other')).toBe('made')
    await s.pass(20_000)
    expect(await usedOf(s)).toEqual({ pods: '0', 'count/boats.example.com': '0' })
  })
})
