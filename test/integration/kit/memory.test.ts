import { expect, it } from 'vitest'
import type { ConfigMap, ReplicaSet } from '../../../src/api/generated/types.ts'
import { configmaps, replicasets } from '../../../src/client/index.ts'
import { defineController } from '../../../src/controllers/index.ts'
import { replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

/** Says in its status how often it has looked, as far as it remembers. */
const counting = defineController<ReplicaSet, number, never>({
  name: 'counting',
  owner: replicasets,
  observe: ({ remembered = 0 }) => (remembered as number) + 1,
  plan: () => ({ actions: [] }),
  apply: {} as never,
  status: {
    compute: (looks) => ({ replicas: looks > 3 ? 3 : looks }),
    announce: ({ event }, before, after) => event('Normal', 'Looked', `${before?.replicas} then ${after.replicas}`),
  },
  remember: (looks) => (looks > 5 ? undefined : looks),
})

it('a look knows what the last one said, once its status was written, and users are told of the status', async () => {
  const s = await Scene.start({ controllers: [counting] })
  s.wire.intercept = (request, send) => (request.path.endsWith('/status') ? Promise.reject(new Error('not now')) : send())
  await s.client.create(replicasets, replicaSet('web', 1))
  await s.pass(100)
  s.wire.intercept = undefined
  await s.pass(1000)
  expect((await s.client.get(replicasets, 'default', 'web')).status.replicas).toBe(3)
  expect((await s.events('web')).filter((e) => e.includes('Looked'))).toEqual(['Normal Looked ×1: 0 then 1', 'Normal Looked ×1: 1 then 2', 'Normal Looked ×1: 2 then 3'])
})

it('an owner that is made anew is not taken for the one that was remembered', async () => {
  const s = await Scene.start({ controllers: [counting] })
  await s.client.create(replicasets, replicaSet('web', 1))
  await s.pass(1000)
  await s.client.delete(replicasets, 'default', 'web', { propagationPolicy: 'Background' })
  await s.client.create(replicasets, replicaSet('web', 1))
  await s.settle()
  const first = s.wire.writes.map(({ request }) => (request.body as ReplicaSet).status.replicas)
  await s.pass(1000)
  expect(first.slice(0, 3)).toEqual([1, 2, 3])
  expect((s.wire.writes.slice(3)[0]!.request.body as ReplicaSet).status.replicas).toBe(1)
})

/** Lets go of what is being deleted, of owners that are being deleted, too. */
const lettingGo = defineController<ReplicaSet, ConfigMap[], { kind: 'LetGo'; child: ConfigMap }>({
  name: 'letting-go',
  owner: replicasets,
  sources: { owns: [configmaps] },
  deletion: { isPlanned: true },
  observe: ({ caches }, owner) => caches.owned(configmaps, owner).filter((c) => c.metadata.finalizers?.length),
  plan: (held) => ({ actions: held.map((child) => ({ kind: 'LetGo', child })) }),
  apply: { LetGo: ({ writer }, { child }) => writer.patch(configmaps, child, { metadata: { finalizers: null } }, { type: 'merge' }) },
})

it('what went with its last finalizer is not touched again, though the cache has it for a while; nor is its owner in the way', async () => {
  const s = await Scene.start({ controllers: [lettingGo] })
  s.wire.delaysMs.set('configmaps', 5000)
  const owner = await s.client.create(replicasets, replicaSet('web', 0))
  await s.client.patch(replicasets, 'default', 'web', { metadata: { finalizers: ['example.com/stay'] } }, { type: 'merge' })
  await s.client.delete(replicasets, 'default', 'web', { propagationPolicy: 'Background' })
  const { uid = '' } = owner.metadata
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }]
  await s.client.create(configmaps, { metadata: { name: 'held', namespace: 'default', finalizers: ['example.com/hold'], ownerReferences } })
  await s.client.delete(configmaps, 'default', 'held')
  await s.pass(4000)
  for (let i = 0; i < 20; i++) {
    await s.client.patch(replicasets, 'default', 'web', { metadata: { annotations: { touched: String(i) } } }, { type: 'merge' })
    await s.pass(500)
  }
  expect(s.wire.summary()).toEqual(['PATCH configmaps'])
})
