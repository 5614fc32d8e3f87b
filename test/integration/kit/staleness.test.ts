import { describe, expect, it } from 'vitest'
import { internalError } from '../../../src/api/errors.ts'
import type { GateName } from '../../../src/api/feature-gates.ts'
import type { ReplicaSet } from '../../../src/api/generated/types.ts'
import { configmaps, replicasets } from '../../../src/client/index.ts'
import { defineController } from '../../../src/controllers/index.ts'
import { replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

/** A life: made, scaled up, scaled down, and to nothing. What was written is counted after each. */
async function life(s: Scene): Promise<Record<string, number>[]> {
  const counts: Record<string, number>[] = []
  for (const replicas of [3, 5, 1, 0]) {
    if (counts.length === 0) await s.client.create(replicasets, replicaSet('web', 3))
    else await s.client.patch(replicasets, 'default', 'web', { spec: { replicas } }, { type: 'merge' })
    await s.pass(60_000)
    expect(await s.podsOf('web')).toHaveLength(replicas)
    counts.push(s.wire.counts())
  }
  return counts
}

const skips = 'crew_stale_sync_skips_total'

describe('a controller of two kinds whose watch events come 5 s late', () => {
  it.each(['pods', 'configmaps', 'replicasets'])('makes exactly the writes it would make without delay: %s late', async (plural) => {
    const onTime = await life(await Scene.start())
    const late = await Scene.start()
    late.wire.delaysMs.set(plural, 5000)
    expect(await life(late)).toEqual(onTime)
    expect(onTime[0]).toMatchObject({ 'POST pods': 3, 'POST configmaps': 1 })
    expect(onTime[2]).toMatchObject({ 'POST pods': 5, 'DELETE pods': 4, 'POST configmaps': 1, 'PUT configmaps': 2 })
    // A pod's deletion is answered with its version, a ConfigMap's without one.
    expect(onTime[3]).toMatchObject({ 'DELETE pods': 5, 'DELETE configmaps': 1 })
    const labels = plural === 'replicasets' ? 'group="apps",resource="replicasets"' : `group="",resource="${plural}"`
    expect(late.metric(skips, labels)).toBeGreaterThan(0)
  })

  it.each<GateName>(['StaleControllerConsistency', 'StaleControllerConsistencyReplicaSet'])('repeats them with %s off', async (gate) => {
    const s = await Scene.start({ gates: { [gate]: false } })
    s.wire.delaysMs.set('pods', 5000)
    await s.client.create(replicasets, replicaSet('web', 3))
    await s.pass(60_000)
    expect(s.wire.counts()['POST pods']).toBeGreaterThan(3)
    expect(s.wire.counts()['DELETE pods']).toBeGreaterThan(0)
    expect(s.metric(skips)).toBe(0)
  })

  it('goes on looking whether they have come, also where a failure has just asked for an earlier look', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    s.wire.delaysMs.set('pods', 60_000)
    let failures = 5
    s.wire.intercept = (request, send) => (request.path.endsWith('/status') && failures-- > 0 ? Promise.reject(internalError('out of order')) : send())
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    await s.settle()
    await s.client.patch(replicasets, 'default', 'web', { metadata: { annotations: { a: 'b' } } }, { type: 'merge' })
    await s.pass(1000)
    const early = s.metric(skips)
    await s.pass(20_000)
    expect(s.metric(skips)).toBeGreaterThan(early)
  })

  it('looks at other owners meanwhile', async () => {
    const s = await Scene.start()
    s.wire.delaysMs.set('pods', 5000)
    await s.client.create(replicasets, replicaSet('one', 2))
    await s.pass(1000)
    await s.client.create(replicasets, replicaSet('two', 2))
    await s.pass(10)
    expect(await s.podsOf('two')).toHaveLength(2)
    expect(s.wire.counts()['POST pods']).toBe(4)
  })

  it('reconciles the key within one step of its back-off after the cache has caught up', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    s.wire.delaysMs.set('pods', 5000)
    const scaledMs = s.clock.now()
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 3 } }, { type: 'merge' })
    await s.settle()
    expect(s.wire.counts()['POST pods']).toBe(3)
    await s.pass(30_000)
    const roster = s.wire.writes.filter(({ request }) => request.method === 'PUT' && request.path.includes('configmaps'))
    expect(roster).toHaveLength(1)
    expect(roster[0]!.atMs - scaledMs).toBeGreaterThanOrEqual(5000)
    // 5 ms, 10 ms, … 2560 ms make 5115 ms: the step after that is 5120 ms.
    expect(roster[0]!.atMs - scaledMs).toBeLessThanOrEqual(5000 + 5120)
  })

  it('does not wait longer because other things changed meanwhile', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    s.wire.delaysMs.set('pods', 5000)
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    for (let i = 0; i < 40; i++) {
      await s.client.patch(replicasets, 'default', 'web', { metadata: { labels: { touched: String(i) } } }, { type: 'merge' })
      await s.pass(50)
    }
    // 2 s with 40 changes: no more retries than 2 s of back-off hold, 5 ms · 2⁸ being the last step.
    expect(s.metric('workqueue_retries_total', 'name="crew"')).toBeLessThanOrEqual(10)
    expect(s.wire.counts()['POST pods']).toBe(2)
  })

  it('fails readiness while it waits for long, and only then', async () => {
    const s = await Scene.start()
    s.wire.delaysMs.set('pods', 15_000)
    expect(s.cluster.manager!.problems()).toEqual([])
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(12_000)
    expect(s.cluster.manager!.problems()).toEqual([expect.stringContaining('informer pods has not seen a write')])
    await s.pass(5000)
    expect(s.cluster.manager!.problems()).toEqual([])
  })

  it('starts clean for an owner that was made anew under the same name', async () => {
    const s = await Scene.start()
    s.wire.delaysMs.set('pods', 60_000)
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.settle()
    await s.client.delete(replicasets, 'default', 'web', { propagationPolicy: 'Orphan' })
    const orphaned = await s.client.get(replicasets, 'default', 'web')
    await s.client.patch(replicasets, 'default', 'web', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(10)
    const made = s.wire.writes.filter(({ request }) => request.method === 'POST' && request.path.endsWith('/pods'))
    expect(made).toHaveLength(2)
    expect((made[1]!.request.body as typeof orphaned).metadata.ownerReferences![0]!.uid).not.toBe(orphaned.metadata.uid)
  })

  it('spares an object that was made anew under the name of one it wants to delete', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    s.wire.delaysMs.set('configmaps', 5000)
    await s.client.delete(configmaps, 'default', 'web-roster')
    await s.client.create(configmaps, { metadata: { name: 'web-roster', namespace: 'default' }, data: { names: "somebody else's" } })
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 0 } }, { type: 'merge' })
    await s.pass(30_000)
    expect((await s.client.get(configmaps, 'default', 'web-roster')).data).toEqual({ names: "somebody else's" })
    expect(s.wire.counts()).toMatchObject({ 'DELETE configmaps': 1 })
    expect(s.warnings).toEqual([])
  })
})

it('an object that is deleted before the cache has seen it is waited for until the cache has lost it', async () => {
  let looks = 0
  /** Deletes a note at its first look, which it has from the server. */
  const forgetful = defineController<ReplicaSet, number, { kind: 'Forget' }>({
    name: 'forgetful',
    owner: replicasets,
    sources: { owns: [configmaps] },
    observe: () => ++looks,
    plan: (look) => ({ actions: look === 1 ? [{ kind: 'Forget' }] : [] }),
    apply: {
      Forget: async ({ writer, ask }) => {
        await writer.delete(configmaps, await ask('/api/v1/namespaces/default/configmaps/note'))
      },
    },
  })
  const s = await Scene.start({ controllers: [forgetful] })
  s.wire.delaysMs.set('configmaps', 5000)
  await s.client.create(configmaps, { metadata: { name: 'note', namespace: 'default' } })
  await s.client.create(replicasets, replicaSet('web', 0))
  // A cache that has yet to see the note does not pass for one that has lost it.
  for (let i = 0; i < 4; i++) {
    await s.pass(1000)
    await s.client.patch(replicasets, 'default', 'web', { metadata: { labels: { i: String(i) } } }, { type: 'merge' })
  }
  await s.settle()
  expect(looks).toBe(1)
  await s.pass(60_000)
  expect(looks).toBeGreaterThan(1)
})
