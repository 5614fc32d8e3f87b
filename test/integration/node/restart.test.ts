import { afterEach, describe, expect, it } from 'vitest'
import { pods } from '../../../src/client/index.ts'
import { NodeScene } from './scene.ts'

let scene: NodeScene
afterEach(() => scene?.stop())

describe('an agent that is killed and started again', () => {
  it('adopts what runs, starts nothing twice and writes nothing', async () => {
    scene = await NodeScene.start()
    await scene.run('web', { containers: [{ name: 'app', image: 'app:1', readinessProbe: { httpGet: { port: 80 } } }] })
    await scene.pass(20_000)
    const ran = await scene.runtime.listContainers()
    const told = await scene.pod('web')
    expect(told.status?.phase).toBe('Running')
    await scene.kill()
    await scene.pass(60_000)
    const before = scene.link.patches('web').length
    await scene.startAgent()
    await scene.pass(60_000)
    expect(await scene.runtime.listContainers()).toEqual(ran)
    expect(scene.link.patches('web').length).toBe(before)
    expect((await scene.pod('web')).status).toEqual(told.status)
  })

  it('goes on counting restarts where it was', async () => {
    scene = await NodeScene.start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-exit-code': '1', 'coxswain.dev/simulate-exits': '2' })
    await scene.pass(5000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.restartCount).toBe(1)
    await scene.kill()
    await scene.startAgent()
    await scene.pass(60_000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]).toMatchObject({ restartCount: 2, ready: true, lastState: { terminated: { exitCode: 1 } } })
  })

  it('ends what was deleted meanwhile, with and without grace', async () => {
    scene = await NodeScene.start()
    await scene.run('one')
    await scene.run('two')
    await scene.run('three')
    await scene.kill()
    await scene.client.delete(pods, 'default', 'one')
    await scene.client.delete(pods, 'default', 'two', { gracePeriodSeconds: 0 })
    await scene.startAgent()
    await scene.pass(60_000)
    expect(await scene.exists('one')).toBe(false)
    expect((await scene.runtime.listPodSandboxes()).map((s) => s.metadata.name)).toEqual(['three'])
  })

  it('makes a new sandbox where the old one ended while it was away', async () => {
    scene = await NodeScene.start()
    await scene.run('web')
    await scene.kill()
    const [sandbox] = await scene.runtime.listPodSandboxes()
    scene.runtime.crashSandbox(sandbox!.id)
    await scene.startAgent()
    await scene.pass(1000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true })
    expect((await scene.runtime.listPodSandboxes()).filter((s) => s.state === 'ready').length).toBe(1)
  })
})
