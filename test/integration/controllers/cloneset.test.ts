import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { compareInt64 } from '../../../src/api/numbers/int64.ts'
import { clonesets, controllerOf, controllerrevisions, persistentvolumeclaims, pods, resourcequotas } from '../../../src/client/index.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { CloneSetScene, imageOf } from './cloneset-scene.ts'

const namesOf = (some: readonly Pod[]) => some.filter((p) => !p.metadata.deletionTimestamp).map((p) => p.metadata.name!).sort()
const idLabel = 'apps.kruise.io/cloneset-instance-id'

describe('pods of a CloneSet', () => {
  it('have its name and an id of their own, say of which revision they are, and wait for its word to be ready if they are updated in place', async () => {
    const s = await CloneSetScene.running(3, { updateStrategy: { type: 'InPlaceIfPossible' } })
    const { updateRevision, currentRevision } = (await s.get()).status
    expect(currentRevision).toBe(updateRevision)
    for (const { metadata, spec, status } of await s.pods()) {
      expect(metadata).toMatchObject({ name: expect.stringMatching(/^web-[a-z0-9]{5}$/) as string, generateName: 'web-' })
      expect(metadata.labels).toMatchObject({ 'controller-revision-hash': updateRevision, 'pod-template-hash': updateRevision!.slice('web-'.length), [idLabel]: metadata.name!.slice('web-'.length) })
      expect(controllerOf({ metadata })).toMatchObject({ kind: 'CloneSet', name: 'web' })
      expect(spec.readinessGates).toEqual([{ conditionType: 'InPlaceUpdateReady' }])
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'InPlaceUpdateReady', status: 'True' }))
    }
  })

  it('come back when they are deleted, and nothing is written when nothing happens', async () => {
    const s = await CloneSetScene.running(3)
    const [first] = namesOf(await s.pods())
    await s.scene.client.delete(pods, 'default', first!)
    await s.pass(100)
    await s.settle()
    expect(await s.images()).toBe('app:1×3')
    expect(namesOf(await s.pods())).not.toContain(first)
    const before = s.scene.wire.writes.length
    await s.pass(600_000)
    expect(s.scene.wire.writes).toHaveLength(before)
  })

  it('are adopted if nobody manages them, and let go if they do not match any more', async () => {
    const s = await CloneSetScene.running(2)
    const orphan = { metadata: { name: 'orphan', namespace: 'default', labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }] } }
    await s.scene.client.create(pods, orphan as unknown as Pod)
    await s.pass(100)
    await s.settle()
    expect((await s.pods()).filter((p) => !p.metadata.deletionTimestamp)).toHaveLength(2)
    const [mine] = await s.pods()
    await s.scene.client.patch(pods, 'default', mine!.metadata.name!, { metadata: { labels: { app: 'other' } } }, { type: 'merge' })
    await s.pass(100)
    await s.settle()
    expect(await s.images()).toBe('app:1×2')
    expect(controllerOf(await s.scene.client.get(pods, 'default', mine!.metadata.name!))).toBeUndefined()
  })

  it('that are named are deleted and forgotten', async () => {
    const s = await CloneSetScene.running(5)
    const [a, b] = namesOf(await s.pods())
    await s.change({ replicas: 4, scaleStrategy: { podsToDelete: [a] } })
    await s.settle()
    expect(namesOf(await s.pods())).not.toContain(a)
    expect(await s.images()).toBe('app:1×4')
    await s.change({ scaleStrategy: { podsToDelete: [b] } })
    await s.settle()
    expect([await s.images(), namesOf(await s.pods()).includes(b!)]).toEqual(['app:1×4', false])
    expect((await s.get()).spec.scaleStrategy).toEqual({})
    expect((await s.get()).status.observedGeneration).toBe((await s.get()).metadata.generation)
  })

  it('are made as others become available, where that is asked for', async () => {
    const s = await CloneSetScene.of()
    await s.create(5, { scaleStrategy: { maxUnavailable: 2 } })
    expect(await s.images()).toBe('app:1×2!')
    await s.report('ready', 'app:1', 1)
    expect(await s.images()).toBe('app:1×1 app:1×2!')
    await s.settle()
    expect(await s.images()).toBe('app:1×5')
  })
})

describe('a rollout', () => {
  it('takes the time that pods take to be available', async () => {
    const s = await CloneSetScene.running(4, { minReadySeconds: 10, updateStrategy: { maxUnavailable: 2 } })
    await s.pass(12_000)
    await s.setImage('app:2')
    await s.reap()
    await s.report('ready', 'app:2')
    expect(await s.images()).toBe('app:1×2 app:2×2')
    await s.pass(8000)
    expect(await s.images()).toBe('app:1×2 app:2×2')
    await s.pass(3000)
    expect(await s.images()).toBe('app:1×2- app:2×2 app:2×2!')
  })

  it('by partitions: 80 %, 50 %, 0', async () => {
    const s = await CloneSetScene.running(10)
    await s.update({ partition: '80%' })
    await s.setImage('app:2')
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:1×8 app:2×2', 'True PartitionReached'])
    expect((await s.get()).status).toMatchObject({ expectedUpdatedReplicas: 2, updatedReplicas: 2, updatedReadyReplicas: 2, updatedAvailableReplicas: 2 })
    await s.change({ replicas: 20 })
    await s.settle()
    expect(await s.images()).toBe('app:1×16 app:2×4')
    await s.update({ partition: '50%' })
    await s.settle()
    expect(await s.images()).toBe('app:1×10 app:2×10')
    await s.update({ partition: 0 })
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:2×20', 'True NewRevisionAvailable'])
  })

  it('never has fewer available than it may, nor more in all', async () => {
    const s = await CloneSetScene.running(10, { updateStrategy: { maxUnavailable: 1, maxSurge: 2 } })
    await s.setImage('app:2')
    for (let i = 0; i < 20; i++) {
      const staying = (await s.pods()).filter((p) => !p.metadata.deletionTimestamp)
      expect(staying.length).toBeLessThanOrEqual(12)
      expect((await s.get()).status.availableReplicas).toBeGreaterThanOrEqual(9)
      await s.report('ready', 'app:2', 1)
    }
    await s.settle()
    expect(await s.images()).toBe('app:2×10')
  })

  it('back to an earlier revision makes it the newest, and the history is kept within its limit', async () => {
    const s = await CloneSetScene.running(2, { revisionHistoryLimit: 1 })
    const first = (await s.get()).status.updateRevision
    for (const image of ['app:2', 'app:3', 'app:2', 'app:1', 'app:4']) {
      await s.setImage(image)
      await s.settle()
    }
    const revisions = (await s.scene.client.list(controllerrevisions, 'default')).items
    expect(revisions.map(({ revision }) => revision).sort(compareInt64)).toEqual([5, 6])
    await s.setImage('app:1')
    await s.settle()
    expect((await s.get()).status.updateRevision).toBe(first)
  })
})

describe('claims', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }]
  const claimsOf = async (s: CloneSetScene) => (await s.scene.client.list(persistentvolumeclaims, 'default')).items.filter(({ metadata }) => !metadata.deletionTimestamp)
  const idsOf = (some: readonly { metadata: { labels?: Record<string, string> } }[]) => some.map(({ metadata }) => metadata.labels![idLabel]).sort()

  it('are made with each pod, taken over by the next if somebody else deletes it, and go with it if the set does', async () => {
    const s = await CloneSetScene.running(3, { volumeClaimTemplates })
    const ids = idsOf(await claimsOf(s))
    expect(ids).toEqual(idsOf(await s.pods()))
    expect((await claimsOf(s)).map(({ metadata }) => metadata.name).sort()).toEqual(ids.map((id) => `data-web-${id}`))
    expect((await s.pods())[0]!.spec.volumes![0]).toMatchObject({ name: 'data', persistentVolumeClaim: { claimName: `data-web-${(await s.pods())[0]!.metadata.labels![idLabel]}` } })
    await s.scene.client.delete(pods, 'default', `web-${ids[0]}`)
    await s.pass(100)
    expect((await s.pods()).filter((p) => !p.metadata.deletionTimestamp)).toHaveLength(2)
    await s.settle()
    expect([idsOf(await s.pods()), idsOf(await claimsOf(s))]).toEqual([ids, ids])
    await s.change({ replicas: 1 })
    await s.settle()
    expect(idsOf(await claimsOf(s))).toEqual(idsOf(await s.pods()))
    expect(await claimsOf(s)).toHaveLength(1)
    await s.setImage('app:2')
    await s.settle()
    expect(idsOf(await claimsOf(s))).toEqual(idsOf(await s.pods()))
    expect(ids).not.toContain(idsOf(await claimsOf(s))[0])
  })

  it('that are lost before their pod has come to a node have it replaced', async () => {
    const s = await CloneSetScene.of()
    await s.create(1, { volumeClaimTemplates })
    const [id] = idsOf(await s.pods())
    await s.scene.client.delete(persistentvolumeclaims, 'default', `data-web-${id}`)
    await s.pass(1000)
    await s.settle()
    expect(await s.images()).toBe('app:1×1')
    expect([idsOf(await s.pods()), idsOf(await claimsOf(s))]).not.toContainEqual([id])
    expect(idsOf(await claimsOf(s))).toEqual(idsOf(await s.pods()))
  })

  it('are not taken over where that is not wanted: they go with the pod', async () => {
    const s = await CloneSetScene.running(2, { volumeClaimTemplates, scaleStrategy: { disablePVCReuse: true } })
    const [id] = idsOf(await claimsOf(s))
    await s.scene.client.delete(pods, 'default', `web-${id}`)
    await s.pass(100)
    const left = (await claimsOf(s)).find((claim) => claim.metadata.labels![idLabel] === id)!
    expect(left.metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'Pod', name: `web-${id}` })])
    await s.settle()
    expect(idsOf(await s.pods())).not.toContain(id)
    expect(await claimsOf(s)).toHaveLength(3) // the garbage collector would take it
  })
})

it('a quota that is too small is a ReplicaFailure in the words of the quota, for as long as it is', async () => {
  const s = await CloneSetScene.of({}, [resourceQuotaController])
  const setQuota = (count: string) => s.scene.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { pods: count } } }, { type: 'merge' })
  await s.scene.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { pods: '1' } } })
  await s.pass(1000)
  await s.create(3)
  await s.pass(10_000)
  const words = /^pods "web-\w{5}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1$/
  for (const type of ['ReplicaFailure', 'FailedScale']) expect(await s.condition(type)).toMatchObject({ status: 'True', reason: 'FailedCreate', message: expect.stringMatching(words) as string })
  expect((await s.condition('Available'))!.message).toMatch(/^0 of 3 replicas are available\. CloneSet web cannot create a pod: pods "web-/)
  const statusWrites = () => s.scene.wire.counts()['PUT clonesets status']
  const before = statusWrites()
  await s.pass(60_000)
  expect(statusWrites()).toBe(before)
  // Two at a time are refused, under the same names again and again.
  expect((await s.scene.events('web')).filter((e) => e.includes('FailedCreate'))).toHaveLength(2)
  await setQuota('3')
  await s.pass(1000)
  expect([await s.images(), await s.says('ReplicaFailure'), await s.says('FailedScale')]).toEqual(['app:1×3!', 'nothing', 'nothing'])
})

describe('its own writes', () => {
  const rollout = async (lateResource: string | undefined) => {
    const s = await CloneSetScene.of()
    if (lateResource) s.scene.wire.delaysMs.set(lateResource, 5000)
    await s.create(3, { updateStrategy: { maxUnavailable: 3 } })
    await s.pass(60_000)
    await s.settle()
    await s.pass(60_000)
    await s.setImage('app:2')
    await s.pass(60_000)
    await s.settle()
    await s.pass(60_000)
    const { 'PUT clonesets status': _, 'PATCH events': _told, ...counts } = s.scene.wire.counts()
    return { counts, status: (await s.get()).status }
  }

  it.each(['pods', 'controllerrevisions', 'clonesets'])('are the same when %s are seen five seconds late', async (resource) => {
    const onTime = await rollout(undefined)
    expect(onTime.counts).toEqual({ 'POST controllerrevisions': 2, 'POST pods': 6, 'DELETE pods': 3 })
    expect(onTime.status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 })
    expect((await rollout(resource)).counts).toEqual(onTime.counts)
  })

  it('are repeated with the gate off', async () => {
    const s = await CloneSetScene.of({ StaleControllerConsistencyCloneSet: false })
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.create(3)
    await s.pass(30_000)
    expect(s.scene.wire.counts()['POST pods']).toBeGreaterThan(3)
  })
})

it('metrics tell what may be and what is unavailable, and go with the set', async () => {
  const s = await CloneSetScene.running(4, { updateStrategy: { maxUnavailable: '50%' } })
  const labels = 'cloneset_namespace="default",cloneset_name="web"'
  const read = () => ['max_unavailable', 'unavailable_replicas', 'unavailability_violation'].map((name) => s.scene.metric(`cloneset_controller_cloneset_${name}`, labels))
  expect(read()).toEqual([2, 0, 0])
  const [a, b, c] = namesOf(await s.pods())
  await s.reportThat('unready', (pod) => pod.metadata.name === a || pod.metadata.name === b)
  expect(read()).toEqual([2, 2, 0])
  await s.reportThat('unready', (pod) => pod.metadata.name === c)
  expect(read()).toEqual([2, 3, 1])
  await s.scene.client.delete(clonesets, 'default', 'web')
  await s.pass(100)
  expect(s.scene.cluster.metrics.text()).not.toContain(labels)
})

it('a set that is deleted makes no more pods', async () => {
  const s = await CloneSetScene.running(2)
  await s.scene.client.delete(clonesets, 'default', 'web')
  await s.pass(1000)
  for (const pod of await s.pods()) await s.scene.client.delete(pods, 'default', pod.metadata.name!)
  await s.pass(1000)
  expect((await s.pods()).filter((p) => !p.metadata.deletionTimestamp).map(imageOf)).toEqual([])
})
