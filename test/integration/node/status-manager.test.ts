import { afterEach, describe, expect, it } from 'vitest'
import { pods } from '../../../src/client/index.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

let scene: NodeScene
const start = async (options?: NodeSceneOptions) => (scene = await NodeScene.start(options))
afterEach(() => scene?.stop())

const sandboxOf = async (name: string) => (await scene.runtime.listPodSandboxes()).find((s) => s.metadata.name === name && s.state === 'ready')

describe('while the API is away', () => {
  it('nothing is lost: what has happened is told when it is back, in one patch, with the times of when it happened', async () => {
    await start({ startMs: Date.parse('2026-01-01T12:00:00Z') })
    await scene.run('web', { restartPolicy: 'Never' }, { 'coxswain.dev/simulate-exit-after': '30s' })
    await scene.run('other')
    await scene.passTo('2026-01-01T12:00:20Z')
    const before = scene.link.patches('web').length
    scene.link.isAway = true
    await scene.passTo('2026-01-01T12:01:20Z')
    expect((await scene.pod('web')).status?.phase).toBe('Running')
    scene.link.isAway = false
    await scene.pass(15_000)
    const { status } = await scene.pod('web')
    expect(status?.phase).toBe('Succeeded')
    expect(status?.containerStatuses?.[0]?.state.terminated?.finishedAt).toBe('2026-01-01T12:00:30Z')
    expect(status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T12:00:30Z' })
    expect(status?.conditions?.find((c) => c.type === 'PodReadyToStartContainers')).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T12:00:30Z' })
    expect(scene.link.patches('web').length).toBe(before + 1)
  })

  it('and the agent is restarted, what the runtime knows is told with its times', async () => {
    await start({ startMs: Date.parse('2026-01-01T12:00:00Z') })
    await scene.createPod('web', {}, { 'coxswain.dev/simulate-delay-sandbox': '10s' })
    await scene.bind('web')
    await scene.pass(1000)
    scene.link.isAway = true
    await scene.passTo('2026-01-01T12:00:30Z')
    await scene.kill()
    scene.link.isAway = false
    await scene.passTo('2026-01-01T12:01:00Z')
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'False' })
    await scene.startAgent()
    await scene.pass(1000)
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:10Z' })
    expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:10Z' })
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.restartCount).toBe(0)
    expect((await scene.runtime.listContainers()).length).toBe(1)
  })

  it('a pod that was deleted before is ended, and gone when it is back', async () => {
    await start()
    await scene.run('web')
    await scene.client.delete(pods, 'default', 'web')
    scene.link.isAway = true
    await scene.pass(60_000)
    expect(await scene.exists('web')).toBe(true)
    scene.link.isAway = false
    await scene.pass(15_000)
    expect(await scene.exists('web')).toBe(false)
  })
})

it('a sandbox that crashes five times a second costs at most 8 patches and one more every two seconds, and the last word is true', async () => {
  await start()
  await scene.run('web')
  const before = scene.link.patches('web').length
  for (let i = 0; i < 300; i++) {
    const sandbox = await sandboxOf('web')
    if (sandbox) scene.runtime.crashSandbox(sandbox.id)
    await scene.pass(200)
  }
  expect(scene.link.patches('web').length - before).toBeLessThanOrEqual(8 + 30)
  await scene.pass(600_000)
  expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'True' })
  expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True' })
})

it('what somebody else writes over is said again', async () => {
  await start()
  await scene.run('web')
  await scene.client.patch(pods, 'default', 'web', { status: { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }] } }, { type: 'strategic', subresource: 'status' })
  await scene.pass(5000)
  const { status } = await scene.pod('web')
  expect(status?.phase).toBe('Running')
  expect(status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('True')
})

it('conditions of others stay', async () => {
  await start()
  await scene.run('web', { readinessGates: [{ conditionType: 'example.com/gate' }] })
  expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady', message: 'corresponding condition of pod readiness gate "example.com/gate" does not exist.' })
  await scene.client.patch(pods, 'default', 'web', { status: { conditions: [{ type: 'example.com/gate', status: 'True' }] } }, { type: 'strategic', subresource: 'status' })
  await scene.pass(100)
  expect(await scene.condition('web', 'Ready')).toMatchObject({ status: 'True' })
  expect(await scene.condition('web', 'example.com/gate')).toMatchObject({ status: 'True' })
})

it('with its gate off, the condition is not computed, and what is stored stays', async () => {
  await start({ gates: { PodReadyToStartContainersCondition: false } })
  await scene.run('web')
  expect(await scene.condition('web', 'PodReadyToStartContainers')).toBeUndefined()
  const stored = { type: 'PodReadyToStartContainers', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }
  await scene.client.patch(pods, 'default', 'web', { status: { conditions: [stored] } }, { type: 'strategic', subresource: 'status' })
  const before = scene.link.patches('web').length
  await scene.pass(60_000)
  expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject(stored)
  expect(scene.link.patches('web').length).toBe(before)
})
