import { expect, it, onTestFinished } from 'vitest'
import type { ReplicaSet } from '../../../src/api/generated/types.ts'
import { events, pods, replicasets } from '../../../src/client/index.ts'
import { InProcessTransport, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { type AnyController, ControllerManager, defineController } from '../../../src/controllers/index.ts'
import { replicaSet } from './crew.ts'
import { RecordedTransport } from './recorded-transport.ts'

const user = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] }

/** Tells of every ReplicaSet, and of its pods. */
const herald: AnyController = defineController<ReplicaSet, { told: boolean }, { kind: 'Tell' }>({
  name: 'herald',
  owner: replicasets,
  sources: { reads: [pods] },
  observe: () => ({ told: false }),
  plan: () => ({ actions: [{ kind: 'Tell' }] }),
  apply: {
    Tell: async ({ event }) => {
      event('Normal', 'Seen', 'the set')
      event('Normal', 'Seen', 'its pod', { metadata: { name: 'p', namespace: 'default', uid: podUid } })
    },
  },
})
let podUid = ''

it('events are told of objects from lists, which do not say what they are', async () => {
  const clock = new VirtualClock()
  const cluster = await startCluster({ clock })
  const { metadata } = await cluster.client.create(pods, { metadata: { name: 'p', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'i' }] } })
  podUid = metadata.uid!
  await cluster.client.create(replicasets, replicaSet('web', 0))
  const wire = new RecordedTransport(new InProcessTransport(cluster.server, user), clock)
  wire.interceptRead = async (_, send) => {
    const answer = (await send()) as { items?: object[] }
    return answer.items ? { ...answer, items: answer.items.map((item) => ({ ...item, kind: undefined, apiVersion: undefined })) } : answer
  }
  const manager = new ControllerManager({ transport: wire, controllers: [herald], clock, informers: { stream: false } })
  onTestFinished(async () => {
    await manager.stop()
    await cluster.stop()
  })
  const started = manager.start()
  await passTime(clock, 1000)
  await started
  await passTime(clock, 1000)
  const told = (await cluster.client.list(events, 'default')).items.map(({ involvedObject: about, message }) => `${about.apiVersion} ${about.kind} ${about.name}: ${message}`)
  expect(told.sort()).toEqual(['apps/v1 ReplicaSet web: the set', 'v1 Pod p: its pod'])
})
