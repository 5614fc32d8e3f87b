import { expect, it } from 'vitest'
import type { Deployment } from '../../../src/api/generated/types.ts'
import { deployments, replicasets } from '../../../src/client/index.ts'
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
  status: ({ spec }) => ({ replicas: spec.replicas ?? 0 }),
  annotations: ({ spec }) => ({ seen: String(spec.replicas) }),
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
    status: ({ metadata }) => ({ replicas: Number(metadata.labels?.['says'] ?? 0) }),
    annotations: () => ({}),
    statusMayWait: () => true,
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
