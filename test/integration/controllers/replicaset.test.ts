import { describe, expect, it } from 'vitest'
import { forbiddenError } from '../../../src/api/errors.ts'
import type { GateName } from '../../../src/api/feature-gates.ts'
import { pods, resourcequotas } from '../../../src/client/index.ts'
import { ReplicaScene, podSpec, replicaKinds } from './replica-scene.ts'

describe.each(replicaKinds)('a $kind', (row) => {
  it('has as many pods as it wants, and one write of status for it', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(3)
    expect(await b.counts()).toEqual([3, 0, 0])
    expect(b.scene.wire.counts()).toEqual({ 'POST pods': 3, [`PUT ${row.type.plural} status`]: 1 })
    const [pod] = await b.own()
    expect(pod!.metadata.ownerReferences).toEqual([
      { apiVersion: row.type.group ? 'apps/v1' : 'v1', kind: row.kind, name: 'web', uid: expect.any(String) as string, controller: true, blockOwnerDeletion: true },
    ])
    expect(pod!.metadata).toMatchObject({ generateName: 'web-', labels: { app: 'web' } })
    expect(await b.scene.events('web')).toContain(`Normal SuccessfulCreate ×1: Created pod: ${pod!.metadata.name}`)
    expect((await b.owner()).status.observedGeneration).toBe(1)
  })

  it('tells of availability in both states, with the cause', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(2)
    expect(await b.condition('Available')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' })
    const [first, second] = await b.own()
    await b.kubelet.report('ready', [first!])
    await b.kubelet.report({ waiting: 'ImagePullBackOff', message: 'no such image' }, [second!])
    await b.scene.pass(1000)
    expect(await b.condition('Available')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(new RegExp(`^1 of 2 replicas is available. Pod ${second!.metadata.name} cannot pull image .*: no such image`)) as string,
    })
    await b.kubelet.report('ready', [(await b.own())[1]!])
    await b.scene.pass(1000)
    expect(await b.condition('Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' })
    expect(await b.counts()).toEqual([2, 2, 2])
    await b.scale(0)
    expect(await b.condition('Available')).toMatchObject({ status: 'True' })
  })

  it('counts pods as available when they have been ready for minReadySeconds, to the second', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(2, { minReadySeconds: 10 })
    await b.kubelet.report('ready', await b.own())
    await b.scene.pass(9000)
    expect(await b.counts()).toEqual([2, 2, 0])
    expect((await b.condition('Available'))!.message).toEqual(expect.stringMatching(/^0 of 2 replicas are available. Pod web-\w+ is ready and counts as available from 2026-01-01T00:00:11Z on \(minReadySeconds: 10\)\.$/))
    await b.scene.pass(1001)
    expect(await b.counts()).toEqual([2, 2, 2])
  })

  it('replaces pods that have ended or are deleted', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(3)
    const [failed, succeeded, deleted] = await b.own()
    await b.kubelet.report('failed', [failed!])
    await b.kubelet.report('succeeded', [succeeded!])
    await b.client.delete(pods, 'default', deleted!.metadata.name!)
    await b.scene.pass(1000)
    expect(await b.own()).toHaveLength(5)
    expect(await b.counts()).toEqual([3, 0, 0])
  })

  it('adopts what it selects and nobody manages, and deletes what is too many', async () => {
    const b = await ReplicaScene.of(row)
    for (const name of ['a', 'b']) await b.lonePod(name)
    await b.lonePod('other', { app: 'other' })
    await b.create(1)
    expect((await b.own()).map((p) => p.metadata.name)).toEqual([expect.stringMatching(/^[ab]$/)])
    expect(await b.counts()).toEqual([1, 0, 0])
    expect(b.scene.wire.counts()['POST pods']).toBeUndefined()
  })

  it('notices a pod that comes to be selected later', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(1)
    await b.kubelet.report('ready', await b.own())
    await b.lonePod('late', { app: 'other' })
    const before = b.writes
    await b.client.patch(pods, 'default', 'late', { metadata: { labels: { app: 'web' } } }, { type: 'merge' })
    await b.scene.pass(1000)
    expect(b.scene.wire.summary().slice(before)).toEqual(['PATCH pods', 'DELETE pods'])
    expect(await b.own()).toHaveLength(1)
  })

  it('lets go of a pod whose labels have changed, and makes another one', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(2)
    const [first] = await b.own()
    const { name = '' } = first!.metadata
    await b.client.patch(pods, 'default', name, { metadata: { labels: { app: 'gone' } } }, { type: 'merge' })
    await b.scene.pass(1000)
    expect((await b.client.get(pods, 'default', name)).metadata.ownerReferences).toBeUndefined()
    expect(await b.own()).toHaveLength(2)
    expect(await b.counts()).toEqual([2, 0, 0])
  })

  it('neither makes, adopts nor deletes while it is being deleted, but tells what there is', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(2)
    await b.client.patch(row.type, 'default', 'web', { metadata: { finalizers: ['example.com/stay'] } }, { type: 'merge' })
    await b.client.delete(row.type, 'default', 'web', { propagationPolicy: 'Background' })
    await b.lonePod('lone')
    await b.kubelet.report('ready', await b.own())
    await b.client.delete(pods, 'default', (await b.own())[0]!.metadata.name!)
    await b.scene.pass(1000)
    expect(b.scene.wire.counts()['POST pods']).toBe(2)
    expect(b.scene.wire.counts()['PATCH pods']).toBeUndefined()
    expect(await b.counts()).toEqual([1, 1, 1])
  })

  it('says why pods cannot be made, and no more once they can, soon after the quota was raised', async () => {
    const b = await ReplicaScene.of(row)
    const refusal = forbiddenError({ group: '', resource: 'pods' }, 'web-x', 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')
    await b.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { services: '1' } } })
    let admitted = 1
    b.scene.wire.intercept = (request, send) => (request.path.endsWith('/pods') && request.method === 'POST' && admitted-- <= 0 ? Promise.reject(refusal) : send())
    await b.create(3)
    expect(await b.condition('ReplicaFailure')).toMatchObject({ status: 'True', reason: 'FailedCreate', message: refusal.message })
    expect((await b.condition('Available'))!.message).toMatch(new RegExp(`^0 of 3 replicas are available. ${row.kind} web cannot create a pod: ${refusal.message}, since 2026`))
    expect(await b.counts()).toEqual([1, 0, 0])
    expect(await b.scene.events('web')).toContain(`Warning FailedCreate ×1: Error creating: ${refusal.message}`)
    await b.scene.pass(3_600_000)
    expect(b.scene.wire.counts()[`PUT ${row.type.plural} status`]).toBe(1)
    admitted = 100
    // The usage changes constantly, which is no reason to retry.
    await b.client.patch(resourcequotas, 'default', 'q', { status: { used: { services: '1' } } }, { type: 'merge', subresource: 'status' })
    await b.scene.pass(100)
    expect(await b.counts()).toEqual([1, 0, 0])
    await b.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { services: '2' } } }, { type: 'merge' })
    await b.scene.pass(100)
    expect(await b.condition('ReplicaFailure')).toBeUndefined()
    expect(await b.counts()).toEqual([3, 0, 0])
  })

  it('says why pods cannot be deleted', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(1)
    let fails = true
    b.scene.wire.intercept = (request, send) => (request.method === 'DELETE' && fails ? Promise.reject(forbiddenError({ group: '', resource: 'pods' }, 'web-x', 'not now')) : send())
    await b.scale(0)
    expect(await b.condition('ReplicaFailure')).toMatchObject({ status: 'True', reason: 'FailedDelete' })
    fails = false
    await b.scene.pass(10_000)
    expect(await b.condition('ReplicaFailure')).toBeUndefined()
    expect(await b.own()).toHaveLength(0)
  })

  it('starts slowly: of a hundred pods that are all refused one is tried', async () => {
    const b = await ReplicaScene.of(row)
    b.scene.wire.intercept = (request, send) => (request.path.endsWith('/pods') ? Promise.reject(forbiddenError({ group: '', resource: 'pods' }, 'x', 'no')) : send())
    const created = b.create(100)
    await b.scene.settle()
    await created
    // 1 s of back-off: 5 ms, 10 ms … make 8 attempts, and the status that was written makes one more.
    expect(b.scene.wire.counts()['POST pods']).toBeLessThanOrEqual(10)
  })

  it('writes nothing when nothing happens', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(3)
    await b.kubelet.report('ready', await b.own())
    await b.scene.pass(1000)
    const before = b.writes
    await b.scene.pass(24 * 3_600_000)
    expect(b.writes).toBe(before)
  })
})

describe('a ReplicaSet', () => {
  const row = replicaKinds[0]!

  it('tells of hundreds of pods that become ready in far fewer writes', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(300)
    const all = await b.own()
    expect(all).toHaveLength(300)
    const before = b.writes
    await b.kubelet.report('ready', all)
    await b.scene.pass(1000)
    expect(await b.counts()).toEqual([300, 300, 300])
    expect(b.writes - before).toBeLessThan(30)
  })

  it('counts pods that are going, until they are gone', async () => {
    const b = await ReplicaScene.of(row)
    const terminating = async () => (await b.owner()).status.terminatingReplicas
    await b.create(3)
    await b.kubelet.report('ready', await b.own())
    expect(await terminating()).toBe(0)
    const before = b.writes
    await b.scale(1)
    expect(await terminating()).toBe(2)
    expect(b.scene.wire.summary().slice(before)).toEqual(['DELETE pods', 'DELETE pods', 'PUT replicasets status'])
    await b.kubelet.reap(await b.own())
    await b.scene.pass(1000)
    expect(await terminating()).toBe(0)
  })

  it('deletes first where more pods of its family are', async () => {
    const b = await ReplicaScene.of(row)
    const owner = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'uid-d', controller: true }]
    await b.create(2)
    await b.create(1, {}, 'older')
    for (const name of ['web', 'older']) await b.client.patch(row.type, 'default', name, { metadata: { ownerReferences: owner } }, { type: 'merge' })
    const [alone, beside] = await b.own()
    await b.kubelet.report('ready', [beside!, ...(await b.own('older'))], 'n2')
    await b.scene.pass(60_000)
    await b.kubelet.report('ready', [alone!], 'n1')
    await b.scale(1)
    expect((await b.own()).filter((p) => !p.metadata.deletionTimestamp).map((p) => p.metadata.name)).toEqual([alone!.metadata.name])
  })

  it('leaves the pod alone that another set of the same selector has', async () => {
    const b = await ReplicaScene.of(row)
    await b.create(1)
    await b.create(1, { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: podSpec } }, 'rival')
    await b.scene.pass(60_000)
    expect([await b.own(), await b.own('rival')].map((list) => list.length)).toEqual([1, 1])
    expect(b.scene.wire.counts()['POST pods']).toBe(2)
  })
})

/** Scales up, down, to nothing, and has pods made ready and reaped in between. Returns the writes of each phase. */
async function life(b: ReplicaScene): Promise<Record<string, number>[]> {
  const counts: Record<string, number>[] = []
  await b.lonePod('lone')
  await b.scene.pass(60_000)
  await b.create(3)
  for (const replicas of [5, 2, 4, 0]) {
    await b.scene.pass(60_000)
    await b.kubelet.report('ready', (await b.own()).filter((p) => !p.metadata.deletionTimestamp))
    await b.scene.pass(60_000)
    await b.scale(replicas)
    await b.scene.pass(60_000)
    await b.kubelet.reap(await b.own())
    await b.scene.pass(60_000)
    expect(await b.own()).toHaveLength(replicas)
    counts.push(b.scene.wire.counts())
  }
  return counts
}

describe.each(replicaKinds)('a $kind whose watch events come 5 s late', (row) => {
  it.each(['pods', row.type.plural])('makes exactly the writes it would make without delay: %s late', async (plural) => {
    const onTime = await life(await ReplicaScene.of(row))
    const late = await ReplicaScene.of(row)
    late.scene.wire.delaysMs.set(plural, 5000)
    expect(await life(late)).toEqual(onTime)
    expect(onTime.at(-1)).toMatchObject({ 'PATCH pods': 1, 'POST pods': 6, 'DELETE pods': 7 })
    expect(late.scene.metric(`${row.controller}_stale_sync_skips_total`)).toBeGreaterThan(0)
  })

  it.each<GateName>(['StaleControllerConsistency', 'StaleControllerConsistencyReplicaSet'])('repeats them with %s off', async (gate) => {
    const b = await ReplicaScene.of(row, { [gate]: false })
    b.scene.wire.delaysMs.set('pods', 5000)
    await b.create(3)
    await b.scene.pass(60_000)
    expect(b.scene.wire.counts()['POST pods']).toBeGreaterThan(3)
    expect(b.scene.wire.counts()['DELETE pods']).toBeGreaterThan(0)
  })
})
