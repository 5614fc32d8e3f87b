import { describe, expect, it } from 'vitest'
import { controllerrevisions, daemonsets, nodes, pods } from '../../../src/client/index.ts'
import { DaemonSetScene } from './daemonset-scene.ts'

describe('nodes', () => {
  it('each has its pod, which says what it is of and goes nowhere else', async () => {
    const s = await DaemonSetScene.of(3)
    await s.addNode('other', { labels: { role: 'other' } })
    await s.create()
    expect(await s.places()).toBe('n1@1! n2@1! n3@1!')
    expect(await s.numbers()).toBe('3 3 0 0 0 3')
    const [pod] = await s.pods()
    const [revision] = (await s.scene.client.list(controllerrevisions, 'default')).items
    expect(pod!.metadata.labels).toEqual({ app: 'd', 'controller-revision-hash': revision!.metadata.labels!['controller-revision-hash'], 'pod-template-generation': '1' })
    expect(revision!.metadata.name).toBe(`d-${pod!.metadata.labels!['controller-revision-hash']}`)
    expect(pod!.spec.nodeName).toBeUndefined()
    expect(pod!.spec.tolerations!.map((t) => t.key)).toContain('node.kubernetes.io/unschedulable')
    await s.settle()
    expect(await s.numbers()).toBe('3 3 0 3 3 3')
    expect((await s.scene.events('d')).filter((e) => e.startsWith('Normal SuccessfulCreate ×1: Created pod: d-'))).toHaveLength(3)
  })

  it('that join get a pod, those that lose their label or get a taint lose it', async () => {
    const s = await DaemonSetScene.of(3)
    await s.create()
    await s.settle()
    await s.addNode('n4')
    expect(await s.places()).toBe('n1@1 n2@1 n3@1 n4@1!')
    await s.changeNode('n1', { metadata: { labels: { role: null } } })
    await s.changeNode('n2', { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
    expect(await s.places()).toBe('n1@1- n2@1- n3@1 n4@1!')
    expect(await s.numbers()).toBe('2 2 2 1 1 2')
    await s.settle()
    expect([await s.places(), await s.numbers()]).toEqual(['n3@1 n4@1', '2 2 0 2 2 2'])
  })

  it('that are closed, or not ready, keep their pods', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create()
    await s.settle()
    await s.changeNode('n1', { spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] } })
    await s.changeNode('n2', { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }] } })
    expect([await s.places(), await s.numbers()]).toEqual(['n1@1 n2@1', '2 2 0 2 2 2'])
  })

  it('that go take along what waits for them', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create()
    await s.report('ready', 'n1')
    await s.scene.client.delete(nodes, '', 'n2')
    await s.pass(100)
    expect([await s.places(), await s.numbers()]).toEqual(['n1@1', '1 1 0 1 1 1'])
  })

  it('may beat as their hearts please: nobody looks', async () => {
    const s = await DaemonSetScene.of(3)
    await s.create()
    await s.settle()
    const looks = () => s.scene.metric('controller_runtime_reconcile_total', 'controller="daemonset"')
    const before = looks()
    expect(before).toBeGreaterThan(0)
    for (let i = 0; i < 10; i++) {
      const conditions = [{ type: 'Ready', status: i % 2 ? 'True' : 'False', lastHeartbeatTime: new Date(s.scene.clock.now()).toISOString() }]
      for (const name of ['n1', 'n2', 'n3']) await s.scene.client.patch(nodes, '', name, { status: { conditions } }, { type: 'strategic', subresource: 'status' })
      await s.pass(10_000)
    }
    expect(looks()).toBe(before)
    await s.changeNode('n1', { metadata: { labels: { role: null } } })
    expect(looks()).toBeGreaterThan(before)
  })
})

describe('updates', () => {
  const ready = async (spec: object, nodeCount = 4) => {
    const s = await DaemonSetScene.of(nodeCount)
    await s.create(spec)
    await s.settle()
    return s
  }
  const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })

  it('node by node, with maxUnavailable', async () => {
    const s = await ready(rolling({ maxUnavailable: '30%' }))
    await s.setImage('app:2')
    expect(await s.places()).toBe('n1@1- n2@1- n3@1 n4@1')
    await s.reap()
    expect(await s.places()).toBe('n1@2! n2@2! n3@1 n4@1')
    await s.report('ready', 'n1')
    expect(await s.places()).toBe('n1@2 n2@2! n3@1- n4@1')
    await s.settle()
    expect([await s.places(), await s.numbers()]).toEqual(['n1@2 n2@2 n3@2 n4@2', '4 4 0 4 4 4'])
  })

  it('node by node, with maxSurge, and never without an available pod', async () => {
    const s = await ready(rolling({ maxUnavailable: 0, maxSurge: 1 }), 2)
    await s.setImage('app:2')
    expect(await s.places()).toBe('n1@1 n1@2! n2@1')
    await s.report('ready', 'n1')
    expect(await s.places()).toBe('n1@1- n1@2 n2@1 n2@2!')
    await s.settle()
    expect([await s.places(), await s.numbers()]).toEqual(['n1@2 n2@2', '2 2 0 2 2 2'])
  })

  it('only where somebody deletes, with OnDelete', async () => {
    const s = await ready({ updateStrategy: { type: 'OnDelete' } }, 2)
    await s.setImage('app:2')
    expect(await s.places()).toBe('n1@1 n2@1')
    await s.scene.client.delete(pods, 'default', (await s.pods())[1]!.metadata.name!)
    await s.settle()
    expect(await s.places()).toBe('n1@1 n2@2')
  })

  it('after minReadySeconds', async () => {
    const s = await ready({ ...rolling({ maxUnavailable: 1 }), minReadySeconds: 30 }, 2)
    expect(await s.numbers()).toBe('2 2 0 2 0 2')
    await s.pass(31_000)
    expect(await s.numbers()).toBe('2 2 0 2 2 2')
    await s.setImage('app:2')
    await s.settle()
    expect(await s.places()).toBe('n1@2 n2@1')
    await s.pass(31_000)
    expect(await s.places()).toBe('n1@2 n2@1-')
  })

  it('back to an earlier revision, which becomes the newest; the oldest are forgotten', async () => {
    const s = await ready({ revisionHistoryLimit: 1 }, 1)
    const history = async () => (await s.scene.client.list(controllerrevisions, 'default')).items.map((r) => r.revision).sort()
    for (const image of ['app:2', 'app:1']) {
      await s.setImage(image)
      await s.settle()
    }
    expect(await history()).toEqual([2, 3])
    for (const image of ['app:3', 'app:4']) {
      await s.setImage(image)
      await s.settle()
    }
    expect(await history()).toEqual([4, 5])
  })

  it('whose name is taken get another', async () => {
    const s = await ready({}, 1)
    const [revision] = (await s.scene.client.list(controllerrevisions, 'default')).items
    await s.scene.client.delete(daemonsets, 'default', 'd')
    await s.scene.client.delete(controllerrevisions, 'default', revision!.metadata.name!)
    const { name, namespace, labels } = revision!.metadata
    const others = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'other', uid: 'other', controller: true }]
    await s.scene.client.create(controllerrevisions, { metadata: { name: name!, namespace: namespace!, labels: labels!, ownerReferences: others }, data: {}, revision: 1 })
    await s.create()
    await s.pass(1000)
    expect((await s.get()).status.collisionCount).toBe(1)
    expect((await s.get()).status.updateRevision).not.toBe(name)
  })

  it('cost one status write for each thing that has changed for good', async () => {
    const s = await ready(rolling({ maxUnavailable: '50%' }), 8)
    const before = s.writes('PUT daemonsets status')
    await s.setImage('app:2')
    await s.settle()
    // In two halves: taken away, gone and made, ready; and the first word of the new revision.
    expect(s.writes('PUT daemonsets status') - before).toBeLessThanOrEqual(7)
  })
})

describe('pods that fail', () => {
  it('are replaced, on a node that fails them all ever later', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create()
    await s.report('ready', 'n2')
    for (let i = 0; i < 40; i++) {
      if ((await s.pods())[0]?.status.phase === 'Pending') await s.report('failed', 'n1')
      await s.pass(500)
    }
    const deletes = s.scene.wire.writes.filter(({ request }) => request.method === 'DELETE').map(({ atMs }) => atMs)
    const waits = deletes.slice(1).map((atMs, i) => Math.round((atMs - deletes[i]!) / 1000))
    expect(waits).toEqual([1, 2, 4, 8])
    expect(await s.scene.events('d')).toContainEqual(expect.stringMatching(/^Warning FailedDaemonPod ×\d+: Found failed daemon pod default\/d-\w+ on node n1, will try to kill it$/))
  })

  it('and such as end well are replaced at once', async () => {
    const s = await DaemonSetScene.of(1)
    await s.create()
    await s.report('succeeded')
    await s.pass(1000)
    expect(await s.places()).toBe('n1@1!')
    expect(await s.scene.events('d')).toContainEqual(expect.stringMatching(/^Normal SucceededDaemonPod ×1: Found succeeded daemon pod default\/d-\w+ on node n1, will try to delete it$/))
  })
})

describe('belongings', () => {
  it('a set that is deleted without its pods leaves them alone, and one that comes after it takes them over', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create()
    await s.settle()
    const before = (await s.pods()).map((p) => p.metadata.uid)
    await s.scene.client.delete(daemonsets, 'default', 'd')
    await s.pass(100)
    const [revision] = (await s.scene.client.list(controllerrevisions, 'default')).items
    const forsake = { metadata: { ownerReferences: null } }
    for (const pod of await s.pods()) await s.scene.client.patch(pods, 'default', pod.metadata.name!, forsake, { type: 'merge' })
    await s.scene.client.patch(controllerrevisions, 'default', revision!.metadata.name!, forsake, { type: 'merge' })
    await s.create()
    expect([await s.places(), await s.numbers()]).toEqual(['n1@1 n2@1', '2 2 0 2 2 2'])
    expect((await s.pods()).map((p) => p.metadata.uid)).toEqual(before)
    expect((await s.scene.client.list(controllerrevisions, 'default')).items.map((r) => r.metadata.uid)).toEqual([revision!.metadata.uid])
  })

  it('a pod that gets other labels is let go, and replaced', async () => {
    const s = await DaemonSetScene.of(1)
    await s.create()
    await s.settle()
    const [pod] = await s.pods()
    await s.scene.client.patch(pods, 'default', pod!.metadata.name!, { metadata: { labels: { app: 'x' } } }, { type: 'merge' })
    await s.pass(100)
    expect(await s.places()).toBe('n1@1 n1@1!')
    expect((await s.scene.client.get(pods, 'default', pod!.metadata.name!)).metadata.ownerReferences).toBeUndefined()
  })
})

it('idle means no write at all', async () => {
  const s = await DaemonSetScene.of(3)
  await s.create({ progressDeadlineSeconds: 60, minReadySeconds: 5 })
  await s.settle()
  await s.pass(30_000)
  const before = s.scene.wire.writes.length
  await s.pass(24 * 3600_000)
  expect(s.scene.wire.writes.length).toBe(before)
})

describe('read your writes', () => {
  const rollout = async (delayed?: string) => {
    const s = await DaemonSetScene.of(3)
    if (delayed) s.scene.wire.delaysMs.set(delayed, 5000)
    await s.create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } })
    await s.pass(30_000)
    await s.report('ready')
    await s.pass(30_000)
    await s.setImage('app:2')
    for (let i = 0; i < 4; i++) {
      await s.pass(30_000)
      await s.reap()
      await s.pass(30_000)
      await s.report('ready')
    }
    await s.pass(60_000)
    const { 'PUT daemonsets status': _, 'PATCH events': _told, ...counts } = s.scene.wire.counts()
    return { counts, numbers: await s.numbers(), places: await s.places() }
  }

  it.each(['pods', 'controllerrevisions', 'daemonsets', 'nodes'])('makes the same writes when %s are seen five seconds late', async (resource) => {
    const onTime = await rollout()
    expect(onTime).toEqual({ counts: { 'POST controllerrevisions': 2, 'POST pods': 6, 'DELETE pods': 3 }, numbers: '3 3 0 3 3 3', places: 'n1@2 n2@2 n3@2' })
    expect(await rollout(resource)).toEqual(onTime)
  })

  it('repeats writes with the gate off', async () => {
    const s = await DaemonSetScene.of(3, { gates: { StaleControllerConsistencyDaemonSet: false } })
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.create()
    await s.pass(30_000)
    expect(s.writes('POST pods')).toBeGreaterThan(3)
  })
})
