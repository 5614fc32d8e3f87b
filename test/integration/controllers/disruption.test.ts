import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetSpec, ReplicaSet } from '../../../src/api/generated/types.ts'
import { daemonsets, deployments, ownerReference, poddisruptionbudgets, pods, replicasets } from '../../../src/client/index.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { disruption } from '../../../src/controllers/disruption/controller.ts'
import { staleDisruption } from '../../../src/controllers/disruption/stale-target.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import { replicaSet } from '../kit/crew.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [disruption, staleDisruption] })

async function makeBudget(s: Scene, spec: Partial<PodDisruptionBudgetSpec>, name = 'b'): Promise<void> {
  await s.client.create(poddisruptionbudgets, { metadata: { name, namespace: 'default' }, spec: { selector: { matchLabels: { app: 'web' } }, ...spec } } as PodDisruptionBudget)
  await s.pass(100)
}

async function makePods(s: Scene, owner: KubeObject | undefined, ...names: string[]): Promise<void> {
  const ownerReferences = owner ? [ownerReference(owner, { controller: true })] : []
  for (const name of names) {
    await s.client.create(pods, {
      metadata: { name, namespace: 'default', labels: { app: 'web' }, ownerReferences },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'registry.example/app:1' }] },
    } as unknown as Pod)
    await setReady(s, name, 'True')
  }
  await s.pass(100)
}

async function setReady(s: Scene, name: string, status: 'True' | 'False'): Promise<void> {
  const conditions = [{ type: 'Ready', status, lastTransitionTime: timestamp(s.clock.now()) }]
  await s.client.patch(pods, 'default', name, { status: { phase: 'Running', conditions } }, { type: 'strategic', subresource: 'status' })
}

const makeSet = (s: Scene, replicas: number) => s.client.create(replicasets, replicaSet('web', replicas) as ReplicaSet)

const statusOf = async (s: Scene, name = 'b') => (await s.client.get(poddisruptionbudgets, 'default', name)).status

async function counts(s: Scene): Promise<string> {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods, conditions } = await statusOf(s)
  return `${disruptionsAllowed} of ${currentHealthy}/${desiredHealthy}/${expectedPods} ${conditions?.[0]?.reason}`
}

/** The results of evictions: 201, or the rejection. */
async function evict(s: Scene, ...names: string[]): Promise<string[]> {
  const results = await Promise.all(names.map((name) => s.client.evict('default', name).then(() => 'evicted', (e: unknown) => e)))
  return results.map((result) => (result instanceof ApiError ? `${result.code} ${result.details?.causes?.[0]?.message ?? result.message}` : String(result)))
}

describe('a budget', () => {
  it('follows its pods and what is wanted of them', async () => {
    const s = await start()
    await makeBudget(s, { maxUnavailable: 1 })
    expect(await counts(s)).toBe('0 of 0/0/0 InsufficientPods')
    const set = await makeSet(s, 3)
    await makePods(s, set, 'a', 'b', 'c')
    expect(await counts(s)).toBe('1 of 3/2/3 SufficientPods')
    await setReady(s, 'a', 'False')
    await s.pass(100)
    expect(await counts(s)).toBe('0 of 2/2/3 InsufficientPods')
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    await s.pass(100)
    expect(await counts(s)).toBe('1 of 2/1/2 SufficientPods')
    await s.client.patch(poddisruptionbudgets, 'default', 'b', { spec: { maxUnavailable: '100%' } }, { type: 'merge' })
    await s.pass(100)
    expect(await counts(s)).toBe('2 of 2/0/2 SufficientPods')
    expect((await statusOf(s)).observedGeneration).toBe(2)
    expect(await s.events('b')).toEqual(['Normal NoPods ×1: No matching pods found'])
    expect(s.warnings).toEqual([])
  })

  it('counts what the Deployment above wants', async () => {
    const s = await start()
    const { metadata, spec } = replicaSet('web', 4)
    const above = await s.client.create(deployments, { metadata, spec } as never)
    const set = await s.client.create(replicasets, { metadata: { ...metadata, ownerReferences: [ownerReference(above, { controller: true })] }, spec: { ...spec, replicas: 1 } } as never)
    await makePods(s, set, 'a')
    await makeBudget(s, { minAvailable: '25%' })
    expect(await counts(s)).toBe('0 of 1/1/4 InsufficientPods')
  })

  it('says why it cannot be counted, and allows nothing', async () => {
    const s = await start()
    const { metadata, spec } = replicaSet('web', 1)
    const { replicas: _, ...rest } = spec!
    const above = await s.client.create(daemonsets, { metadata, spec: rest } as never)
    await makePods(s, above, 'a')
    await makeBudget(s, { maxUnavailable: 1 })
    expect((await statusOf(s)).conditions?.[0]).toMatchObject({ status: 'False', reason: 'SyncFailed', message: 'daemonsets.apps does not implement the scale subresource' })
    expect(await s.events('b')).toEqual([expect.stringContaining('Warning CalculateExpectedPodCountFailed')])
    expect(await evict(s, 'a')).toEqual(['429 The disruption budget b is still being processed by the server.'])
  })

  it('makes no write while nothing changes', async () => {
    const s = await start()
    await makePods(s, await makeSet(s, 3), 'a', 'b', 'c')
    await makeBudget(s, { maxUnavailable: 1 })
    const { length } = s.wire.writes
    await s.client.patch(pods, 'default', 'a', { metadata: { annotations: { x: 'y' } } }, { type: 'merge' })
    await s.pass(600_000)
    expect(s.wire.writes.length).toBe(length)
  })
})

describe('evictions', () => {
  it('are granted as the budget allows, and counted until they are seen', async () => {
    const s = await start()
    await makePods(s, await makeSet(s, 3), 'a', 'b', 'c')
    await makeBudget(s, { maxUnavailable: 1 })
    expect(await evict(s, 'a')).toEqual(['evicted'])
    expect(await evict(s, 'b')).toEqual(['429 The disruption budget b needs 2 healthy pods and has 2 currently'])
    await s.pass(100)
    expect(await counts(s)).toBe('0 of 2/2/3 InsufficientPods')
    expect((await statusOf(s)).disruptedPods).toBeUndefined()
    expect((await s.client.get(pods, 'default', 'a')).status.conditions).toContainEqual(expect.objectContaining({ type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }))
  })

  it('of a pod that stays are forgotten after two minutes', async () => {
    const s = await start()
    await makePods(s, await makeSet(s, 2), 'a', 'b')
    await makeBudget(s, { maxUnavailable: 1 })
    const disruptedPods = { a: timestamp(s.clock.now()) }
    await s.client.patch(poddisruptionbudgets, 'default', 'b', { status: { disruptionsAllowed: 0, disruptedPods } }, { type: 'merge', subresource: 'status' })
    await s.pass(119_000)
    expect(await counts(s)).toBe('0 of 1/1/2 InsufficientPods')
    await s.pass(2000)
    expect(await counts(s)).toBe('1 of 2/1/2 SufficientPods')
    expect(await s.events('a')).toEqual(["Warning NotDeleted ×1: Pod was expected by PDB default/b to be deleted but it wasn't"])
  })

  it.each([0, 5000])('that come all at once are never more than allowed, with the controller %s ms behind', async (delayMs) => {
    const s = await start()
    const names = Array.from({ length: 30 }, (_, i) => `p${i}`)
    await makePods(s, await makeSet(s, 30), ...names)
    await makeBudget(s, { minAvailable: 20 })
    s.wire.delaysMs.set('pods', delayMs).set('poddisruptionbudgets', delayMs / 2)
    let granted = 0
    for (let round = 0; round < 5; round++) {
      granted += (await evict(s, ...names)).filter((r) => r === 'evicted').length
      await s.pass(round % 2 ? 700 : 6000)
    }
    const left = await s.client.list(pods, 'default')
    expect(left.items.filter((p) => !p.metadata.deletionTimestamp).length).toBe(20)
    expect(granted).toBeGreaterThanOrEqual(10)
    await s.pass(20_000)
    expect(await counts(s)).toBe('0 of 20/20/30 InsufficientPods')
  })

  it('go by what the budget says of pods that are not ready', async () => {
    const s = await start()
    const set = await makeSet(s, 3)
    await makePods(s, set, 'a', 'b', 'c')
    await makeBudget(s, { minAvailable: 3 })
    await setReady(s, 'a', 'False')
    await s.pass(100)
    expect(await evict(s, 'a')).toEqual(['429 The disruption budget b needs 3 healthy pods and has 2 currently'])
    await s.client.patch(poddisruptionbudgets, 'default', 'b', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, { type: 'merge' })
    await s.pass(100)
    expect(await evict(s, 'a', 'b')).toEqual(['evicted', '429 The disruption budget b needs 3 healthy pods and has 2 currently'])
  })

  it('of a pod with two budgets are refused', async () => {
    const s = await start()
    await makePods(s, await makeSet(s, 1), 'a')
    await makeBudget(s, { maxUnavailable: 1 })
    await makeBudget(s, { maxUnavailable: 1 }, 'b2')
    expect(await evict(s, 'a')).toEqual(['500 This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'])
  })
})

it('a pod that was to be ended and stays says so after two minutes', async () => {
  const s = await start()
  await makePods(s, undefined, 'a', 'b')
  const said = (reason: string) => ({ status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: timestamp(s.clock.now()) }] } })
  await s.client.patch(pods, 'default', 'a', said('EvictionByEvictionAPI'), { type: 'strategic', subresource: 'status' })
  await s.client.patch(pods, 'default', 'b', said('TerminationByKubelet'), { type: 'strategic', subresource: 'status' })
  const target = async (name: string) => (await s.client.get(pods, 'default', name)).status.conditions?.find((c) => c.type === 'DisruptionTarget')
  await s.pass(119_000)
  expect(await target('a')).toMatchObject({ status: 'True' })
  await s.pass(2000)
  expect(await target('a')).toEqual({ type: 'DisruptionTarget', status: 'False', lastProbeTime: null, lastTransitionTime: expect.any(String) })
  expect(await target('b')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' })
})
