import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../base/seeded-random.ts'
import { silentLogger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { SimulatedRuntime } from '../runtimes/simulated/index.ts'
import { podUidLabel } from './labels.ts'
import { PodView } from './pod-view.ts'
import type { ContainerConfig, SandboxConfig } from './runtime.ts'

const { signal } = new AbortController()

async function setUp() {
  const runtime = new SimulatedRuntime({ clock: new VirtualClock(), random: new SeededRandom(1), podSubnet: '10.1.0.0/24' })
  const asked: string[] = []
  const { podSandboxStatus, containerStatus } = runtime
  runtime.podSandboxStatus = (id) => {
    asked.push(id)
    return podSandboxStatus.call(runtime, id)
  }
  runtime.containerStatus = (id) => {
    asked.push(id)
    return containerStatus.call(runtime, id)
  }
  const changed: string[] = []
  const view = new PodView(runtime, (uid) => changed.push(uid), silentLogger)
  await view.start()
  const run = async (uid: string) => {
    const labels = { [podUidLabel]: uid }
    const sandbox = { metadata: { uid, name: uid, namespace: 'default', attempt: 0 }, labels, annotations: {}, hostNetwork: false }
    const sandboxId = await runtime.runPodSandbox(sandbox as unknown as SandboxConfig, '', signal)
    const start = async (name: string, attempt = 0) => {
      const config = { metadata: { name, attempt }, image: 'web:1', labels, annotations: {}, logPath: '', resources: {} }
      const id = await runtime.createContainer(sandboxId, config as unknown as ContainerConfig)
      await runtime.startContainer(id)
      return id
    }
    return { sandboxId, start }
  }
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { runtime, view, run, settle, asked, changed }
}

describe('PodView', () => {
  it('has the newest containers first, and each once', async () => {
    const { runtime, view, run, settle } = await setUp()
    const pod = await run('a')
    const first = await pod.start('web')
    const second = await pod.start('web', 1)
    runtime.exitContainer(first, 1)
    await settle()
    expect(view.state('a').containers.map(({ id, state }) => [id, state])).toEqual([[second, 'running'], [first, 'exited']])
    expect(view.state('a').sandboxes.map(({ id, state }) => [id, state])).toEqual([[pod.sandboxId, 'ready']])
  })

  it('does not ask for what is deleted, tells of it, and keeps nothing', async () => {
    const { runtime, view, run, settle, asked, changed } = await setUp()
    const pod = await run('a')
    await pod.start('web')
    await run('b')
    await runtime.stopPodSandbox(pod.sandboxId)
    await settle()
    asked.length = changed.length = 0
    await runtime.removePodSandbox(pod.sandboxId)
    await settle()
    expect(asked).toEqual([])
    expect(new Set(changed)).toEqual(new Set(['a']))
    expect([view.uids(), view.state('a')]).toEqual([['b'], { sandboxes: [], containers: [] }])
  })

  it('asks again for what is deleted while it is being asked for', async () => {
    const { runtime, view, run, settle } = await setUp()
    const pod = await run('a')
    const id = await pod.start('web')
    await settle()
    const status = await runtime.containerStatus(id)
    let answer = (_: typeof status): void => {}
    const { containerStatus } = runtime
    runtime.containerStatus = (asked) => {
      runtime.containerStatus = containerStatus
      return asked === id ? new Promise((resolve) => (answer = resolve)) : containerStatus.call(runtime, asked)
    }
    void view.refresh(pod.sandboxId, id)
    await runtime.removeContainer(id)
    answer(status)
    await settle()
    expect(view.state('a').containers).toEqual([])
  })

  /** Relists with lists that are answered with the present state, but only after `meanwhile`. */
  async function relistWhile({ runtime, view, settle }: Awaited<ReturnType<typeof setUp>>, meanwhile: () => Promise<unknown>) {
    const { listPodSandboxes, listContainers } = runtime
    let answer = () => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    runtime.listPodSandboxes = () => listPodSandboxes.call(runtime).then((all) => answered.then(() => all))
    runtime.listContainers = () => listContainers.call(runtime).then((all) => answered.then(() => all))
    const done = view.relist()
    await settle()
    await meanwhile()
    await settle()
    answer()
    await done
    Object.assign(runtime, { listPodSandboxes, listContainers })
  }

  it('keeps what is created while everything is listed', async () => {
    const scene = await setUp()
    let ids: string[] = []
    await relistWhile(scene, async () => {
      const pod = await scene.run('a')
      ids = [pod.sandboxId, await pod.start('web')]
    })
    const { sandboxes, containers } = scene.view.state('a')
    expect([...sandboxes, ...containers].map(({ id }) => id)).toEqual(ids)
    await scene.view.relist()
    expect(scene.view.state('a').containers.length).toBe(1)
  })

  it('has the end of a container that ends while everything is listed', async () => {
    const scene = await setUp()
    const id = await (await scene.run('a')).start('web')
    await relistWhile(scene, async () => scene.runtime.exitContainer(id, 3))
    expect(scene.view.state('a').containers).toMatchObject([{ id, state: 'exited', exitCode: 3 }])
  })

  it('does not bring back what is removed while everything is listed', async () => {
    const scene = await setUp()
    const pod = await scene.run('a')
    const id = await pod.start('web')
    await relistWhile(scene, () => scene.runtime.removeContainer(id))
    expect(scene.view.state('a').containers).toEqual([])
    await relistWhile(scene, () => scene.runtime.removePodSandbox(pod.sandboxId))
    expect(scene.view.uids()).toEqual([])
  })

  it('prefers a list to what was read before it', async () => {
    const scene = await setUp()
    const { runtime, view } = scene
    const pod = await scene.run('a')
    const id = await pod.start('web')
    await scene.settle()
    const { containerStatus } = runtime
    let answer = () => {}
    const before = await runtime.containerStatus(id)
    runtime.containerStatus = () => new Promise((resolve) => (answer = () => resolve(before)))
    const asked = view.refresh(pod.sandboxId, id)
    runtime.containerStatus = containerStatus
    // The list has an end whose event was lost.
    const listed = { ...before, state: 'exited' as const, exitCode: 3 }
    const { listContainers } = runtime
    runtime.listContainers = async () => [listed]
    await view.relist()
    runtime.listContainers = listContainers
    answer()
    await asked
    expect(view.state('a').containers).toMatchObject([{ state: 'exited', exitCode: 3 }])
  })
})
