import { afterEach, describe, expect, it } from 'vitest'
import { nodes, pods } from '../../../src/client/index.ts'
import { nodeLifecycle } from '../../../src/controllers/node-lifecycle/controller.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

let scene: NodeScene
const start = async (options?: NodeSceneOptions) => (scene = await NodeScene.start(options))
afterEach(() => scene?.stop())

const asking = (cpu: string, memory = '0') => ({ containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu, memory } } }] })

describe('a node', () => {
  it('refuses a pod that it has no room for, and says why', async () => {
    await start()
    await scene.run('first', asking('3'))
    const { status } = await scene.run('second', asking('2'))
    const message = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
    expect(status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu', message: `Pod was rejected: ${message}` })
    expect(status?.startTime).toBeDefined()
    expect(status?.containerStatuses).toBeUndefined()
    expect(await scene.events('OutOfcpu')).toMatchObject([{ type: 'Warning', message }])
    expect(await scene.runtime.listPodSandboxes()).toHaveLength(1)
    await scene.client.delete(pods, 'default', 'second')
    await scene.pass(1000)
    expect(await scene.exists('second')).toBe(false)
  })

  it('has room again when a pod has ended, or is gone', async () => {
    await start()
    await scene.run('job', { ...asking('3'), restartPolicy: 'Never' })
    await scene.pass(2000)
    expect((await scene.run('second', asking('3'))).status?.phase).toBe('Running')
    await scene.client.delete(pods, 'default', 'second')
    await scene.pass(1000)
    expect((await scene.run('third', asking('4'))).status?.phase).toBe('Running')
  })

  it('keeps what it has when its agent is started anew', async () => {
    await start()
    await scene.run('first', asking('3'))
    await scene.kill()
    await scene.startAgent()
    await scene.pass(1000)
    expect((await scene.pod('first')).status?.phase).toBe('Running')
    expect((await scene.run('second', asking('2'))).status?.reason).toBe('OutOfcpu')
  })

  it('goes by the labels that it has now', async () => {
    await start()
    await scene.client.patch(nodes, '', 'n1', { metadata: { labels: { disk: 'ssd' } } }, { type: 'merge' })
    expect((await scene.run('fast', { nodeSelector: { disk: 'ssd' } })).status?.phase).toBe('Running')
    expect((await scene.run('slow', { nodeSelector: { disk: 'hdd' } })).status).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' })
  })

  it('refuses a pod whose port another has', async () => {
    await start()
    const containers = [{ name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 8080 }] }]
    await scene.run('first', { containers })
    expect((await scene.run('second', { containers })).status?.reason).toBe('NodePorts')
  })
})

describe('a node with too little memory', () => {
  const conditionOf = async () => (await scene.node()).status?.conditions?.find((c) => c.type === 'MemoryPressure')

  it('says so, and evicts who takes most above what was asked for, until it is enough', async () => {
    await start({ controllers: [nodeLifecycle] })
    await scene.run('modest', asking('1', '2Gi'), { 'coxswain.dev/simulate-memory': '1Gi' })
    await scene.run('greedy', {}, { 'coxswain.dev/simulate-memory': '7Gi' })
    await scene.run('small', {}, { 'coxswain.dev/simulate-memory': '10Mi' })
    await scene.pass(15_000)
    const { status } = await scene.pod('greedy')
    expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted' })
    expect(status?.message).toBe('The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. Container app was using 7Gi, request is 0, has larger consumption of memory. ')
    expect(await scene.condition('greedy', 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' })
    for (const name of ['modest', 'small']) expect((await scene.pod(name)).status?.phase).toBe('Running')
    expect(await conditionOf()).toMatchObject({ status: 'True', reason: 'KubeletHasInsufficientMemory' })
    expect((await scene.node()).spec.taints).toMatchObject([{ key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }])
    expect((await scene.run('late')).status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'Pod was rejected: The node had condition: [MemoryPressure]. ' })
    await scene.pass(300_000)
    expect(await conditionOf()).toMatchObject({ status: 'False', reason: 'KubeletHasSufficientMemory' })
    expect((await scene.run('later')).status?.phase).toBe('Running')
  })

  it('leaves those that the others need', async () => {
    await start()
    await scene.run('dns', { priorityClassName: 'system-node-critical' }, { 'coxswain.dev/simulate-memory': '9Gi' })
    await scene.run('web', asking('1', '1Gi'))
    await scene.pass(60_000)
    expect((await scene.pod('dns')).status?.phase).toBe('Running')
    expect((await scene.pod('web')).status?.reason).toBe('Evicted')
  })

  it('or disk, may be what a fault plan makes of it', async () => {
    let isFull = false
    await start({ faults: { at: (stage) => (stage === 'disk-pressure' && isFull ? { fail: 'no room' } : undefined) } })
    await scene.run('web')
    isFull = true
    await scene.pass(10_000)
    isFull = false
    await scene.pass(5000)
    expect((await scene.node()).status?.conditions?.find((c) => c.type === 'DiskPressure')).toMatchObject({ status: 'True', reason: 'KubeletHasDiskPressure' })
    expect((await scene.pod('web')).status?.message).toMatch(/^The node was low on resource: ephemeral-storage\. Threshold quantity: /)
  })
})
