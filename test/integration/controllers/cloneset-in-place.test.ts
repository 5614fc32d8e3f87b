import { afterEach, describe, expect, it } from 'vitest'
import type { CloneSet, CloneSetCondition, CloneSetSpec, Pod } from '../../../src/api/generated/types.ts'
import { type Draft, clonesets, pods } from '../../../src/client/index.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/controller.ts'
import { NodeScene } from '../node/scene.ts'

const containers = [{ name: 'app', image: 'app:1' }, { name: 'side', image: 'side:1' }]
const stateLabel = 'lifecycle.apps.kruise.io/state'

/** A set on one simulated node. There is no scheduler: pods are bound as soon as they are seen. */
class InPlaceScene {
  readonly scene: NodeScene

  private constructor(scene: NodeScene) {
    this.scene = scene
  }

  static async of(replicas: number, spec: Partial<Draft<CloneSetSpec>> = {}, annotations: Record<string, string> = {}, labels: Record<string, string> = {}): Promise<InPlaceScene> {
    const s = new InPlaceScene(await NodeScene.start({ controllers: [cloneSetController] }))
    const template = { metadata: { labels: { app: 'web', ...labels }, annotations }, spec: { containers } }
    await s.scene.client.create(clonesets, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas, selector: { matchLabels: { app: 'web' } }, template, updateStrategy: { type: 'InPlaceIfPossible', maxUnavailable: 1 }, ...spec },
    })
    await s.settle()
    return s
  }

  async settle(ms = 2000): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await this.scene.pass(500)
      for (const { metadata, spec } of await this.pods()) if (!spec.nodeName) await this.scene.bind(metadata.name!)
    }
  }

  async pods(): Promise<Pod[]> {
    return (await this.scene.client.list(pods, 'default')).items.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  }

  set(): Promise<CloneSet> {
    return this.scene.client.get(clonesets, 'default', 'web')
  }

  patch(spec: object): Promise<CloneSet> {
    return this.scene.client.patch(clonesets, 'default', 'web', { spec }, { type: 'merge' })
  }

  setImage(image: string): Promise<CloneSet> {
    return this.patch({ template: { spec: { containers: [{ ...containers[0], image }, containers[1]] } } })
  }

  patchPod(name: string, metadata: object): Promise<Pod> {
    return this.scene.client.patch(pods, 'default', name, { metadata }, { type: 'merge' })
  }

  async states(): Promise<string[]> {
    return (await this.pods()).map(({ metadata }) => metadata.labels?.[stateLabel] ?? '')
  }

  /** The condition Progressing of the set. */
  async progress(): Promise<CloneSetCondition | undefined> {
    return (await this.set()).status.conditions?.find((c) => c.type === 'Progressing')
  }

  condition(name: string, type: string): Promise<string | undefined> {
    return this.scene.condition(name, type).then((c) => c?.status)
  }
}

let s: InPlaceScene
afterEach(() => s?.scene.stop())

const idsOf = (all: readonly Pod[]) => all.map(({ metadata, spec, status }) => `${metadata.uid} ${spec.nodeName} ${status?.podIP}`)
const statusOf = ({ status }: Pod, name: string) => status?.containerStatuses?.find((c) => c.name === name)

describe('an update in place', () => {
  it('keeps pods, nodes and addresses, and restarts only what has changed', async () => {
    s = await InPlaceScene.of(3)
    const before = await s.pods()
    expect(before.map((pod) => pod.spec.readinessGates)).toEqual(before.map(() => [{ conditionType: 'InPlaceUpdateReady' }]))
    expect((await s.set()).status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 })
    await s.setImage('app:2')
    await s.settle()
    const after = await s.pods()
    expect(idsOf(after)).toEqual(idsOf(before))
    expect(after.map((pod) => statusOf(pod, 'app'))).toMatchObject(after.map(() => ({ image: 'app:2', restartCount: 1, ready: true })))
    expect(after.map((pod) => statusOf(pod, 'side'))).toEqual(before.map((pod) => statusOf(pod, 'side')))
    const { status } = await s.set()
    expect(status).toMatchObject({ replicas: 3, updatedReplicas: 3, updatedReadyReplicas: 3, availableReplicas: 3 })
    expect(status.currentRevision).toBe(status.updateRevision)
    expect(after.map(({ metadata }) => metadata.labels?.['controller-revision-hash'])).toEqual(after.map(() => status.updateRevision))
    expect(await s.states()).toEqual(['Normal', 'Normal', 'Normal'])
  })

  it('takes one pod out of service at a time, and no more', async () => {
    s = await InPlaceScene.of(4, {}, { 'coxswain.dev/simulate-stop-after.app': '3s' })
    await s.setImage('app:2')
    const outOfService: number[] = []
    for (let i = 0; i < 40; i++) {
      await s.scene.pass(500)
      const conditions = await Promise.all((await s.pods()).map(({ metadata }) => s.condition(metadata.name!, 'Ready')))
      outOfService.push(conditions.filter((status) => status !== 'True').length)
    }
    expect(Math.max(...outOfService)).toBe(1)
    expect(outOfService.at(-1)).toBe(0)
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 4, updatedAvailableReplicas: 4 })
  })

  it('waits for the grace period between leaving service and the restart', async () => {
    s = await InPlaceScene.of(1, { updateStrategy: { type: 'InPlaceOnly', maxUnavailable: 1, inPlaceUpdateStrategy: { gracePeriodSeconds: 10 } } })
    await s.setImage('app:2')
    await s.scene.pass(9000)
    const [waiting] = await s.pods()
    const { name } = waiting!.metadata
    expect(waiting!.spec.containers[0]!.image).toBe('app:1')
    expect(waiting!.metadata.labels?.[stateLabel]).toBe('Normal')
    expect(await s.condition(name!, 'Ready')).toBe('False')
    expect(statusOf(waiting!, 'app')).toMatchObject({ ready: true, restartCount: 0 })
    await s.scene.pass(2000)
    const [done] = await s.pods()
    expect(statusOf(done!, 'app')).toMatchObject({ image: 'app:2', restartCount: 1 })
    expect(await s.condition(name!, 'Ready')).toBe('True')
    expect(done!.metadata.annotations).not.toHaveProperty('apps.kruise.io/inplace-update-grace')
  })

  it('of labels restarts nothing, and leaves pods in service', async () => {
    s = await InPlaceScene.of(2)
    const before = await s.pods()
    await s.patch({ template: { metadata: { labels: { app: 'web', tier: 'front' } } } })
    await s.settle()
    const after = await s.pods()
    expect(after.map(({ metadata }) => metadata.labels?.['tier'])).toEqual(['front', 'front'])
    expect(after.map(({ status }) => status?.containerStatuses)).toEqual(before.map(({ status }) => status?.containerStatuses))
    expect(after.map(({ status }) => status?.conditions)).toEqual(before.map(({ status }) => status?.conditions))
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 2, updatedAvailableReplicas: 2 })
  })

  it('of anything else makes other pods, if the strategy lets it', async () => {
    s = await InPlaceScene.of(2)
    const before = idsOf(await s.pods())
    await s.patch({ template: { spec: { containers: [{ ...containers[0], env: [{ name: 'A', value: '1' }] }, containers[1]] } } })
    await s.settle(6000)
    const after = idsOf(await s.pods())
    expect(after).toHaveLength(2)
    expect(after.filter((id) => before.includes(id))).toEqual([])
  })

  it('that goes wrong is put right by the next one', async () => {
    s = await InPlaceScene.of(1)
    const before = idsOf(await s.pods())
    const faulty = (fail: string | null) => ({ template: { metadata: { annotations: { 'coxswain.dev/simulate-fail-image': fail } } } })
    await s.patch(faulty('manifest unknown'))
    await s.settle()
    await s.setImage('app:2')
    await s.settle(10_000)
    const [stuck] = await s.pods()
    expect(statusOf(stuck!, 'app')).toMatchObject({ ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } })
    expect(await s.states()).toEqual(['Normal'])
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 1, updatedReadyReplicas: 0 })
    expect((await s.progress())?.message).toContain(`Pod ${stuck!.metadata.name} cannot pull image "app:2" for container "app": manifest unknown`)
    await s.patch({ ...faulty(null), template: { ...faulty(null).template, spec: { containers: [{ ...containers[0], image: 'app:3' }, containers[1]] } } })
    await s.settle(10_000)
    const [mended] = await s.pods()
    expect(statusOf(mended!, 'app')).toMatchObject({ image: 'app:3', ready: true })
    expect(idsOf([mended!])).toEqual(before)
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 1, updatedAvailableReplicas: 1 })
  })

  it('writes nothing once it is through', async () => {
    s = await InPlaceScene.of(2)
    await s.setImage('app:2')
    await s.settle(5000)
    const versions = async () => [(await s.set()).metadata.resourceVersion, ...(await s.pods()).map(({ metadata }) => metadata.resourceVersion)]
    const before = await versions()
    await s.scene.pass(120_000)
    expect(await versions()).toEqual(before)
  })
})

describe('a hook of updates', () => {
  const lifecycle = { inPlaceUpdate: { labelsHandler: { 'example.com/hold': 'true' } } }
  const hold = (value: string | null) => ({ labels: { 'example.com/hold': value } })

  it('is waited for before the update and after it', async () => {
    s = await InPlaceScene.of(1, { lifecycle, progressDeadlineSeconds: 60 }, {}, { 'example.com/hold': 'true' })
    const [{ metadata: { name = '' } }] = (await s.pods()) as [Pod]
    await s.setImage('app:2')
    await s.settle()
    expect(await s.states()).toEqual(['PreparingUpdate'])
    expect(statusOf((await s.pods())[0]!, 'app')).toMatchObject({ image: 'app:1' })
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 0, availableReplicas: 0 })
    await s.scene.pass(60_000)
    expect(await s.progress()).toMatchObject({ reason: 'ProgressDeadlineExceeded', message: expect.stringContaining(`Pod ${name} is held back from its update by label example.com/hold=true, since`) as string })
    await s.patchPod(name, hold(null))
    await s.settle()
    expect(await s.states()).toEqual(['Updated'])
    expect(statusOf((await s.pods())[0]!, 'app')).toMatchObject({ image: 'app:2' })
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 1, availableReplicas: 0 })
    await s.patchPod(name, hold('true'))
    await s.settle()
    expect(await s.states()).toEqual(['Normal'])
    expect((await s.set()).status).toMatchObject({ updatedReplicas: 1, availableReplicas: 1 })
  })

  it('takes pods out of service that it holds, if it says so', async () => {
    s = await InPlaceScene.of(1, { lifecycle: { inPlaceUpdate: { ...lifecycle.inPlaceUpdate, markPodNotReady: true } } }, {}, { 'example.com/hold': 'true' })
    const [{ metadata: { name = '' } }] = (await s.pods()) as [Pod]
    expect(await s.condition(name, 'Ready')).toBe('True')
    await s.setImage('app:2')
    await s.settle()
    expect([await s.condition(name, 'KruisePodReady'), await s.condition(name, 'Ready')]).toEqual(['False', 'False'])
    await s.patchPod(name, hold(null))
    await s.settle()
    expect([await s.condition(name, 'KruisePodReady'), await s.condition(name, 'Ready')]).toEqual(['True', 'True'])
    expect(await s.states()).toEqual(['Updated'])
  })
})

describe('a hook of deletions', () => {
  const lifecycle = { preDelete: { finalizersHandler: ['example.com/drain'] } }
  const held = (pod: Pod) => s.patchPod(pod.metadata.name!, { finalizers: ['example.com/drain'] })

  it('holds a pod that is too many until it lets it go', async () => {
    s = await InPlaceScene.of(2, { lifecycle })
    for (const pod of await s.pods()) await held(pod)
    await s.patch({ replicas: 1 })
    await s.settle()
    expect((await s.states()).toSorted()).toEqual(['Normal', 'PreparingDelete'])
    const going = (await s.pods()).find(({ metadata }) => metadata.labels?.[stateLabel] === 'PreparingDelete')!
    expect(going.metadata.deletionTimestamp).toBeUndefined()
    await s.patchPod(going.metadata.name!, { finalizers: null })
    await s.settle()
    expect((await s.pods()).map(({ metadata }) => metadata.name)).not.toContain(going.metadata.name)
    expect(await s.states()).toEqual(['Normal'])
  })

  it('gives back a pod that is wanted again', async () => {
    s = await InPlaceScene.of(2, { lifecycle })
    const before = idsOf(await s.pods())
    for (const pod of await s.pods()) await held(pod)
    await s.patch({ replicas: 1 })
    await s.settle()
    await s.patch({ replicas: 2 })
    await s.settle()
    expect(await s.states()).toEqual(['Normal', 'Normal'])
    expect(idsOf(await s.pods())).toEqual(before)
    expect((await s.set()).status).toMatchObject({ replicas: 2, availableReplicas: 2 })
  })

  it('is waited for by an update that makes other pods', async () => {
    s = await InPlaceScene.of(1, { lifecycle, updateStrategy: { type: 'ReCreate', maxUnavailable: 1 }, progressDeadlineSeconds: 60 })
    const [old] = (await s.pods()) as [Pod]
    await held(old)
    await s.setImage('app:2')
    await s.settle()
    expect(await s.states()).toEqual(['PreparingDelete'])
    await s.scene.pass(60_000)
    const why = `Pod ${old.metadata.name} is held back from its deletion by finalizer example.com/drain, since`
    expect(await s.progress()).toMatchObject({ reason: 'ProgressDeadlineExceeded', message: expect.stringContaining(why) as string })
    await s.patchPod(old.metadata.name!, { finalizers: null })
    await s.settle(4000)
    const [next] = (await s.pods()) as [Pod]
    expect(next.metadata.uid).not.toBe(old.metadata.uid)
    expect(statusOf(next, 'app')).toMatchObject({ image: 'app:2', ready: true })
  })
})
