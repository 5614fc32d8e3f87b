import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { nodes, pods } from '../../../src/client/index.ts'
import { definePodGc, podGcController } from '../../../src/controllers/pod-gc/controller.ts'
import { Scene } from '../kit/scene.ts'

const start = (controller = podGcController) => Scene.start({ controllers: [controller] })

const finalizer = 'example.com/wait'

async function run(s: Scene, name: string, nodeName?: string, more: Partial<Pod['metadata']> = {}): Promise<Pod> {
  const spec = { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }], ...(nodeName ? { nodeName } : {}) }
  return s.client.create(pods, { metadata: { name, namespace: 'default', ...more }, spec })
}

const setPhase = (s: Scene, name: string, phase: string, reason?: string) =>
  s.client.patch(pods, 'default', name, { status: { phase, ...(reason ? { reason } : {}) } }, { type: 'merge', subresource: 'status' })

const names = async (s: Scene) => (await s.client.list(pods, 'default')).items.map((p) => p.metadata.name)
const addNode = (s: Scene, name: string, ready = 'True') =>
  s.client.create(nodes, { metadata: { name }, spec: {} }).then(() =>
    s.client.patch(nodes, '', name, { status: { conditions: [{ type: 'Ready', status: ready }] } }, { type: 'strategic', subresource: 'status' }))

describe('pods of a node that is gone', () => {
  it('are failed and removed after 40 s', async () => {
    const s = await start()
    await addNode(s, 'n')
    await run(s, 'kept', 'n')
    await run(s, 'watched', 'other', { finalizers: [finalizer] })
    await s.pass(39_000)
    expect(s.wire.writes).toEqual([])
    await s.pass(2000)
    const pod = await s.client.get(pods, 'default', 'watched')
    expect(pod.status.phase).toBe('Failed')
    expect(pod.status.conditions?.find((c) => c.type === 'DisruptionTarget')).toMatchObject({
      status: 'True', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists',
    })
    expect(pod.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 })
    const writes = s.wire.writes.length
    await s.pass(120_000)
    expect(s.wire.writes.length).toBe(writes) // the rest is the finalizer's
    await s.client.patch(pods, 'default', 'watched', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.pass(1000)
    expect(await names(s)).toEqual(['kept'])
  })

  it('stay if the node comes back in time', async () => {
    const s = await start()
    await addNode(s, 'n')
    await run(s, 'pod', 'n')
    await s.client.delete(nodes, '', 'n')
    await s.pass(30_000)
    await addNode(s, 'n')
    await s.pass(120_000)
    expect(s.wire.writes).toEqual([])
  })

  it('stay if the server knows the node, though the cache does not', async () => {
    const s = await start()
    s.wire.delaysMs.set('nodes', 60_000)
    await addNode(s, 'n')
    await run(s, 'pod', 'n')
    await s.pass(50_000)
    expect(s.wire.writes).toEqual([])
  })

  it('go after the node does', async () => {
    const s = await start()
    await addNode(s, 'n')
    await run(s, 'pod', 'n')
    await s.pass(60_000)
    await s.client.delete(nodes, '', 'n')
    await s.pass(41_000)
    expect(await names(s)).toEqual([])
  })
})

describe('pods that are being deleted', () => {
  it('without a node are failed, so that who counts them can go on', async () => {
    const s = await start()
    await run(s, 'pod', undefined, { finalizers: [finalizer] })
    await s.client.delete(pods, 'default', 'pod')
    await s.pass(6000)
    expect((await s.client.get(pods, 'default', 'pod')).status.phase).toBe('Failed')
    await s.client.patch(pods, 'default', 'pod', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.pass(1000)
    expect(await names(s)).toEqual([])
  })

  it('on a node that is out of service are removed', async () => {
    const s = await start()
    await addNode(s, 'n', 'False')
    await run(s, 'going', 'n')
    await run(s, 'staying', 'n')
    await s.client.delete(pods, 'default', 'going')
    await s.pass(60_000)
    expect(await names(s)).toEqual(['going', 'staying'])
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
    await s.client.patch(nodes, '', 'n', { spec: { taints } }, { type: 'merge' })
    await s.pass(6000)
    expect(await names(s)).toEqual(['staying'])
  })

  it('are left to their node while it is in service', async () => {
    const s = await start()
    await addNode(s, 'n')
    await run(s, 'pod', 'n')
    await s.client.delete(pods, 'default', 'pod')
    await s.pass(600_000)
    expect(s.wire.writes).toEqual([])
  })
})

describe('finished pods', () => {
  it('beyond the threshold go: the evicted first, then the oldest', async () => {
    const s = await start(definePodGc({ terminatedPodThreshold: 2 }))
    await addNode(s, 'n')
    for (const name of ['d-oldest', 'c-older', 'b-evicted', 'a-newest']) {
      await run(s, name, 'n')
      await setPhase(s, name, name === 'c-older' ? 'Succeeded' : 'Failed', name === 'b-evicted' ? 'Evicted' : undefined)
      await s.pass(1000)
    }
    await run(s, 'running', 'n')
    await s.pass(25_000)
    expect(await names(s)).toEqual(['a-newest', 'c-older', 'running'])
    const writes = s.wire.writes.length
    await s.pass(120_000)
    expect(s.wire.writes.length).toBe(writes)
  })
})
