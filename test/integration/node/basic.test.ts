import { afterEach, describe, expect, it } from 'vitest'
import { configmaps, pods } from '../../../src/client/index.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

let scene: NodeScene
const start = async (options?: NodeSceneOptions) => (scene = await NodeScene.start(options))
afterEach(() => scene?.stop())

describe('a node', () => {
  it('makes itself known, with a lease', async () => {
    await start()
    const node = await scene.node()
    expect(node.status?.conditions?.map((c) => [c.type, c.status])).toEqual([['MemoryPressure', 'False'], ['DiskPressure', 'False'], ['PIDPressure', 'False'], ['Ready', 'True']])
    expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux' })
    scene.link.sent.length = 0
    await scene.pass(60_000)
    const beats = scene.link.sent.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(beats)).toEqual(new Set(['PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1']))
    expect(beats.length).toBe(6)
  })
})

describe('a pod', () => {
  it('runs, with conditions in the order in which kubelet writes them, and costs nothing more', async () => {
    await start()
    const pod = await scene.run('web')
    expect(pod.status?.phase).toBe('Running')
    expect(pod.status?.conditions?.map((c) => `${c.type}=${c.status}`)).toEqual([
      'PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True', 'PodScheduled=True',
    ])
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({ name: 'app', ready: true, started: true, restartCount: 0, state: { running: {} } })
    expect(pod.status).toMatchObject({ podIP: '10.244.1.2', podIPs: [{ ip: '10.244.1.2' }], hostIP: '192.168.0.1', qosClass: 'BestEffort' })
    const before = scene.link.patches('web').length
    await scene.pass(600_000)
    expect(scene.link.patches('web').length).toBe(before)
    expect((await scene.events()).map((e) => e.reason)).toEqual(['Pulling', 'Pulled', 'Created', 'Started'])
  })

  it('that is not restarted ends, and stays in the API as it ended', async () => {
    await start()
    await scene.run('job', { restartPolicy: 'Never' })
    await scene.pass(2000)
    const { status } = await scene.pod('job')
    expect(status?.phase).toBe('Succeeded')
    expect(status?.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' })
    expect(status?.conditions?.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['PodReadyToStartContainers', 'False', undefined], ['Initialized', 'True', 'PodCompleted'], ['Ready', 'False', 'PodCompleted'],
      ['ContainersReady', 'False', 'PodCompleted'], ['PodScheduled', 'True', undefined],
    ])
  })

  it('that is deleted is gone at once when its containers are', async () => {
    await start()
    await scene.run('web')
    await scene.client.delete(pods, 'default', 'web')
    await scene.pass(100)
    expect(await scene.exists('web')).toBe(false)
    expect(await scene.runtime.listContainers()).toEqual([])
    expect(await scene.runtime.listPodSandboxes()).toEqual([])
  })

  it('waits for a config map that is missing, says so, and starts by itself when it appears', async () => {
    await start()
    const volumes = [{ name: 'settings', configMap: { name: 'later' } }]
    await scene.run('web', { volumes, containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }] }] })
    await scene.pass(5000)
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'False' })
    const [event] = await scene.events('FailedMount')
    expect(event).toMatchObject({ type: 'Warning', message: 'MountVolume.SetUp failed for volume "settings" : configmap "later" not found' })
    await scene.client.create(configmaps, { metadata: { name: 'later', namespace: 'default' }, data: { a: 'b' } })
    await scene.pass(100)
    expect((await scene.pod('web')).status?.phase).toBe('Running')
    expect(await scene.condition('web', 'PodReadyToStartContainers')).toMatchObject({ status: 'True' })
  })

  it('whose container crashes is started again after longer and longer waits', async () => {
    await start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-exit-code': '3' })
    await scene.pass(3000)
    const { status } = await scene.pod('web')
    expect(status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 3 } } })
    expect(status?.containerStatuses?.[0]?.state.waiting?.message).toMatch(/^back-off 10s restarting failed container=app pod=web_default\(/)
    await scene.pass(10_000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.restartCount).toBe(2)
    await scene.pass(15_000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.restartCount).toBe(2)
    await scene.pass(10_000)
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.restartCount).toBe(3)
  })
})
