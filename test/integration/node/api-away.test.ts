import { afterEach, describe, expect, it } from 'vitest'
import { NodeScene } from './scene.ts'

let scene: NodeScene
afterEach(() => scene?.stop())

const names = Array.from({ length: 40 }, (_, i) => `web-${i}`)
const patches = () => new Map(names.map((name) => [name, scene.link.patches(name).length]))

describe('an API that is away for a minute', () => {
  it('costs each pod one patch when it is back, however much has happened to it', async () => {
    scene = await NodeScene.start({ startMs: Date.parse('2026-01-01T12:00:00Z') })
    for (const name of names) await scene.createPod(name, { restartPolicy: 'Never' }, { 'coxswain.dev/simulate-exit-after': '30s' })
    for (const name of names) await scene.bind(name)
    await scene.passTo('2026-01-01T12:00:20Z')
    const before = patches()
    scene.link.isAway = true
    // Ready no more, containers ended, sandboxes gone: three things that each would have been told.
    await scene.passTo('2026-01-01T12:01:20Z')
    expect(patches()).toEqual(before)
    scene.link.isAway = false
    await scene.passTo('2026-01-01T12:01:40Z')
    expect(patches()).toEqual(new Map(names.map((name) => [name, before.get(name)! + 1])))
    for (const name of names) expect((await scene.pod(name)).status?.phase).toBe('Succeeded')
  })

  it('and whose nodes are restarted meanwhile has heard everything afterwards, with the times at which it happened', async () => {
    scene = await NodeScene.start({ startMs: Date.parse('2026-01-01T12:00:00Z') })
    await scene.run('ends', { restartPolicy: 'Never' }, { 'coxswain.dev/simulate-exit-after': '30s', 'coxswain.dev/simulate-exit-code': '3' })
    await scene.run('stays')
    await scene.run('late', { containers: [{ name: 'app', image: 'app:1', readinessProbe: { httpGet: { port: 80 } } }] }, { 'coxswain.dev/simulate-readiness-after': '20s' })
    expect(await scene.condition('late', 'Ready')).toMatchObject({ status: 'False' })
    await scene.createPod('slow', {}, { 'coxswain.dev/simulate-delay-sandbox': '25s' })
    await scene.bind('slow')
    await scene.passTo('2026-01-01T12:00:10Z')
    const ran = (await scene.runtime.listContainers()).map((c) => c.id)
    scene.link.isAway = true
    await scene.passTo('2026-01-01T12:00:40Z')
    await scene.kill()
    await scene.passTo('2026-01-01T12:00:50Z')
    // It begins while nobody answers.
    await scene.startAgent()
    await scene.passTo('2026-01-01T12:01:10Z')
    scene.link.isAway = false
    await scene.passTo('2026-01-01T12:01:40Z')

    const ended = await scene.pod('ends')
    expect(ended.status).toMatchObject({ phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 3, finishedAt: '2026-01-01T12:00:30Z' } } }] })
    expect(await scene.condition('ends', 'PodReadyToStartContainers')).toMatchObject({ status: 'False' })
    expect(await scene.condition('slow', 'PodReadyToStartContainers')).toMatchObject({ status: 'True' })
    for (const name of ['stays', 'late', 'slow']) {
      expect(await scene.condition(name, 'Ready')).toMatchObject({ status: 'True' })
      expect((await scene.pod(name)).status?.containerStatuses?.[0]?.restartCount).toBe(0)
    }
    // Nothing was started again: one more than before is the one whose sandbox was late.
    const now = (await scene.runtime.listContainers()).map((c) => c.id)
    expect(now).toHaveLength(4)
    for (const id of ran) expect(now).toContain(id)
  })
})
