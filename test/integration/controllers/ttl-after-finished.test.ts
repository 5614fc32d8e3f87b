import { describe, expect, it } from 'vitest'
import { jobs } from '../../../src/client/index.ts'
import { ttlAfterFinishedController } from '../../../src/controllers/ttl-after-finished/controller.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [ttlAfterFinishedController] })

const make = (s: Scene, name: string, ttlSecondsAfterFinished?: number) =>
  s.client.create(jobs, {
    metadata: { name, namespace: 'default' },
    spec: {
      ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] } },
    },
  })

function finish(s: Scene, name: string) {
  const at = `${new Date(s.clock.now()).toISOString().slice(0, 19)}Z`
  const conditions = ['FailureTarget', 'Failed'].map((type) => ({ type, status: 'True', lastTransitionTime: at, lastProbeTime: at, reason: 'x', message: '' }))
  return s.client.patch(jobs, 'default', name, { status: { startTime: at, conditions } }, { type: 'merge', subresource: 'status' })
}

const going = async (s: Scene) => (await s.client.list(jobs, 'default')).items.filter((j) => j.metadata.deletionTimestamp).map((j) => j.metadata.name)

describe('a finished job', () => {
  it('goes when its time is over, with its pods first', async () => {
    const s = await start()
    await make(s, 'short', 30)
    await make(s, 'long', 3600)
    await make(s, 'for-ever')
    for (const name of ['short', 'long', 'for-ever']) await finish(s, name)
    await s.pass(29_000)
    expect(await going(s)).toEqual([])
    await s.pass(2000)
    expect(await going(s)).toEqual(['short'])
    expect((await s.client.get(jobs, 'default', 'short')).metadata.finalizers).toContain('foregroundDeletion')
    await s.pass(3600_000)
    expect(await going(s)).toEqual(['long', 'short'])
    expect(s.wire.counts()).toEqual({ 'DELETE jobs': 2 })
  })

  it('stays for as long as it runs', async () => {
    const s = await start()
    await make(s, 'job', 1)
    await s.pass(3600_000)
    expect(s.wire.writes).toEqual([])
  })

  it('stays if its time was prolonged at the last moment', async () => {
    const s = await start()
    await make(s, 'job', 30)
    await finish(s, 'job')
    await s.pass(5000)
    s.wire.delaysMs.set('jobs', 60_000)
    await s.client.patch(jobs, 'default', 'job', { spec: { ttlSecondsAfterFinished: 300 } }, { type: 'merge' })
    await s.pass(200_000)
    expect(await going(s)).toEqual([])
    await s.pass(110_000)
    expect(await going(s)).toEqual(['job'])
  })
})
