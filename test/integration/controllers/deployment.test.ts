import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import type { ReplicaSet } from '../../../src/api/generated/types.ts'
import { SeededRandom } from '../../../src/cluster/testing.ts'
import { deployments, pods, replicasets } from '../../../src/client/index.ts'
import { ControllerManager } from '../../../src/controllers/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { DeploymentScene } from './deployment-scene.ts'

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } })
const desired = 'deployment.kubernetes.io/desired-replicas'

describe('a rolling update', () => {
  it('begins, moves and ends, with few writes', async () => {
    const s = await DeploymentScene.start()
    await s.create(4)
    const name = (await s.sets())[0]!.metadata.name!
    expect(s.scene.wire.counts()).toEqual({ 'POST replicasets': 1, 'POST pods': 4, 'PUT replicasets status': 1, 'PUT deployments status': 2 })
    expect(await s.deployment()).toMatchObject({
      metadata: { generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } },
      status: { observedGeneration: 1, replicas: 4, updatedReplicas: 4, unavailableReplicas: 4, terminatingReplicas: 0 },
    })
    expect(await s.condition('Available')).toBe('False MinimumReplicasUnavailable')
    await s.settle()
    expect(await s.condition('Available')).toBe('True MinimumReplicasAvailable')
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
    expect(await s.message('Progressing')).toBe(`ReplicaSet "${name}" has successfully progressed.`)

    await s.update(2)
    expect(await s.sizes()).toBe('1: 3, 2: 2')
    expect((await s.deployment()).status).toMatchObject({ observedGeneration: 2, replicas: 5, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 2, terminatingReplicas: 1 })
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.settle()
    expect(await s.sizes()).toBe('1: 0, 2: 4')
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
    const events = await s.scene.events('web')
    expect(events[0]).toBe(`Normal ScalingReplicaSet ×1: Scaled up replica set ${name} from 0 to 4`)
    expect(events.at(-2)).toBe(`Normal ScalingReplicaSet ×1: Scaled down replica set ${name} from 1 to 0`)
    expect(s.scene.warnings).toEqual([])
  })

  it('writes nothing while nothing happens', async () => {
    const s = await DeploymentScene.start()
    await s.create(3)
    await s.settle()
    const before = s.scene.wire.writes.length
    await s.scene.pass(3_600_000)
    expect(s.scene.wire.writes).toHaveLength(before)
  })

  it('goes back to the ReplicaSet of an earlier template, whose number moves on', async () => {
    const s = await DeploymentScene.start()
    await s.create(2)
    await s.settle()
    const [first] = await s.sets()
    await s.update(2)
    await s.settle()
    await s.update(1)
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.settle()
    const sets = await s.sets()
    expect(await s.sizes()).toBe('2: 0, 3: 2')
    expect(sets[1]!.metadata).toMatchObject({ name: first!.metadata.name, annotations: { 'deployment.kubernetes.io/revision-history': '1' } })
    expect((await s.deployment()).metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' })
  })

  it('rolls over: a third template in the middle of the second', async () => {
    const s = await DeploymentScene.start()
    await s.create(6, rolling(2, 1))
    await s.settle()
    await s.update(2)
    expect(await s.sizes()).toBe('1: 5, 2: 3')
    await s.update(3)
    expect(await s.sizes()).toBe('1: 5, 2: 0, 3: 3')
    await s.settle()
    expect(await s.sizes()).toBe('1: 0, 2: 0, 3: 6')
  })

  it('keeps as many old ReplicaSets as it is told', async () => {
    const s = await DeploymentScene.start()
    await s.create(1, { revisionHistoryLimit: 1 })
    for (const image of [2, 3, 4]) {
      await s.settle()
      await s.update(image)
    }
    await s.settle()
    expect(await s.sizes()).toBe('3: 0, 4: 1')
  })

  it('scales each ReplicaSet by its part of the pods', async () => {
    const s = await DeploymentScene.start()
    await s.create(10, rolling(3, 2))
    await s.settle()
    await s.update(2)
    expect(await s.sizes()).toBe('1: 8, 2: 5')
    await s.scale(20)
    expect(await s.sizes()).toBe('1: 14, 2: 9')
    expect((await s.sets()).map((set) => set.metadata.annotations![desired])).toEqual(['20', '20'])
    await s.scale(5)
    // 5 and 3 by their parts; then the rollout goes on: two of five may be missing.
    expect(await s.sizes()).toBe('1: 3, 2: 5')
    const events = (await s.scene.events('web')).join()
    for (const change of ['from 14 to 5', 'from 9 to 3', 'from 5 to 3']) expect(events).toContain(change)
    await s.settle()
    expect(await s.sizes()).toBe('1: 0, 2: 5')
  })

  it('takes on minReadySeconds and annotations without a new revision', async () => {
    const s = await DeploymentScene.start()
    await s.create(2)
    await s.settle()
    await s.patch({ metadata: { annotations: { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' } }, spec: { minReadySeconds: 5 } })
    const sets = await s.sets()
    expect(sets).toHaveLength(1)
    expect(sets[0]!.spec.minReadySeconds).toBe(5)
    expect(Object.keys(sets[0]!.metadata.annotations!).toSorted()).toEqual([desired, 'deployment.kubernetes.io/max-replicas', 'deployment.kubernetes.io/revision', 'note'])
    await s.patch({ metadata: { annotations: { note: 'y' } } })
    expect(await s.deployment()).toMatchObject({ metadata: { generation: 3 }, status: { observedGeneration: 3 } })
  })
})

describe('a Recreate', () => {
  it('has no new pod before the last old one is gone', async () => {
    const s = await DeploymentScene.start()
    await s.create(3, { strategy: { type: 'Recreate' } })
    await s.settle()
    await s.update(2)
    expect(await s.sizes()).toBe('1: 0')
    expect((await s.deployment()).status).toMatchObject({ observedGeneration: 2, terminatingReplicas: 3 })
    const [first, ...rest] = await s.pods()
    for (const { metadata } of rest) await s.client.delete(pods, 'default', metadata.name!, { gracePeriodSeconds: 0 })
    await s.scene.pass(60_000)
    expect(await s.sizes()).toBe('1: 0')
    await s.client.delete(pods, 'default', first!.metadata.name!, { gracePeriodSeconds: 0 })
    await s.scene.pass(1000)
    expect(await s.sizes()).toBe('1: 0, 2: 3')
    await s.settle()
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
  })
})

describe('a pause', () => {
  it('holds a rollout, not a scaling, and costs no time', async () => {
    const s = await DeploymentScene.start()
    await s.create(4, { progressDeadlineSeconds: 60 })
    await s.settle()
    await s.patch({ spec: { paused: true } })
    expect(await s.condition('Progressing')).toBe('Unknown DeploymentPaused')
    await s.update(2)
    expect(await s.sizes()).toBe('1: 4')
    await s.scale(6)
    expect(await s.sizes()).toBe('1: 6')
    await s.scene.pass(600_000)
    expect(await s.condition('Progressing')).toBe('Unknown DeploymentPaused')
    await s.patch({ spec: { paused: false } })
    expect(await s.sizes()).toBe('1: 5, 2: 3')
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.settle()
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
  })
})

describe('a deadline', () => {
  const secondsSince = async (s: DeploymentScene) => {
    const { lastUpdateTime } = (await s.deployment()).status.conditions!.find((c) => c.type === 'Progressing')!
    return (s.scene.clock.now() - Date.parse(lastUpdateTime!)) / 1000
  }

  it('turns Progressing to False, names the pod, and back when the rollout goes on', async () => {
    const s = await DeploymentScene.start()
    await s.create(3, { progressDeadlineSeconds: 60 })
    await s.ready(1)
    await s.scene.pass(58_000)
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.scene.pass(2500)
    expect(await s.condition('Progressing')).toBe('False ProgressDeadlineExceeded')
    expect(await secondsSince(s)).toBeGreaterThanOrEqual(60)
    const name = (await s.sets())[0]!.metadata.name!
    expect(await s.message('Progressing')).toMatch(new RegExp(`^ReplicaSet "${name}" has timed out progressing\\. Pod ${name}-[a-z0-9]+ has no node yet, since `))
    await s.ready(1)
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.settle()
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
  })

  it('is not moved by a restart of the controllers', async () => {
    const s = await DeploymentScene.start()
    await s.create(1, { progressDeadlineSeconds: 60 })
    await s.scene.pass(30_000)
    await s.scene.cluster.manager!.stop()
    const { transport } = s.scene.cluster
    const next = new ControllerManager({ transport, controllers: [deploymentController, replicaSetController], clock: s.scene.clock, random: new SeededRandom(2) })
    const started = next.start()
    await s.scene.pass(1000)
    await started
    await s.scene.pass(27_000)
    expect(await s.condition('Progressing')).toBe('True ReplicaSetUpdated')
    await s.scene.pass(3500)
    expect(await s.condition('Progressing')).toBe('False ProgressDeadlineExceeded')
    const stopped = next.stop()
    await s.scene.pass(1000)
    await stopped
  })

  it('that passed while nobody looked is noticed at once', async () => {
    const s = await DeploymentScene.start()
    await s.create(1, { progressDeadlineSeconds: 60 })
    await s.scene.cluster.manager!.stop()
    await s.scene.pass(600_000)
    const next = new ControllerManager({ transport: s.scene.cluster.transport, controllers: [deploymentController], clock: s.scene.clock, random: new SeededRandom(2) })
    const started = next.start()
    await s.scene.pass(1000)
    await started
    expect(await s.condition('Progressing')).toBe('False ProgressDeadlineExceeded')
    const stopped = next.stop()
    await s.scene.pass(1000)
    await stopped
  })
})

describe('ReplicaSets of others', () => {
  const stray = (name: string, labels: Record<string, string>, image = 'registry.example/app:1'): Omit<ReplicaSet, 'status'> => ({
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image, resources: {} }] } },
    },
  })

  it('are adopted if they match, and one of the same template is taken for the new one', async () => {
    const s = await DeploymentScene.start()
    await s.client.create(replicasets, stray('stray', { app: 'web' }))
    await s.scene.pass(1000)
    await s.create(2)
    const sets = await s.sets()
    expect(sets.map((set) => set.metadata.name)).toEqual(['stray'])
    expect(sets[0]!.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }])
    await s.client.create(replicasets, stray('later', { app: 'web', x: 'y' }, 'registry.example/app:7'))
    await s.scene.pass(1000)
    expect((await s.client.get(replicasets, 'default', 'later')).metadata.ownerReferences).toHaveLength(1)
    await s.settle()
    expect((await s.client.get(replicasets, 'default', 'later')).spec.replicas).toBe(0)
  })

  it('are let go when they no longer match, and replaced', async () => {
    const s = await DeploymentScene.start()
    await s.create(2)
    const [first] = await s.sets()
    await s.client.patch(replicasets, 'default', first!.metadata.name!, { metadata: { labels: { app: 'other' } } }, { type: 'merge' })
    await s.scene.pass(1000)
    const sets = await s.sets()
    expect(sets).toHaveLength(2)
    expect(sets.find((set) => set.metadata.uid === first!.metadata.uid)!.metadata.ownerReferences ?? []).toEqual([])
    // The name of its template is taken by the one that was let go.
    expect((await s.deployment()).status.collisionCount).toBe(1)
  })

  it('whose name is in the way make another hash', async () => {
    const s = await DeploymentScene.start()
    await s.create(2)
    const name = (await s.sets())[0]!.metadata.name!
    const t = await DeploymentScene.start()
    await t.client.create(replicasets, stray(name, { app: 'other' }))
    await t.create(2)
    await t.settle()
    expect((await t.deployment()).status).toMatchObject({ collisionCount: 1, availableReplicas: 2 })
    expect(await t.scene.events('web')).toEqual([expect.stringMatching(/^Normal ScalingReplicaSet/), expect.stringMatching(/^Normal RolloutComplete/)])
  })
})

describe('a new ReplicaSet that is refused', () => {
  it('leaves the old ones alone, and is told once', async () => {
    const s = await DeploymentScene.start()
    await s.create(4)
    await s.settle()
    let isRefused = true
    s.scene.wire.intercept = (request, send) =>
      isRefused && request.method === 'POST' && request.path.endsWith('/replicasets') ? Promise.reject(new ApiError(403, 'Forbidden', 'exceeded quota: sets')) : send()
    await s.update(2)
    expect(await s.sizes()).toBe('1: 4')
    expect(await s.condition('Progressing')).toBe('False ReplicaSetCreateError')
    expect(await s.message('Progressing')).toMatch(/^Failed to create new replica set "web-[a-z0-9]+": exceeded quota: sets$/)
    await s.scene.pass(10_000)
    expect((await s.scene.events('web')).filter((line) => line.includes('Warning'))).toEqual([expect.stringMatching(/ReplicaSetCreateError ×1: Failed to create/)])
    isRefused = false
    await s.scene.pass(60_000)
    expect(await s.sizes()).toBe('1: 3, 2: 2')
    await s.settle()
    expect(await s.condition('Progressing')).toBe('True NewReplicaSetAvailable')
  })
})

it('a Deployment that is being deleted keeps its status up and makes nothing', async () => {
  const s = await DeploymentScene.start()
  await s.create(2)
  await s.patch({ metadata: { finalizers: ['example.com/hold'] } })
  await s.client.delete(deployments, 'default', 'web')
  await s.scene.pass(1000)
  await s.update(2)
  await s.scale(5)
  await s.ready()
  expect(await s.sizes()).toBe('1: 2')
  expect((await s.deployment()).status).toMatchObject({ availableReplicas: 2, replicas: 2 })
})

describe('with watch events 5 s late', () => {
  /** A life: made, updated, scaled in the middle of it, and back to the first template. Each step has the time it needs. */
  async function life(s: DeploymentScene): Promise<Record<string, number>> {
    const settle = async () => {
      for (let round = 0; round < 8; round++) {
        await s.ready()
        await s.reap()
        await s.scene.pass(20_000)
      }
    }
    await s.create(4, rolling(1, 1))
    await settle()
    await s.update(2)
    await s.scene.pass(20_000)
    await s.scale(6)
    await s.scene.pass(20_000)
    await settle()
    await s.update(1)
    await s.scene.pass(20_000)
    await settle()
    expect(await s.sizes()).toBe('2: 0, 3: 6')
    return Object.fromEntries(Object.entries(s.scene.wire.counts()).filter(([line]) => /^(POST|DELETE)/.test(line)))
  }

  let onTime: Record<string, number> | undefined

  it.each(['pods', 'replicasets', 'deployments'])('makes exactly the same ReplicaSets and pods: %s late', async (plural) => {
    onTime ??= await life(await DeploymentScene.start())
    const late = await DeploymentScene.start()
    late.scene.wire.delaysMs.set(plural, 5000)
    expect(await life(late)).toEqual(onTime)
    expect(onTime).toMatchObject({ 'POST replicasets': 2 })
  })

  it('tries to make them again with the gate off', async () => {
    const s = await DeploymentScene.start({ StaleControllerConsistencyDeployment: false })
    s.scene.wire.delaysMs.set('replicasets', 5000)
    await s.create(4)
    await s.scene.pass(30_000)
    expect(s.scene.wire.counts()['POST replicasets']).toBeGreaterThan(1)
    expect(s.scene.metric('deployment_stale_sync_skips_total')).toBe(0)
  })
})
