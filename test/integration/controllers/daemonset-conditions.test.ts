import { describe, expect, it } from 'vitest'
import { pods, resourcequotas } from '../../../src/client/index.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { DaemonSetScene, nodeOf } from './daemonset-scene.ts'

const both = async (s: DaemonSetScene) => [await s.says(), await s.says('Available')]

describe('conditions', () => {
  it('from created to complete, and Available in both states', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create()
    expect(await both(s)).toEqual(['True NewRevisionCreated', 'False MinimumReplicasUnavailable'])
    await s.report('ready', 'n1')
    expect(await both(s)).toEqual(['True ReplicasUpdated', 'False MinimumReplicasUnavailable'])
    await s.report('ready', 'n2')
    expect(await both(s)).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
    await s.report('unready', 'n2')
    expect(await both(s)).toEqual(['True NewRevisionAvailable', 'False MinimumReplicasUnavailable'])
    expect((await s.condition('Available'))!.message).toMatch(/^1 of 2 nodes has an available pod. Pod d-\w+ waits for container "main" to become ready, since 2026/)
    await s.report('ready', 'n2')
    expect(await s.says('Available')).toBe('True MinimumReplicasAvailable')
    await s.setImage('app:2')
    expect(await both(s)).toEqual(['True NewRevisionCreated', 'True MinimumReplicasAvailable'])
    await s.settle()
    expect(await both(s)).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
  })

  it('without nodes it is complete and available', async () => {
    const s = await DaemonSetScene.of(0)
    await s.create()
    expect(await both(s)).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
  })

  it('a quota that is too small is a ReplicaFailure with the words of the quota, and goes when it is raised', async () => {
    const s = await DaemonSetScene.of(3, { others: [resourceQuotaController] })
    await s.scene.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { pods: '1' } } })
    await s.pass(1000)
    await s.create()
    await s.pass(1000)
    expect(await s.says('ReplicaFailure')).toBe('True FailedCreate')
    expect((await s.condition('ReplicaFailure'))!.message).toMatch(/^pods "d-\w+" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1$/)
    await s.pass(600_000)
    await s.scene.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { pods: '5' } } }, { type: 'merge' })
    await s.pass(1000)
    await s.settle()
    expect([await s.says('ReplicaFailure'), ...(await both(s))]).toEqual(['nothing', 'True NewRevisionAvailable', 'True MinimumReplicasAvailable'])
  })

  it('a template of which no pod can be made ends the progress, and another one begins it', async () => {
    const s = await DaemonSetScene.of(1)
    const invalid = { volumes: [{ name: 'v', emptyDir: {} }], containers: [{ name: 'main', image: 'app:1', resources: {} }], priorityClassName: 'none-such' }
    await s.create({}, invalid)
    const failed = await s.says('ReplicaFailure')
    expect([failed, await s.places()]).toEqual(['True FailedCreate', ''])
    await s.change({ template: { spec: { priorityClassName: null } } })
    await s.pass(1000)
    await s.settle()
    expect([await s.says('ReplicaFailure'), await s.says()]).toEqual(['nothing', 'True NewRevisionAvailable'])
  })
})

/** Two nodes, of which the second does not get on. */
const stuck = async (spec: object = {}) => {
  const s = await DaemonSetScene.of(2)
  await s.create({ progressDeadlineSeconds: 60, ...spec })
  await s.report('ready', 'n1')
  await s.report({ waiting: 'ErrImagePull', message: 'no such image' }, 'n2')
  return s
}
const clockOf = async (s: DaemonSetScene) => Date.parse((await s.condition())!.lastUpdateTime!)
const passUntil = async (s: DaemonSetScene, ms: number) => s.pass(ms - s.scene.clock.now())

describe('the deadline', () => {
  it('is exceeded within a second, and is cleared by progress', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    await passUntil(s, since + 59_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
    await passUntil(s, since + 61_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    await s.report('ready', 'n2')
    expect(await s.says()).toBe('True NewRevisionAvailable')
  })

  it('is neither moved nor lost by a restart of the controllers', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    await passUntil(s, since + 30_000)
    await s.restart()
    await passUntil(s, since + 59_000)
    expect([await s.says(), await clockOf(s)]).toEqual(['True ReplicasUpdated', since])
    await passUntil(s, since + 61_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it('that passes while nobody looks is noticed by who looks next', async () => {
    const s = await stuck()
    await s.scene.cluster.manager!.stop()
    await s.pass(3600_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
    await s.restart()
    await s.pass(1000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it('is not moved by what is no progress', async () => {
    const s = await stuck()
    const since = await clockOf(s)
    for (const spec of [{ progressDeadlineSeconds: 90 }, { revisionHistoryLimit: 3 }]) {
      await s.pass(10_000)
      await s.change(spec)
    }
    await s.report({ waiting: 'ImagePullBackOff', message: 'again' }, 'n2')
    await s.changeNode('n1', { metadata: { labels: { colour: 'red' } } })
    expect(await clockOf(s)).toBe(since)
    await passUntil(s, since + 91_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it.each<[string, (s: DaemonSetScene, round: number) => Promise<void>]>([
    ['a new revision', (s, round) => s.setImage(`app:${round}`)],
    ['another node', (s, round) => s.addNode(`more-${round}`)],
  ])('starts anew with %s, also when it was exceeded', async (_, act) => {
    const s = await stuck()
    await s.pass(50_000)
    await act(s, 2)
    await s.pass(58_000)
    expect(await s.says()).toMatch(/^True/)
    await s.pass(3000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    await act(s, 3)
    expect(await s.says()).toMatch(/^True/)
  })

  it.each<[string, (s: DaemonSetScene) => Promise<void>]>([
    ['a node that is not to run one any more', (s) => s.changeNode('n1', { metadata: { labels: { role: null } } })],
    ['a node that comes back', async (s) => {
      await s.changeNode('n1', { metadata: { labels: { role: null } } })
      await s.pass(1000)
      await s.changeNode('n1', { metadata: { labels: { role: 'worker' } } })
    }],
  ])('does not start anew with %s', async (_, act) => {
    const s = await stuck()
    const since = await clockOf(s)
    await s.pass(30_000)
    await act(s)
    expect(await clockOf(s)).toBe(since)
    await passUntil(s, since + 61_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })

  it('of int32 max never comes', async () => {
    const s = await stuck({ progressDeadlineSeconds: 2_147_483_647 })
    await s.pass(24 * 3600_000)
    expect(await s.says()).toBe('True ReplicasUpdated')
  })

  it('does not pass while old pods wait for somebody to delete them', async () => {
    const s = await DaemonSetScene.of(2)
    await s.create({ progressDeadlineSeconds: 60, updateStrategy: { type: 'OnDelete' } })
    await s.settle()
    await s.setImage('app:2')
    await s.pass(600_000)
    expect(await s.says()).toBe('True WaitingForPodDeletion')
    await s.scene.client.delete(pods, 'default', (await s.pods())[0]!.metadata.name!)
    await s.pass(1000)
    await s.reap()
    await s.pass(62_000)
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
  })
})

describe('what is waited for', () => {
  const scheduled = (message: string) => async (s: DaemonSetScene) => {
    const pod = (await s.pods()).find((p) => nodeOf(p) === 'n2')!
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: '2026-01-01T00:00:00Z' }]
    await s.scene.client.patch(pods, 'default', pod.metadata.name!, { status: { conditions } }, { type: 'strategic', subresource: 'status' })
    await s.pass(100)
  }
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]

  it.each<[string, object, (s: DaemonSetScene) => Promise<void>, RegExp]>([
    ['a bad image', {}, (s) => s.report({ waiting: 'ErrImagePull', message: 'no such image' }, 'n2'), /Pod d-\w+ cannot pull image "app:1" for container "main": no such image, since 2026/],
    ['a readiness probe that fails', {}, (s) => s.report('unready', 'n2'), /Pod d-\w+ waits for container "main" to become ready, since 2026/],
    ['a pod that no node takes', {}, scheduled('0/2 nodes are available: 2 Insufficient cpu.'), /Pod d-\w+ cannot be scheduled: 0\/2 nodes are available: 2 Insufficient cpu, since 2026/],
    ['a claim that is missing', { volumes }, scheduled('persistentvolumeclaim "data" not found'), /Pod d-\w+ .*persistentvolumeclaim "data" not found, since 2026/],
  ])('%s is told at once, and when the time is over', async (_, podSpec, act, words) => {
    const s = await DaemonSetScene.of(2)
    await s.create({ progressDeadlineSeconds: 60 }, podSpec)
    await s.report('ready', 'n1')
    await act(s)
    expect([await s.says(), (await s.condition())!.message]).toEqual(['True ReplicasUpdated', expect.stringMatching(words)])
    await s.pass(62_000)
    expect([await s.says(), (await s.condition())!.message]).toEqual(['False ProgressDeadlineExceeded', expect.stringMatching(words)])
    expect((await s.condition())!.message).toMatch(/^No progress with revision d-\w+ for 60 seconds\. /)
  })

  it('a quota is told at once, and when the time is over', async () => {
    const s = await DaemonSetScene.of(2, { others: [resourceQuotaController] })
    await s.scene.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { pods: '1' } } })
    await s.pass(1000)
    await s.create({ progressDeadlineSeconds: 60 })
    await s.settle()
    const words = /pods "d-\w+" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1, since 2026-01-01T00:00:\d\dZ\.$/
    expect([await s.says(), (await s.condition())!.message]).toEqual(['True ReplicasUpdated', expect.stringMatching(words)])
    await s.pass(62_000)
    expect([await s.says(), (await s.condition())!.message]).toEqual(['False ProgressDeadlineExceeded', expect.stringMatching(words)])
  })
})
