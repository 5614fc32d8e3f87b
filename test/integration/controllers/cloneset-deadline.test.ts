import { describe, expect, it } from 'vitest'
import { clonesets } from '../../../src/client/index.ts'
import { CloneSetScene } from './cloneset-scene.ts'

const deadline = { progressDeadlineSeconds: 60 }
const exceeded = 'False ProgressDeadlineExceeded'
/** Its clock runs, and has not run out. */
const moving = expect.stringMatching(/^True (NewRevisionCreated|ReplicasUpdated)$/) as string
const hour = 3_600_000

/** One whose new image does not start: two pods of it are made, and nothing moves any more. */
async function stuck(update: object = {}, spec: object = {}): Promise<CloneSetScene> {
  const s = await CloneSetScene.running(5, { ...deadline, updateStrategy: { maxUnavailable: 2, ...update }, ...spec })
  await s.setImage('app:2')
  await s.reap()
  await s.report({ waiting: 'ErrImagePull' }, 'app:2')
  return s
}

const patch = (s: CloneSetScene, spec: object) => () => s.scene.client.patch(clonesets, 'default', 'web', { spec }, { type: 'merge' })

describe('what the reference gets wrong', () => {
  it('1: a rollout that begins long after the last one ended has its whole time', async () => {
    const s = await CloneSetScene.running(5, deadline)
    expect(await s.says()).toBe('True NewRevisionAvailable')
    await s.pass(hour)
    await s.setImage('app:2')
    await s.reap()
    await s.report({ waiting: 'ErrImagePull' }, 'app:2')
    expect(await s.says()).toEqual(moving)
    await s.pass(58_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(2000)
    expect(await s.says()).toBe(exceeded)
  })

  it('2: progress moves the clock, so that many pods may take longer than the deadline together', async () => {
    const s = await CloneSetScene.running(5, deadline)
    await s.setImage('app:2')
    for (let i = 0; i < 5; i++) {
      await s.pass(50_000)
      expect(await s.says()).toEqual(moving)
      await s.reap()
      await s.report('ready', 'app:2')
    }
    await s.settle()
    expect([await s.says(), await s.images()]).toEqual(['True NewRevisionAvailable', 'app:2×5'])
  })

  it('3a: what was too slow and moves again is not too slow any more', async () => {
    const s = await stuck()
    await s.pass(hour)
    expect(await s.says()).toBe(exceeded)
    await s.report('ready', 'app:2', 1)
    expect(await s.says()).toEqual(moving)
    await s.pass(58_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(hour)
    expect(await s.says()).toBe(exceeded)
    await s.settle()
    expect(await s.says()).toBe('True NewRevisionAvailable')
  })

  it('3b: what was too slow is not so for another revision', async () => {
    const s = await stuck()
    await s.pass(hour)
    expect(await s.says()).toBe(exceeded)
    await s.setImage('app:3')
    expect(await s.says()).toEqual(moving)
    await s.pass(50_000)
    expect(await s.says()).toEqual(moving)
    await s.settle()
    expect([await s.says(), await s.images()]).toEqual(['True NewRevisionAvailable', 'app:3×5'])
  })
})

describe('the deadline', () => {
  it('passes within a second, and names the pod and the cause', async () => {
    const s = await stuck()
    const { lastUpdateTime } = (await s.condition('Progressing'))!
    await s.pass(Date.parse(lastUpdateTime!) + 59_900 - s.scene.clock.now())
    expect(await s.says()).toEqual(moving)
    await s.pass(1000)
    expect(await s.says()).toBe(exceeded)
    expect((await s.condition('Progressing'))!.message).toMatch(/^No progress with revision web-\w+ for 60 seconds\. Pod web-\w+ cannot pull image "app:2" for container "main", since 2026-01-01T00:00:\d\dZ\.$/)
  })

  it('of int32 max never comes', async () => {
    const s = await stuck({}, { progressDeadlineSeconds: 2_147_483_647 })
    await s.pass(24 * hour)
    expect(await s.says()).toEqual(moving)
  })

  it('counts with a surge, too', async () => {
    const s = await stuck({ maxUnavailable: 0, maxSurge: 2 })
    expect(await s.images()).toBe('app:1×5 app:2×2!')
    await s.pass(61_000)
    expect(await s.says()).toBe(exceeded)
    await s.report('ready', 'app:2', 1)
    expect([await s.says(), await s.images()]).toEqual([moving, 'app:1×1- app:1×4 app:2×1 app:2×2!'])
    await s.settle()
    expect([await s.says(), await s.images()]).toEqual(['True NewRevisionAvailable', 'app:2×5'])
  })

  it('neither ends nor begins anew with the controllers', async () => {
    const s = await stuck()
    await s.pass(30_000)
    await s.restart()
    await s.pass(10_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(15_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('passes while nobody is there, and is told at once', async () => {
    const s = await stuck()
    await s.restart({}, () => s.pass(hour))
    expect(await s.says()).toBe(exceeded)
  })
})

describe('time for which it is paused does not count', () => {
  it('and the whole time begins when it goes on', async () => {
    const s = await stuck()
    await s.pass(50_000)
    await s.update({ paused: true })
    expect(await s.says()).toBe('Unknown RolloutPaused')
    await s.pass(hour)
    expect(await s.says()).toBe('Unknown RolloutPaused')
    await s.update({ paused: false })
    expect(await s.says()).toBe('Unknown RolloutResumed')
    await s.pass(58_000)
    expect(await s.says()).toBe('Unknown RolloutResumed')
    await s.pass(2000)
    expect(await s.says()).toBe(exceeded)
  })

  it('across a restart of the controllers', async () => {
    const s = await stuck()
    await s.update({ paused: true })
    await s.pass(hour)
    await s.restart()
    await s.pass(hour)
    expect(await s.says()).toBe('Unknown RolloutPaused')
    await s.update({ paused: false })
    await s.pass(50_000)
    expect(await s.says()).toBe('Unknown RolloutResumed')
  })

  it('if it goes on while there are no controllers', async () => {
    const s = await stuck()
    await s.update({ paused: true })
    await s.pass(hour)
    await s.restart({}, patch(s, { updateStrategy: { paused: false } }))
    expect(await s.says()).toBe('Unknown RolloutResumed')
    await s.pass(61_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('if it begins and ends while there are no controllers', async () => {
    const s = await stuck()
    await s.restart({}, async () => {
      await patch(s, { updateStrategy: { paused: true } })()
      await s.pass(hour)
      await patch(s, { updateStrategy: { paused: false } })()
    })
    await s.pass(50_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(12_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('nor after it was too slow: it begins anew', async () => {
    const s = await stuck()
    await s.pass(61_000)
    expect(await s.says()).toBe(exceeded)
    await s.update({ paused: true })
    await s.update({ paused: false })
    expect(await s.says()).toBe('Unknown RolloutResumed')
    await s.pass(61_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('and no pod is updated in it', async () => {
    const s = await CloneSetScene.running(5, deadline)
    await s.update({ paused: true })
    await s.setImage('app:2')
    await s.pass(hour)
    expect([await s.images(), await s.says()]).toEqual(['app:1×5', 'Unknown RolloutPaused'])
    await s.update({ paused: false })
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:2×5', 'True NewRevisionAvailable'])
  })
})

describe('time for which a partition holds it does not count', () => {
  const held = async () => {
    const s = await CloneSetScene.running(5, { ...deadline, updateStrategy: { partition: '60%' } })
    await s.setImage('app:2')
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:1×3 app:2×2', 'True PartitionReached'])
    return s
  }

  it('however long it holds, also across a restart', async () => {
    const s = await held()
    await s.pass(hour)
    await s.restart()
    await s.pass(hour)
    expect(await s.says()).toBe('True PartitionReached')
    await s.update({ partition: '20%' })
    expect(await s.says()).toEqual(moving)
    await s.pass(50_000)
    expect(await s.says()).toEqual(moving)
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:1×1 app:2×4', 'True PartitionReached'])
    await s.update({ partition: 0 })
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:2×5', 'True NewRevisionAvailable'])
  })

  it('and the time begins when it lets go while there are no controllers', async () => {
    const s = await held()
    await s.pass(hour)
    await s.restart({}, patch(s, { updateStrategy: { partition: 0 } }))
    await s.reap()
    await s.report({ waiting: 'ErrImagePull' }, 'app:2')
    await s.pass(50_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(12_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('a pod that comes to harm meanwhile is for Available to tell', async () => {
    const s = await held()
    await s.reportThat('unready', (pod) => pod.spec.containers[0]!.image === 'app:2')
    await s.pass(hour)
    expect([await s.says(), await s.says('Available')]).toEqual(['True PartitionReached', 'False MinimumReplicasUnavailable'])
  })
})

describe('a change in the middle of a rollout begins the time anew', () => {
  it.each<[string, object]>([
    ['another partition', { updateStrategy: { partition: 1 } }],
    ['more replicas', { replicas: 6 }],
    ['fewer replicas', { replicas: 4 }],
  ])('%s', async (_, change) => {
    const s = await stuck()
    await s.pass(55_000)
    await s.change(change)
    await s.reap()
    await s.report({ waiting: 'ErrImagePull' }, 'app:2')
    await s.pass(55_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(10_000)
    expect(await s.says()).toBe(exceeded)
  })

  it.each<[string, object]>([
    ['more that may be unavailable, if nothing comes of it', { updateStrategy: { maxUnavailable: '40%' } }],
    ['a longer history', { revisionHistoryLimit: 20 }],
  ])('but not %s', async (_, change) => {
    const s = await stuck()
    await s.pass(55_000)
    await s.change(change)
    await s.pass(6000)
    expect(await s.says()).toBe(exceeded)
  })

  it('a longer deadline is in force at once', async () => {
    const s = await stuck()
    await s.pass(50_000)
    await s.change({ progressDeadlineSeconds: 120 })
    await s.pass(60_000)
    expect(await s.says()).toEqual(moving)
    await s.pass(10_000)
    expect(await s.says()).toBe(exceeded)
  })

  it('back to the revision that works', async () => {
    const s = await stuck()
    await s.pass(61_000)
    await s.setImage('app:1')
    expect(await s.says()).toEqual(moving)
    await s.settle()
    expect([await s.images(), await s.says()]).toEqual(['app:1×5', 'True NewRevisionAvailable'])
  })
})
