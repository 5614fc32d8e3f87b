import { afterEach, describe, expect, it } from 'vitest'
import { configmaps, pods } from '../../../src/client/index.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

let scene: NodeScene
const start = async (options?: NodeSceneOptions) => (scene = await NodeScene.start(options))
afterEach(() => scene?.stop())

const app = { name: 'app', image: 'app:1' }
const statusOf = async (pod: string, container = 'app') => {
  const { containerStatuses = [], initContainerStatuses = [] } = (await scene.pod(pod)).status ?? {}
  return [...initContainerStatuses, ...containerStatuses].find((s) => s.name === container)
}

describe('init containers', () => {
  it('run one after another before the others, and are ready when they are done', async () => {
    await start()
    await scene.run('web', { initContainers: [{ name: 'a', image: 'a' }, { name: 'b', image: 'b' }] })
    expect(await scene.condition('web', 'Initialized')).toMatchObject({ status: 'False', reason: 'ContainersNotInitialized', message: 'containers with incomplete status: [a b]' })
    expect((await scene.runtime.listContainers()).map((c) => c.metadata.name)).toEqual(['a'])
    await scene.pass(1000)
    expect(await scene.condition('web', 'Initialized')).toMatchObject({ message: 'containers with incomplete status: [b]' })
    await scene.pass(1000)
    const { status } = await scene.pod('web')
    expect(status?.phase).toBe('Running')
    expect(status?.initContainerStatuses?.map((s) => [s.name, s.ready, s.state.terminated?.reason])).toEqual([['a', true, 'Completed'], ['b', true, 'Completed']])
  })

  it('that fail end a pod that is not restarted', async () => {
    await start()
    await scene.run('web', { restartPolicy: 'Never', initContainers: [{ name: 'a', image: 'a' }] }, { 'coxswain.dev/simulate-exit-code.a': '7' })
    await scene.pass(2000)
    expect((await scene.pod('web')).status?.phase).toBe('Failed')
    expect((await statusOf('web', 'a'))?.state.terminated?.exitCode).toBe(7)
  })

  it('that are sidecars keep running, and end last', async () => {
    await start()
    await scene.run('job', { restartPolicy: 'Never', initContainers: [{ name: 'side', image: 'side', restartPolicy: 'Always' }] })
    expect((await scene.pod('job')).status?.phase).toBe('Running')
    expect(await statusOf('job', 'side')).toMatchObject({ ready: true, started: true, state: { running: {} } })
    await scene.pass(3000)
    expect((await scene.pod('job')).status?.phase).toBe('Succeeded')
    expect((await statusOf('job', 'side'))?.state.terminated).toBeDefined()
  })
})

describe('probes', () => {
  it('of startup go first, of readiness decide Ready, of liveness restart', async () => {
    await start()
    const http = { httpGet: { port: 80 } }
    const container = { ...app, startupProbe: { ...http, periodSeconds: 1, failureThreshold: 30 }, readinessProbe: { ...http, periodSeconds: 1 }, livenessProbe: { ...http, periodSeconds: 5, failureThreshold: 2 } }
    await scene.run('web', { containers: [container] }, {
      'coxswain.dev/simulate-startup-after': '3s', 'coxswain.dev/simulate-readiness-after': '6s', 'coxswain.dev/simulate-liveness-until': '30s',
    })
    expect(await statusOf('web')).toMatchObject({ started: false, ready: false })
    await scene.pass(4000)
    expect(await statusOf('web')).toMatchObject({ started: true, ready: false })
    await scene.pass(4000)
    expect(await statusOf('web')).toMatchObject({ started: true, ready: true })
    await scene.pass(32_000)
    expect(await statusOf('web')).toMatchObject({ restartCount: 1 })
    const messages = (await scene.events()).filter((e) => ['Unhealthy', 'Killing'].includes(e.reason)).map((e) => e.message)
    expect(messages).toContain('Startup probe failed: simulated failure')
    expect(messages).toContain('Liveness probe failed: simulated failure')
    expect(messages).toContain('Container app failed liveness probe, will be restarted')
  })
})

describe('images', () => {
  it('that cannot be pulled are tried again less and less often', async () => {
    await start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-fail-image': 'manifest unknown' })
    expect((await statusOf('web'))?.state.waiting).toEqual({ reason: 'ImagePullBackOff', message: 'Back-off pulling image "app:1": ErrImagePull: manifest unknown' })
    await scene.pass(60_000)
    expect((await scene.events('Pulling'))[0]?.count).toBe(3)
    expect((await scene.events('Failed')).map((e) => e.message)).toEqual(expect.arrayContaining(['Failed to pull image "app:1": manifest unknown', 'Error: ErrImagePull', 'Error: ImagePullBackOff']))
  })

  it('that are changed restart that container and no other', async () => {
    await start()
    await scene.run('web', { containers: [app, { name: 'other', image: 'other:1' }] })
    const other = await statusOf('web', 'other')
    await scene.client.patch(pods, 'default', 'web', { spec: { containers: [{ name: 'app', image: 'app:2' }] } }, { type: 'strategic' })
    await scene.pass(1000)
    expect(await statusOf('web')).toMatchObject({ image: 'app:2', restartCount: 1, ready: true })
    expect(await statusOf('web', 'other')).toEqual(other)
  })
})

describe('configuration', () => {
  it('that is missing keeps a container from being created until it appears', async () => {
    await start()
    await scene.run('web', { containers: [{ ...app, envFrom: [{ configMapRef: { name: 'later' } }] }] })
    expect((await statusOf('web'))?.state.waiting).toEqual({ reason: 'CreateContainerConfigError', message: 'configmap "later" not found' })
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'True' })
    await scene.client.create(configmaps, { metadata: { name: 'later', namespace: 'default' }, data: { a: 'b' } })
    await scene.pass(1000)
    expect(await statusOf('web')).toMatchObject({ ready: true, restartCount: 0 })
  })
})

describe('an end', () => {
  it('comes when a pod has been active for too long', async () => {
    await start()
    await scene.run('web', { activeDeadlineSeconds: 30 })
    await scene.pass(31_000)
    const { status } = await scene.pod('web')
    expect(status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' })
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'False' })
    expect((await scene.runtime.listPodSandboxes()).every((s) => s.state === 'notReady')).toBe(true)
  })

  it('waits for the preStop hook, and for no longer than the grace period', async () => {
    await start()
    const preStop = { sleep: { seconds: 5 } }
    await scene.run('slow', { terminationGracePeriodSeconds: 10, containers: [{ ...app, lifecycle: { preStop } }] }, { 'coxswain.dev/simulate-stop-after': '1h' })
    await scene.client.delete(pods, 'default', 'slow')
    await scene.pass(9500)
    expect(await scene.exists('slow')).toBe(true)
    await scene.pass(1000)
    expect(await scene.exists('slow')).toBe(false)
  })

  it('comes sooner where somebody is in more of a hurry', async () => {
    await start()
    await scene.run('slow', { terminationGracePeriodSeconds: 600 }, { 'coxswain.dev/simulate-stop-after': '1h' })
    await scene.client.delete(pods, 'default', 'slow')
    await scene.pass(1000)
    await scene.client.delete(pods, 'default', 'slow', { gracePeriodSeconds: 5 })
    await scene.pass(6000)
    expect(await scene.exists('slow')).toBe(false)
  })

  it('comes to a pod that waits for something, too', async () => {
    await start()
    await scene.run('web', { volumes: [{ name: 'v', secret: { secretName: 'never' } }] }, { 'coxswain.dev/simulate-delay-network': '1h' })
    await scene.client.delete(pods, 'default', 'web')
    await scene.pass(100)
    expect(await scene.exists('web')).toBe(false)
  })
})

describe('a node that goes down', () => {
  it('ends its pods within the time, critical ones last, and says so', async () => {
    await start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-stop-after': '3s' })
    await scene.run('dns', { priorityClassName: 'system-node-critical' }, { 'coxswain.dev/simulate-stop-after': '2s' })
    const down = scene.agent.shutdown(20, 10)
    await scene.pass(30_000)
    await down
    for (const name of ['web', 'dns']) {
      const { status } = await scene.pod(name)
      expect(status).toMatchObject({ phase: 'Failed', reason: 'Terminated', message: 'Pod was terminated in response to imminent node shutdown.' })
      expect(status?.conditions?.find((c) => c.type === 'PodReadyToStartContainers')?.status).toBe('False')
      expect(status?.conditions?.find((c) => c.type === 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' })
    }
    const finished = async (name: string) => (await statusOf(name))?.state.terminated?.finishedAt ?? ''
    expect((await finished('web')) < (await finished('dns'))).toBe(true)
    const node = await scene.node()
    expect(node.status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({ status: 'False', message: 'node is shutting down' })
  })
})
