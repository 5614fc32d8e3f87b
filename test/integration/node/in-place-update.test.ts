import { afterEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { inPlaceUpdateReady, shutGate, stateAnnotation } from '../../../src/api/kinds/pods/in-place-update.ts'
import { pods } from '../../../src/client/index.ts'
import { NodeScene } from './scene.ts'

let scene: NodeScene
afterEach(() => scene?.stop())

const containers = [{ name: 'app', image: 'app:1' }, { name: 'other', image: 'other:1' }]
const statusOf = ({ status }: Pod, name: string) => status?.containerStatuses?.find((s) => s.name === name)

async function change(image: string): Promise<Pod> {
  await scene.client.patch(pods, 'default', 'web', { spec: { containers: [{ name: 'app', image }] } }, { type: 'strategic' })
  await scene.pass(1000)
  return scene.pod('web')
}

describe('a container whose image is changed', () => {
  it('is restarted alone, in the same sandbox, at the same address', async () => {
    scene = await NodeScene.start()
    const before = await scene.run('web', { containers })
    const sandboxes = await scene.runtime.listPodSandboxes()
    const after = await change('app:2')
    expect(await scene.runtime.listPodSandboxes()).toEqual(sandboxes)
    expect(after.metadata.uid).toBe(before.metadata.uid)
    expect(after.status?.podIP).toBe(before.status?.podIP)
    expect(after.status?.observedGeneration).toBe(after.metadata.generation)
    expect(statusOf(after, 'other')).toEqual(statusOf(before, 'other'))
    const [old, now] = [statusOf(before, 'app')!, statusOf(after, 'app')!]
    expect(now).toMatchObject({ image: 'app:2', restartCount: 1, ready: true, lastState: { terminated: { exitCode: 0, containerID: old.containerID } } })
    expect(now.imageID).not.toBe(old.imageID)
    expect(now.containerID).not.toBe(old.containerID)
    expect((await scene.events('Killing')).map((e) => e.message)).toEqual(['Container app definition changed, will be restarted'])
  })

  it('has its time to end, and is not ready meanwhile', async () => {
    scene = await NodeScene.start()
    await scene.run('web', { containers }, { 'coxswain.dev/simulate-stop-after.app': '5s' })
    expect(statusOf(await change('app:2'), 'app')).toMatchObject({ image: 'app:1', restartCount: 0 })
    await scene.pass(5000)
    expect(statusOf(await scene.pod('web'), 'app')).toMatchObject({ image: 'app:2', restartCount: 1, ready: true })
  })

  it('keeps the pod from being ready while the image cannot be pulled, and starts once it is another one', async () => {
    let broken = false
    scene = await NodeScene.start({ faults: { at: (stage, { container }) => (broken && stage === 'image' && container === 'app' ? { fail: 'manifest unknown' } : undefined) } })
    const before = await scene.run('web', { containers })
    broken = true
    const stuck = await change('app:2')
    expect(statusOf(stuck, 'app')).toMatchObject({ ready: false, restartCount: 0, image: 'app:1', imageID: statusOf(before, 'app')?.imageID, state: { waiting: { reason: 'ImagePullBackOff' } } })
    expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'False', message: 'containers with unready status: [app]' })
    broken = false
    expect(statusOf(await change('app:3'), 'app')).toMatchObject({ image: 'app:3', restartCount: 1, ready: true })
  })

  it('does not wait for the back-off that the old image has earned', async () => {
    scene = await NodeScene.start()
    await scene.run('web', { containers }, { 'coxswain.dev/simulate-exit-code.app': '1', 'coxswain.dev/simulate-exits.app': '3' })
    await scene.pass(20_000)
    const looping = statusOf(await scene.pod('web'), 'app')!
    expect(looping.state.waiting?.reason).toBe('CrashLoopBackOff')
    expect(statusOf(await change('app:2'), 'app')).toMatchObject({ image: 'app:2', restartCount: looping.restartCount + 1 })
  })

  it('is restarted once by an agent that was away when it was changed', async () => {
    scene = await NodeScene.start()
    const before = await scene.run('web', { containers })
    await scene.kill()
    await change('app:2')
    await scene.startAgent()
    await scene.pass(60_000)
    const after = await scene.pod('web')
    expect(statusOf(after, 'app')).toMatchObject({ image: 'app:2', restartCount: 1, ready: true })
    expect(statusOf(after, 'other')).toEqual(statusOf(before, 'other'))
  })
})

describe('a readiness gate', () => {
  const gate = async (status: string) => {
    await scene.client.patch(pods, 'default', 'web', { status: { conditions: [{ type: 'InPlaceUpdateReady', status }] } }, { type: 'strategic', subresource: 'status' })
    await scene.pass(1000)
    return scene.condition('web', 'Ready')
  }

  it('keeps a pod from being ready until it is opened, and whenever it is shut', async () => {
    scene = await NodeScene.start()
    await scene.run('web', { containers, readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] })
    const missing = { status: 'False', reason: 'ReadinessGatesNotReady', message: 'corresponding condition of pod readiness gate "InPlaceUpdateReady" does not exist.' }
    expect(await scene.condition('web', 'Ready')).toMatchObject(missing)
    expect(await scene.condition('web', 'ContainersReady')).toMatchObject({ status: 'True' })
    expect(await gate('True')).toMatchObject({ status: 'True' })
    expect(await gate('False')).toMatchObject({ status: 'False', message: 'the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False' })
    expect(await gate('True')).toMatchObject({ status: 'True' })
  })
})

describe('the gate of updates in place', () => {
  const readinessGates = [{ conditionType: inPlaceUpdateReady }]
  const patchStatus = (status: object) => scene.client.patch(pods, 'default', 'web', { status }, { type: 'strategic', subresource: 'status' })
  const shut = (revision: string) => patchStatus({ conditions: [shutGate(revision), { type: 'Ready', status: 'False' }] })
  /** As a CloneSet changes a pod. */
  const update = (image: string, revision: string, imageID: string) => {
    const note = JSON.stringify({ revision, updateTimestamp: '2026-01-01T00:00:00.000Z', lastContainerStatuses: { app: { imageID } } })
    const patch = { metadata: { annotations: { [stateAnnotation]: note } }, spec: { containers: [{ name: 'app', image }] } }
    return scene.client.patch(pods, 'default', 'web', patch, { type: 'strategic' })
  }

  async function startServing(annotations: Record<string, string> = {}): Promise<Pod> {
    scene = await NodeScene.start()
    await scene.run('web', { containers, readinessGates }, annotations)
    await patchStatus({ conditions: [{ type: inPlaceUpdateReady, status: 'True' }] })
    await scene.pass(1000)
    expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True' })
    return scene.pod('web')
  }

  it('is opened by the node in the same write that tells of the new container, without a word of a controller', async () => {
    const before = await startServing()
    const sent = scene.link.patches('web').length
    await shut('web-2')
    await scene.pass(1000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'False' })
    await update('app:2', 'web-2', statusOf(before, 'app')!.imageID)
    await scene.pass(1000)
    const gate = await scene.condition('web', inPlaceUpdateReady)
    expect(gate).toMatchObject({ status: 'True', observedGeneration: 2 })
    expect(gate).not.toHaveProperty('message')
    expect(gate).not.toHaveProperty('reason')
    expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True' })
    const patches = scene.link.patches('web').slice(sent).map((body) => JSON.stringify(body))
    expect(patches.filter((text) => text.includes(inPlaceUpdateReady) && text.includes('app:2'))).toHaveLength(1)
  })

  it('stays shut until the container has ended and another has started', async () => {
    const before = await startServing({ 'coxswain.dev/simulate-stop-after.app': '5s' })
    await shut('web-2')
    await update('app:2', 'web-2', statusOf(before, 'app')!.imageID)
    await scene.pass(4000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'False' })
    await scene.pass(3000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'True' })
  })

  it('stays shut when it was shut for an update that has not begun, or by somebody else', async () => {
    const before = await startServing()
    await update('app:2', 'web-2', statusOf(before, 'app')!.imageID)
    await shut('web-3')
    await scene.pass(60_000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'False' })
    await patchStatus({ conditions: [{ type: inPlaceUpdateReady, status: 'False', reason: 'Other', message: null }] })
    await scene.pass(60_000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'False', reason: 'Other' })
  })

  it('is not opened by a word that was on its way when it was shut for the next update', async () => {
    const before = await startServing()
    await shut('web-2')
    await scene.pass(1000)
    // Seen by the API between what the node knows and what it says.
    scene.link.beforeWrite = async (body) => {
      if (!JSON.stringify(body).includes(inPlaceUpdateReady)) return
      scene.link.beforeWrite = undefined
      await shut('web-3')
    }
    await update('app:2', 'web-2', statusOf(before, 'app')!.imageID)
    await scene.pass(5000)
    expect(scene.link.beforeWrite).toBeUndefined()
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'False', message: shutGate('web-3').message })
    expect(statusOf(await scene.pod('web'), 'app')).toMatchObject({ image: 'app:2', ready: true })
    await update('app:3', 'web-3', statusOf(await scene.pod('web'), 'app')!.imageID)
    await scene.pass(1000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'True' })
  })

  it('is opened by an agent that was away when the update began', async () => {
    const before = await startServing()
    await scene.kill()
    await shut('web-2')
    await update('app:2', 'web-2', statusOf(before, 'app')!.imageID)
    await scene.startAgent()
    await scene.pass(5000)
    expect(await scene.condition('web', inPlaceUpdateReady)).toMatchObject({ status: 'True' })
    expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True' })
  })
})
