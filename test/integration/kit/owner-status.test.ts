import { expect, it } from 'vitest'
import type { Deployment, ReplicaSet } from '../../../src/api/generated/types.ts'
import { deployments, pods, replicasets } from '../../../src/client/index.ts'
import { type AnyAction, defineController } from '../../../src/controllers/index.ts'
import { replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

/** Says how many it saw wanted, in the status and in an annotation. */
const counting = defineController<Deployment, Deployment, AnyAction>({
  name: 'counting',
  owner: deployments,
  observe: (_, owner) => owner,
  plan: () => ({ actions: [] }),
  apply: {},
  status: {
    compute: ({ spec }) => ({ replicas: spec.replicas ?? 0 }),
    annotations: ({ spec }) => ({ seen: String(spec.replicas) }),
  },
})

it('annotations are written with the status, in one write that does not change what is wanted', async () => {
  const s = await Scene.start({ controllers: [counting] })
  const { metadata, spec } = replicaSet('web', 3)
  await s.client.create(deployments, { metadata: { ...metadata, annotations: { note: 'x' } }, spec: { ...spec, strategy: {} } })
  await s.pass(1000)
  expect(s.wire.counts()).toEqual({ 'PUT deployments status': 1 })
  expect(await s.client.get(deployments, 'default', 'web')).toMatchObject({
    metadata: { generation: 1, annotations: { note: 'x', seen: '3' } },
    status: { replicas: 3, observedGeneration: 1 },
  })
  await s.client.patch(deployments, 'default', 'web', { metadata: { annotations: { seen: 'less' } } }, { type: 'merge' })
  await s.pass(1000)
  expect(s.wire.counts()).toEqual({ 'PUT deployments status': 2 })
  expect((await s.client.get(deployments, 'default', 'web')).metadata.annotations).toEqual({ note: 'x', seen: '3' })
})

it('a status that may wait does not wait for a clock that was set back', async () => {
  const echoing = defineController<Deployment, Deployment, AnyAction>({
    ...counting,
    status: {
      compute: ({ metadata }) => ({ replicas: Number(metadata.labels?.['says'] ?? 0) }),
      annotations: () => ({}),
      mayWait: () => true,
    },
  })
  const s = await Scene.start({ controllers: [echoing] })
  const { metadata, spec } = replicaSet('web', 3)
  await s.client.create(deployments, { metadata, spec: { ...spec, strategy: {} } })
  const say = async (replicas: number) => {
    await s.client.patch(deployments, 'default', 'web', { metadata: { labels: { says: String(replicas) } } }, { type: 'merge' })
    await s.pass(1000)
    return (await s.client.get(deployments, 'default', 'web')).status.replicas
  }
  expect(await say(1)).toBe(1)
  const now = s.clock.now.bind(s.clock)
  s.clock.now = () => now() - 3_600_000
  expect(await say(2)).toBe(2)
})

it('an owner that is gone by the time its actions are done gets no status', async () => {
  const s = await Scene.start()
  s.wire.intercept = async (request, send) => {
    if (request.method === 'POST') await new Promise<void>((resolve) => s.clock.after(10_000, resolve))
    return send()
  }
  await s.client.create(replicasets, replicaSet('web', 1))
  await s.pass(1000)
  await s.client.delete(replicasets, 'default', 'web')
  await s.pass(60_000)
  expect(s.wire.counts()).toEqual({ 'POST pods': 1 })
})

it('an owner that somebody else has changed is left alone until the cache has that version', async () => {
  const census = defineController<ReplicaSet, { set: ReplicaSet; count: number }, AnyAction>({
    name: 'census',
    owner: replicasets,
    sources: { owns: [pods] },
    observe: ({ caches }, set) => ({ set, count: caches.owned(pods, set).length }),
    plan: () => ({ actions: [] }),
    apply: {},
    status: { compute: ({ set, count }) => ({ ...set.status, replicas: count }) },
  })
  const s = await Scene.start({ controllers: [census] })
  const { metadata } = await s.client.create(replicasets, replicaSet('web', 3))
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: metadata.uid!, controller: true }]
  const bear = (name: string) => s.client.create(pods, { metadata: { name, namespace: 'default', ownerReferences }, spec: { containers: [{ name: 'c', image: 'i' }] } } as never)
  await s.pass(1000)
  s.wire.delaysMs.set('replicasets', 30_000)
  await s.client.patch(replicasets, 'default', 'web', { metadata: { labels: { a: 'b' } } }, { type: 'merge' })
  const before = s.wire.counts()['PUT replicasets status']!
  for (const name of ['a', 'b', 'c', 'd']) {
    await bear(name)
    await s.pass(1000)
  }
  expect(s.wire.counts()['PUT replicasets status']! - before).toBe(1)
  await s.pass(60_000)
  expect((await s.client.get(replicasets, 'default', 'web')).status!.replicas).toBe(4)
  expect(s.wire.counts()['PUT replicasets status']! - before).toBe(2)
})
