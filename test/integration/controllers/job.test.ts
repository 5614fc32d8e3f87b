import { describe, expect, it, onTestFinished } from 'vitest'
import { forbiddenError } from '../../../src/api/errors.ts'
import type { GateName } from '../../../src/api/feature-gates.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import { TransportError, jobs, pods } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { ControllerManager } from '../../../src/controllers/index.ts'
import { jobController } from '../../../src/controllers/job/controller.ts'
import { orphanPodController } from '../../../src/controllers/job/orphan-pods.ts'
import { RecordedTransport } from '../kit/recorded-transport.ts'
import { JobScene, podSpec } from './job-scene.ts'
import { Kubelet } from './kubelet.ts'

const finalizer = 'batch.kubernetes.io/job-tracking'
const isHeld = (pod: Pod) => pod.metadata.finalizers?.includes(finalizer) ?? false
const ends = ['SuccessCriteriaMet', 'Complete', 'FailureTarget', 'Failed']

describe('a Job', () => {
  it('runs its pod to the end, in few writes', async () => {
    const s = await JobScene.start()
    await s.create()
    const [pod] = await s.pods()
    expect(pod!.metadata).toMatchObject({
      generateName: 'j-',
      finalizers: [finalizer],
      labels: { 'job-name': 'j', 'batch.kubernetes.io/job-name': 'j', 'controller-uid': expect.any(String) as string, 'batch.kubernetes.io/controller-uid': expect.any(String) as string },
    })
    expect(s.scene.wire.counts()).toEqual({ 'POST pods': 1, 'PUT jobs status': 1 })
    expect(await s.status()).toMatchObject({ active: 1, ready: 0, terminating: 0, startTime: expect.any(String) as string })
    await s.report('ready')
    expect(await s.status()).toMatchObject({ active: 1, ready: 1 })
    await s.report('succeeded')
    // The first names the pod, the second counts it.
    expect(s.scene.wire.counts()).toEqual({ 'POST pods': 1, 'PATCH pods': 1, 'PUT jobs status': 4 })
    expect(await s.status()).toMatchObject({ succeeded: 1, ready: 0, completionTime: expect.any(String) as string })
    expect(await s.truths(...ends)).toEqual(['SuccessCriteriaMet', 'Complete'])
    expect((await s.pods()).some(isHeld)).toBe(false)
    expect(await s.scene.events('j')).toEqual([`Normal SuccessfulCreate ×1: Created pod: ${pod!.metadata.name}`, 'Normal Completed ×1: Job completed'])
    const { length } = s.scene.wire.writes
    await s.scene.pass(3_600_000)
    expect(s.scene.wire.writes).toHaveLength(length)
    expect(s.scene.warnings).toEqual([])
  })

  it('is waiting, running, and neither when it is over', async () => {
    const s = await JobScene.start()
    const phases = () => s.truths('Waiting', 'Running')
    await s.create({ suspend: true })
    expect(await phases()).toEqual(['Waiting'])
    await s.change({ suspend: false })
    expect(await phases()).toEqual(['Waiting'])
    await s.report({ waiting: 'ImagePullBackOff', message: 'no such image' })
    expect((await s.condition('Waiting'))!.message).toMatch(/^No pod is running yet. Pod j-\S+ cannot pull image "registry.example\/app:1" for container "main": no such image/)
    await s.report('unready')
    expect(await phases()).toEqual(['Running'])
    expect(await s.condition('Waiting')).toMatchObject({ status: 'False', reason: 'PodsRunning' })
    await s.report('failed')
    expect(await phases()).toEqual([])
    expect(await s.condition('Waiting')).toMatchObject({ status: 'False', reason: 'BackOff' })
    await s.scene.pass(10_000)
    expect(await phases()).toEqual(['Waiting'])
    await s.report('succeeded')
    expect(await phases()).toEqual([])
    expect(await s.condition('Running')).toMatchObject({ status: 'False', reason: 'JobFinished' })
  })

  it('backs off 10 s, 20 s, 40 s, and fails at its limit', async () => {
    const s = await JobScene.start()
    await s.create({ backoffLimit: 2 })
    for (const seconds of [10, 20]) {
      await s.kubelet.report('failed', (await s.pods()).filter((p) => p.status.phase === 'Pending'))
      const before = (await s.pods()).length
      await s.scene.pass(seconds * 1000 - 1000)
      expect(await s.pods()).toHaveLength(before)
      await s.scene.pass(1001)
      expect(await s.pods()).toHaveLength(before + 1)
    }
    await s.report('failed')
    expect(await s.truths(...ends)).toEqual(['FailureTarget', 'Failed'])
    expect(await s.status()).toMatchObject({ failed: 3 })
    expect(await s.scene.events('j')).toContain('Warning BackoffLimitExceeded ×1: Job has reached the specified backoff limit')
  })

  it('replaces pods that somebody deletes, with the same back-off though they are gone', async () => {
    const s = await JobScene.start()
    await s.create()
    await s.report('ready')
    const [pod] = await s.pods()
    await s.client.delete(pods, 'default', pod!.metadata.name!)
    await s.scene.pass(1000)
    await s.kubelet.reap(await s.pods())
    await s.scene.pass(1000)
    expect([await s.pods(), (await s.status()).failed]).toEqual([[], 1])
    await s.scene.pass(8001)
    expect(await s.pods()).toHaveLength(1)
  })

  it('is suspended and resumed, with a new start', async () => {
    const s = await JobScene.start()
    await s.create({ completions: 2, parallelism: 2, activeDeadlineSeconds: 100 })
    await s.report('ready')
    await s.change({ suspend: true })
    expect(await s.status()).toMatchObject({ terminating: 2, ready: 0 })
    expect((await s.status()).startTime).toBeUndefined()
    expect((await s.pods()).some(isHeld)).toBe(false)
    await s.kubelet.reap(await s.pods())
    await s.scene.pass(200_000)
    expect(await s.truths('Suspended', ...ends)).toEqual(['Suspended'])
    await s.change({ suspend: false })
    expect(await s.pods()).toHaveLength(2)
    expect(await s.condition('Suspended')).toMatchObject({ status: 'False', reason: 'JobResumed' })
    await s.report('succeeded')
    expect(await s.status()).toMatchObject({ succeeded: 2 })
    expect((await s.status()).failed).toBeUndefined()
    expect(await s.scene.events('j')).toEqual(expect.arrayContaining(['Normal Suspended ×1: Job suspended', 'Normal Resumed ×1: Job resumed']))
  })

  it('fails at its deadline, to the second, when its pods are gone', async () => {
    const s = await JobScene.start()
    await s.create({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 })
    await s.report('ready')
    await s.scene.pass(27_000)
    expect(await s.truths(...ends)).toEqual([])
    await s.scene.pass(1100)
    expect(await s.truths(...ends)).toEqual(['FailureTarget'])
    expect(await s.status()).toMatchObject({ failed: 2, terminating: 2 })
    await s.kubelet.reap(await s.pods())
    await s.scene.pass(1000)
    expect(await s.truths(...ends)).toEqual(['FailureTarget', 'Failed'])
    expect(await s.condition('Failed')).toMatchObject({ reason: 'DeadlineExceeded' })
  })

  it('knows how often each index has failed', async () => {
    const s = await JobScene.start()
    await s.create({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 })
    const ofIndex = async (index: string) => (await s.pods()).filter((p) => p.metadata.annotations!['batch.kubernetes.io/job-completion-index'] === index)
    const active = async (index: string) => (await ofIndex(index)).filter((p) => p.status.phase === 'Pending')
    expect((await ofIndex('1'))[0]!.metadata.name).toMatch(/^j-1-[a-z0-9]{5}$/)
    await s.report('failed', await active('1'))
    await s.scene.pass(10_000)
    const [second] = await active('1')
    expect(second!.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' })
    await s.report('failed', [second!])
    expect(await s.status()).toMatchObject({ failed: 2, failedIndexes: '1', active: 1 })
    await s.report('succeeded', await active('0'))
    expect(await s.status()).toMatchObject({ succeeded: 1, completedIndexes: '0' })
    expect(await s.condition('Failed')).toMatchObject({ reason: 'FailedIndexes' })
  })

  it('says why it cannot have pods, and recovers by itself', async () => {
    const s = await JobScene.start()
    s.scene.wire.intercept = (request, send) =>
      request.method === 'POST' && request.path.endsWith('/pods') ? Promise.reject(forbiddenError({ group: '', resource: 'pods' }, 'j', 'exceeded quota: pods')) : send()
    await s.create({ completions: 8, parallelism: 8 })
    expect(await s.condition('Waiting')).toMatchObject({ status: 'False', reason: 'FailedCreate', message: expect.stringContaining('exceeded quota: pods') as string })
    expect(await s.scene.events('j')).toEqual([expect.stringMatching(/^Warning FailedCreate ×1: Error creating: .*exceeded quota: pods/)])
    s.scene.wire.intercept = undefined
    await s.scene.pass(10_000)
    expect(await s.pods()).toHaveLength(8)
    expect(await s.condition('Waiting')).toMatchObject({ status: 'True', reason: 'PodsPending' })
  })

  it('is left alone where another controller manages it', async () => {
    const s = await JobScene.start()
    await s.create({ managedBy: 'example.com/controller' })
    expect([await s.pods(), s.scene.wire.writes]).toEqual([[], []])
  })

  it('adopts pods that it selects, and releases those that it does not', async () => {
    const s = await JobScene.start()
    const labels = { app: 'mine' }
    const lone = async (name: string) => s.client.create(pods, { metadata: { name, namespace: 'default', labels }, spec: podSpec })
    await lone('first')
    await s.create({ manualSelector: true, selector: { matchLabels: labels }, completions: 2, template: { metadata: { labels }, spec: podSpec } } as never)
    expect((await s.pods()).map((p) => [p.metadata.name, isHeld(p)])).toEqual([['first', true]])
    await s.client.patch(pods, 'default', 'first', { metadata: { labels: { app: 'theirs' } } }, { type: 'merge' })
    await s.scene.pass(1000)
    const released = await s.client.get(pods, 'default', 'first')
    expect([released.metadata.ownerReferences, released.metadata.finalizers]).toEqual([undefined, undefined])
    const [second] = await s.pods()
    await lone('third')
    await s.scene.pass(1000)
    // One of the two is too many.
    expect((await s.pods()).filter((p) => !p.metadata.deletionTimestamp)).toHaveLength(1)
    expect(second!.metadata.name).toMatch(/^j-/)
  })

  it.each(['Background', 'Orphan'] as const)('leaves no pod behind that cannot be deleted: %s', async (propagationPolicy) => {
    const s = await JobScene.start()
    await s.create({ completions: 3, parallelism: 3 })
    const [first] = await s.pods()
    await s.report('failed', [first!])
    await s.client.delete(jobs, 'default', 'j', { propagationPolicy })
    await s.scene.pass(1000)
    expect((await s.client.list(pods, 'default')).items.map(isHeld)).toEqual([false, false, false])
  })

  it('counts on when its pods were dropped half', async () => {
    const s = await JobScene.start()
    await s.create({ completions: 2, parallelism: 2 })
    const [pod] = await s.pods()
    await s.client.patch(pods, 'default', pod!.metadata.name!, { metadata: { finalizers: null } }, { type: 'merge' })
    await s.scene.pass(1000)
    await s.report('succeeded')
    expect(await s.status()).toMatchObject({ succeeded: 2 })
  })
})

/** A life: three pods of which one fails, its replacement, an end, and what was written in all. */
async function life(s: JobScene): Promise<Record<string, number>> {
  await s.create({ completions: 3, parallelism: 3 })
  await s.scene.pass(60_000)
  await s.report('ready')
  await s.scene.pass(60_000)
  const [first, ...others] = await s.pods()
  await s.report('failed', [first!])
  await s.scene.pass(60_000)
  await s.report('succeeded', others)
  await s.scene.pass(60_000)
  await s.report('succeeded')
  await s.scene.pass(60_000)
  expect(await s.status()).toMatchObject({ succeeded: 3, failed: 1 })
  expect(await s.truths(...ends)).toEqual(['SuccessCriteriaMet', 'Complete'])
  const { 'PUT jobs status': statusWrites = 0, ...counts } = s.scene.wire.counts()
  expect(statusWrites).toBeLessThanOrEqual(12)
  return counts
}

describe('a Job whose watch events come 5 s late', () => {
  it.each(['pods', 'jobs'])('makes exactly the writes it would make without delay: %s late', async (plural) => {
    const onTime = await life(await JobScene.start())
    const late = await JobScene.start()
    late.scene.wire.delaysMs.set(plural, 5000)
    expect(await life(late)).toEqual(onTime)
    expect(onTime).toEqual({ 'POST pods': 4, 'PATCH pods': 4 })
    expect(late.scene.metric('job_stale_sync_skips_total')).toBeGreaterThan(0)
  })

  it.each<GateName>(['StaleControllerConsistency', 'StaleControllerConsistencyJob'])('repeats them with %s off', async (gate) => {
    const s = await JobScene.start({ [gate]: false })
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.create({ completions: 3, parallelism: 3 })
    await s.scene.pass(60_000)
    expect(s.scene.wire.counts()['POST pods']).toBeGreaterThan(3)
    expect(s.scene.metric('job_stale_sync_skips_total')).toBe(0)
  })
})

describe('a controller that dies after any of its writes', () => {
  /** A cluster in which each process that controls Jobs can be killed after a number of writes. */
  async function cluster() {
    const clock = new VirtualClock()
    const { client, server, stop } = await startCluster({ clock, random: new SeededRandom(1) })
    const managers: ControllerManager[] = []
    onTestFinished(async () => {
      const stopped = Promise.all(managers.map((m) => m.stop()))
      await passTime(clock, 10_000)
      await stopped
      await stop()
    })
    const control = async (writes: number) => {
      const wire = new RecordedTransport(new InProcessTransport(server, { name: 'controller', groups: ['system:masters'] }), clock)
      let left = writes
      wire.intercept = async (request, send) => {
        if (request.path.endsWith('/events') || left-- > 0) return send()
        wire.isUnreachable = true
        throw new TransportError('killed', true)
      }
      const manager = new ControllerManager({ transport: wire, controllers: [jobController, orphanPodController], clock, random: new SeededRandom(managers.length) })
      managers.push(manager)
      await manager.start()
      return wire
    }
    return { client, clock, control, kubelet: new Kubelet(client, clock) }
  }

  it.each(Array.from({ length: 16 }, (_, i) => i))('counts every pod once: after %i', async (writes) => {
    const { client, clock, control, kubelet } = await cluster()
    const wire = await control(writes)
    await client.create(jobs, { metadata: { name: 'j', namespace: 'default' }, spec: { completions: 3, parallelism: 2, template: { spec: podSpec } } })
    const isOver = async () => (await client.get(jobs, 'default', 'j')).status.conditions?.some((c) => c.type === 'Complete' && c.status === 'True') ?? false
    let [hasFailed, isReplaced] = [false, false]
    for (let round = 0; round < 20 && !(await isOver()); round++) {
      await passTime(clock, 15_000)
      if (wire.isUnreachable && !isReplaced) {
        isReplaced = true
        await control(Number.POSITIVE_INFINITY)
        await passTime(clock, 15_000)
      }
      for (const pod of (await client.list(pods, 'default')).items.filter((p) => p.status.phase === 'Pending')) {
        await kubelet.report(hasFailed ? 'succeeded' : 'failed', [pod])
        hasFailed = true
      }
    }
    const { status } = await client.get(jobs, 'default', 'j')
    const ended = (await client.list(pods, 'default')).items
    expect(await isOver()).toBe(true)
    expect({ succeeded: status.succeeded, failed: status.failed, pods: ended.length }).toEqual({ succeeded: 3, failed: 1, pods: 4 })
    expect(ended.some(isHeld)).toBe(false)
  })
})
