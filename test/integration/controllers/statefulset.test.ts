import { describe, expect, it } from 'vitest'
import { forbiddenError } from '../../../src/api/errors.ts'
import { compareInt64 } from '../../../src/api/numbers/int64.ts'
import { controllerrevisions, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { StatefulSetScene } from './statefulset-scene.ts'

describe('identity', () => {
  it('one pod after the other, each with its name, its labels and its revision', async () => {
    const s = await StatefulSetScene.of()
    await s.create(3)
    expect(await s.places()).toBe('0!')
    await s.report('ready', 0)
    expect(await s.places()).toBe('0 1!')
    await s.settle()
    expect(await s.places()).toBe('0 1 2')
    const [first] = await s.pods()
    const { updateRevision } = (await s.get()).status
    expect(first).toMatchObject({
      metadata: { labels: { 'statefulset.kubernetes.io/pod-name': 'web-0', 'apps.kubernetes.io/pod-index': '0', 'controller-revision-hash': updateRevision } },
      spec: { hostname: 'web-0', subdomain: 'web' },
    })
    expect((await s.get()).status).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, currentReplicas: 3, updatedReplicas: 3, observedGeneration: 1 })
    expect(await s.scene.events('web')).toContain('Normal SuccessfulCreate ×1: create Pod web-2 in StatefulSet web successful')
  })

  it('a pod that was deleted comes back under its name, with its claim', async () => {
    const s = await StatefulSetScene.of()
    const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }]
    await s.create(2, { podManagementPolicy: 'Parallel', volumeClaimTemplates })
    await s.settle()
    const claims = async () => (await s.scene.client.list(persistentvolumeclaims, 'default')).items.map((c) => `${c.metadata.name} ${c.metadata.uid}`)
    const before = await claims()
    expect(before.map((c) => c.split(' ')[0])).toEqual(['data-web-0', 'data-web-1'])
    await s.scene.client.delete(pods, 'default', 'web-1', { gracePeriodSeconds: 0 })
    await s.settle()
    expect(await s.places()).toBe('0 1')
    expect(await claims()).toEqual(before)
    expect((await s.pods())[1]!.spec.volumes![0]).toMatchObject({ name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } })
  })

  it('adopts pods and revisions that bear its name when it comes back', async () => {
    const s = await StatefulSetScene.of()
    await s.create(2)
    await s.settle()
    const [set, revision] = [await s.get(), (await s.scene.client.list(controllerrevisions, 'default')).items[0]!]
    await s.scene.client.delete(statefulsets, 'default', 'web')
    await s.pass(100)
    const forsake = { metadata: { ownerReferences: null } }
    for (const name of ['web-0', 'web-1']) await s.scene.client.patch(pods, 'default', name, forsake, { type: 'merge' })
    await s.scene.client.patch(controllerrevisions, 'default', revision.metadata.name!, forsake, { type: 'merge' })
    await s.create(2)
    expect(await s.places()).toBe('0 1')
    expect((await s.pods())[0]!.metadata.ownerReferences![0]!.uid).toBe((await s.get()).metadata.uid)
    expect((await s.get()).metadata.uid).not.toBe(set.metadata.uid)
    expect((await s.scene.client.list(controllerrevisions, 'default')).items.map((r) => r.metadata.uid)).toEqual([revision.metadata.uid])
  })
})

describe('a name that is taken', () => {
  it('is used as soon as the pod of somebody else that has it is gone, however often it was tried in vain', async () => {
    const s = await StatefulSetScene.of()
    const { client } = s.scene
    const stranger = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'an-earlier-one', controller: true }
    await client.create(pods, {
      metadata: { name: 'web-0', namespace: 'default', labels: { app: 'web' }, ownerReferences: [stranger] },
      spec: { containers: [{ name: 'main', image: 'app:1' }] },
    } as never)
    await s.create(1)
    await s.pass(20 * 60_000)
    await client.delete(pods, 'default', 'web-0', { gracePeriodSeconds: 0 })
    await s.pass(100)
    const { uid } = (await s.get()).metadata
    expect((await s.pods()).map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.uid])).toEqual([['web-0', uid]])
  })
})

describe('revisions', () => {
  it('have a history, and going back to an earlier one makes it the newest', async () => {
    const s = await StatefulSetScene.of()
    await s.create(1, { revisionHistoryLimit: 1 })
    await s.settle()
    const history = async () => (await s.scene.client.list(controllerrevisions, 'default')).items.toSorted((a, b) => compareInt64(a.revision, b.revision)).map((r) => [r.metadata.name, r.revision])
    const first = (await s.get()).status.updateRevision
    for (const image of ['app:2', 'app:1']) {
      await s.setImage(image)
      await s.settle()
    }
    expect((await history()).at(-1)).toEqual([first, 3])
    expect((await s.get()).status).toMatchObject({ currentRevision: first, updateRevision: first })
    for (const image of ['app:3', 'app:4']) {
      await s.setImage(image)
      await s.settle()
    }
    expect((await history()).map(([, number]) => number)).toEqual([4, 5])
  })

  it('whose name is taken by another set gets another name', async () => {
    const s = await StatefulSetScene.of()
    await s.create(0)
    const { updateRevision } = (await s.get()).status
    const taken = (await s.scene.client.list(controllerrevisions, 'default')).items[0]!
    await s.scene.client.delete(statefulsets, 'default', 'web')
    await s.scene.client.delete(controllerrevisions, 'default', updateRevision!)
    const { name, namespace, labels } = taken.metadata
    const other = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'other', uid: 'other', controller: true }]
    await s.scene.client.create(controllerrevisions, { metadata: { name: name!, namespace: namespace!, labels: labels!, ownerReferences: other }, data: {}, revision: 1 })
    await s.create(1)
    await s.pass(1000)
    const { status } = await s.get()
    expect(status.collisionCount).toBe(1)
    expect(status.updateRevision).not.toBe(updateRevision)
    expect(await s.places()).toBe('0!')
  })
})

describe('conditions', () => {
  it('from created to complete, and Available in both states', async () => {
    const s = await StatefulSetScene.of()
    await s.create(2)
    expect([await s.says(), await s.says('Available')]).toEqual(['True NewRevisionCreated', 'False MinimumReplicasUnavailable'])
    await s.report('ready', 0)
    expect([await s.says(), await s.says('Available')]).toEqual(['True ReplicasUpdated', 'False MinimumReplicasUnavailable'])
    await s.report('ready', 1)
    expect([await s.says(), await s.says('Available')]).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
    await s.report('unready', 1)
    expect([await s.says(), await s.says('Available')]).toEqual(['True NewRevisionAvailable', 'False MinimumReplicasUnavailable'])
    expect((await s.condition('Available'))!.message).toMatch(/^1 of 2 replicas is available. Pod web-1 waits for container "main" to become ready, since 2026/)
    await s.report('ready', 1)
    expect(await s.says('Available')).toBe('True MinimumReplicasAvailable')
  })

  it('without replicas it is complete and available', async () => {
    const s = await StatefulSetScene.of()
    await s.create(0)
    expect([await s.says(), await s.says('Available')]).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
  })

  it('held by a partition, and let go', async () => {
    const s = await StatefulSetScene.of()
    await s.create(3, { updateStrategy: { rollingUpdate: { partition: 2 } }, progressDeadlineSeconds: 60 })
    await s.settle()
    await s.setImage('app:2')
    expect(await s.says()).toBe('True NewRevisionCreated')
    await s.settle()
    expect(await s.says()).toBe('True PartitionReached')
    await s.pass(600_000)
    expect(await s.says()).toBe('True PartitionReached')
    await s.change({ updateStrategy: { rollingUpdate: { partition: 0 } } })
    expect(await s.says()).toBe('True ReplicasUpdated')
    await s.settle()
    expect(await s.says()).toBe('True NewRevisionAvailable')
  })

  it('a quota that is too small is a ReplicaFailure with the words of the quota, and goes when it is raised', async () => {
    const s = await StatefulSetScene.of()
    const message = 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
    let isShort = true
    s.scene.wire.intercept = (request, send) =>
      isShort && request.method === 'POST' && request.path.endsWith('/pods') ? Promise.reject(forbiddenError({ group: '', resource: 'pods' }, 'web-0', message)) : send()
    await s.create(1, { progressDeadlineSeconds: 600 })
    expect(await s.says('ReplicaFailure')).toBe('True FailedCreate')
    expect((await s.condition('ReplicaFailure'))!.message).toContain(message)
    expect(await s.says()).toBe('True NewRevisionCreated')
    isShort = false
    await s.pass(60_000)
    await s.settle()
    expect([await s.says('ReplicaFailure'), await s.says()]).toEqual(['nothing', 'True NewRevisionAvailable'])
  })

  it('while pods come one after the other every few milliseconds, status is written every 50, and at once when all are there', async () => {
    const s = await StatefulSetScene.of()
    await s.create(40)
    const writes = () => s.scene.wire.counts()['PUT statefulsets status']!
    const before = writes()
    for (let i = 0; i < 40; i++) {
      await s.kubelet.report('ready', (await s.pods()).slice(i))
      await s.pass(5)
    }
    expect(await s.says('Available')).toBe('True MinimumReplicasAvailable')
    expect((await s.get()).status).toMatchObject({ replicas: 40, readyReplicas: 40 })
    expect(writes() - before).toBeGreaterThanOrEqual(4)
    expect(writes() - before).toBeLessThanOrEqual(7)
    await s.report('unready', 3)
    await s.kubelet.report('unready', (await s.pods()).slice(4, 5))
    await s.pass(100)
    expect((await s.get()).status).toMatchObject({ readyReplicas: 38 })
  })

  it('idle means no write at all', async () => {
    const s = await StatefulSetScene.of()
    await s.create(3, { progressDeadlineSeconds: 60, minReadySeconds: 5, podManagementPolicy: 'Parallel' })
    await s.settle()
    await s.pass(30_000)
    await s.settle()
    const before = s.scene.wire.writes.length
    await s.pass(24 * 3600_000)
    expect(s.scene.wire.writes.length).toBe(before)
  })

  it('with the gate off says nothing, and keeps what was said', async () => {
    const s = await StatefulSetScene.of({ StatefulSetConditions: false })
    await s.create(1)
    await s.settle()
    expect((await s.get()).status.conditions).toBeUndefined()
    expect((await s.get()).status).not.toHaveProperty('desiredReplicas')
  })
})

describe('the deadline', () => {
  const stuck = async (spec: object = {}) => {
    const s = await StatefulSetScene.of()
    await s.create(2, { progressDeadlineSeconds: 60, ...spec })
    await s.report('ready', 0)
    await s.report({ waiting: 'ErrImagePull', message: 'no such image' }, 1)
    return s
  }
  const clockOf = async (s: StatefulSetScene) => Date.parse((await s.condition('Progressing'))!.lastUpdateTime!)
  const passUntil = async (s: StatefulSetScene, ms: number) => s.pass(ms - s.scene.clock.now())

  it('is exceeded within a second, says why, and is cleared by progress', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    await passUntil(s, since + 59_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
    await passUntil(s, since + 61_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    expect((await s.condition('Progressing'))!.message).toMatch(
      /^No progress with revision web-\w+ for 60 seconds. Pod web-1 cannot pull image "app:1" for container "main": no such image, since 2026/,
    )
    await s.report('ready', 1)
    expect(await s.says()).toBe('True NewRevisionAvailable')
  })

  it('is not moved by what is no progress', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    for (const patch of [{ metadata: { labels: { a: 'b' } } }, { spec: { progressDeadlineSeconds: 90 } }, { spec: { minReadySeconds: 0 } }]) {
      await s.pass(10_000)
      await s.scene.client.patch(statefulsets, 'default', 'web', patch, { type: 'merge' })
    }
    await s.report({ waiting: 'ImagePullBackOff', message: 'again' }, 1)
    expect(await clockOf(s)).toBe(since)
    await passUntil(s, since + 91_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it.each<[string, (s: StatefulSetScene) => Promise<void>]>([
    ['a new revision', (s) => s.setImage('app:2')],
    ['a scale', (s) => s.change({ replicas: 3 })],
  ])('starts anew with %s, also when it was exceeded', async (_, act) => {
    const s = await stuck()
    await s.pass(50_000)
    await act(s)
    await s.pass(58_000)
    expect(await s.says()).toMatch(/^True/)
    await s.pass(3000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    await act(s)
    if ((await s.says()) === 'False ProgressDeadlineExceeded') await s.change({ replicas: 4 })
    expect(await s.says()).toMatch(/^True/)
  })

  it('comes when it would have come, though server and controllers are restarted meanwhile', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    await s.pass(20_000)
    await s.restart()
    expect(await clockOf(s)).toBe(since)
    await passUntil(s, since + 59_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
    await passUntil(s, since + 61_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it('that passed while nobody was there is exceeded at once, and stays so over another restart', async () => {
    const s = await stuck()
    await s.restart({}, () => s.pass(120_000))
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    for (let i = 0; i < 2; i++) {
      await s.restart()
      expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    }
    await s.report('ready', 1)
    expect(await s.says()).toBe('True NewRevisionAvailable')
  })

  it('starts anew with a scale that nobody saw', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    await s.restart({}, async () => {
      await s.change({ replicas: 3 })
      await s.pass(30_000)
    })
    expect(await clockOf(s)).toBeGreaterThan(since + 30_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
  })

  it('of int32 max never comes', async () => {
    const s = await stuck({ progressDeadlineSeconds: 2_147_483_647 })
    await s.pass(24 * 3600_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
  })
})

describe('read your writes', () => {
  const rollout = async (delayed: string | undefined, gates = {}) => {
    const s = await StatefulSetScene.of(gates)
    if (delayed) s.scene.wire.delaysMs.set(delayed, 5000)
    await s.create(3, { podManagementPolicy: 'Parallel', updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })
    await s.pass(30_000)
    await s.kubelet.report('ready', await s.pods())
    await s.pass(30_000)
    await s.setImage('app:2')
    for (let i = 0; i < 6; i++) {
      await s.pass(30_000)
      await s.kubelet.reap(await s.pods())
      await s.pass(30_000)
      await s.kubelet.report('ready', (await s.pods()).filter((p) => !p.metadata.deletionTimestamp))
    }
    await s.pass(60_000)
    const { 'PUT statefulsets status': _, 'PATCH events': _told, ...counts } = s.scene.wire.counts()
    return { counts, status: (await s.get()).status }
  }

  it.each(['pods', 'controllerrevisions', 'statefulsets'])('makes the same writes when %s are seen five seconds late', async (resource) => {
    const onTime = await rollout(undefined)
    expect(onTime.counts).toEqual({ 'POST controllerrevisions': 2, 'POST pods': 6, 'DELETE pods': 3 })
    expect(onTime.status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 })
    const late = await rollout(resource)
    expect(late.counts).toEqual(onTime.counts)
  })

  it('repeats writes with the gate off', async () => {
    const s = await StatefulSetScene.of({ StaleControllerConsistencyStatefulSet: false })
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.create(3, { podManagementPolicy: 'Parallel' })
    await s.pass(30_000)
    expect(s.scene.wire.counts()['POST pods']).toBeGreaterThan(3)
  })
})

it('metrics tell what may be and what is unavailable, and go with the set', async () => {
  const s = await StatefulSetScene.of()
  const prefix = 'statefulset_controller_statefulset'
  const labels = 'statefulset_namespace="default",statefulset_name="web",pod_management_policy="Parallel"'
  await s.create(4, { podManagementPolicy: 'Parallel', updateStrategy: { rollingUpdate: { maxUnavailable: '50%' } } })
  await s.settle()
  const read = () => ['max_unavailable', 'unavailable_replicas', 'unavailability_violation'].map((name) => s.scene.metric(`${prefix}_${name}`, labels))
  expect(read()).toEqual([2, 0, 0])
  await s.report('unready', 0, 1)
  expect(read()).toEqual([2, 2, 0])
  await s.report('unready', 2)
  expect(read()).toEqual([2, 3, 1])
  await s.report('unready', 3)
  expect(read()).toEqual([2, 4, 1])
  await s.settle()
  await s.report('unready', 0, 1, 2)
  expect(read()[2]).toBe(2)
  await s.scene.client.delete(statefulsets, 'default', 'web')
  await s.pass(100)
  expect(s.scene.cluster.metrics.text()).not.toContain(labels)
})
