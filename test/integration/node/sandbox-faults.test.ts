import { afterEach, describe, expect, it } from 'vitest'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import { persistentvolumeclaims, persistentvolumes, pods } from '../../../src/client/index.ts'
import { FaultPlan, type FaultRule } from '../../../src/node/index.ts'
import { NodeScene } from './scene.ts'

let scene: NodeScene
afterEach(() => scene?.stop())

const startMs = Date.parse('2026-01-01T12:00:00Z')
let plan: FaultPlan | undefined
afterEach(() => (plan = undefined))

/** The plan has the clock of the scene, which is there after the agent has asked for faults. */
async function start(): Promise<void> {
  const listeners = new Set<() => void>()
  const watch = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  scene = await NodeScene.start({ startMs, faults: { at: (stage, subject) => plan?.at(stage, subject), watch } })
  plan = new FaultPlan(scene.clock, new SeededRandom(1))
  plan.watch(() => listeners.forEach((listener) => listener()))
}

const breaks = (...rules: Omit<FaultRule, 'name'>[]): void => plan!.replace(rules.map((rule, i) => ({ name: `f${i}`, ...rule })))
const condition = async (name = 'web') => {
  const { status, reason, message } = (await scene.condition(name, 'PodReadyToStartContainers')) ?? {}
  return [status, reason, message].filter(Boolean).join(' ')
}
/** The newest first. */
const attempts = async () => (await scene.runtime.listPodSandboxes()).map(({ metadata, state }) => `${metadata.attempt} ${state}`).toSorted().toReversed()

describe('a sandbox crashes', () => {
  it.each<[string, Omit<FaultRule, 'name' | 'stage'>, number]>([
    ['as soon as the plan says so', { fail: true }, 1],
    ['some time later', { delay: '30s' }, 31],
    ['when the plan begins', { fail: true, after: '30s' }, 31],
  ])('while its pod runs: %s', async (_, rule, seconds) => {
    await start()
    await scene.run('web')
    await scene.pass(3600_000)
    breaks({ stage: 'sandbox-crash', ...rule }, { stage: 'sandbox', delay: '10s' })
    await scene.pass(seconds * 1000 - 900)
    expect(await condition()).toMatch(/^False SandboxChanged/)
    await scene.pass(60_000)
    expect([await condition(), (await attempts())[0]]).toEqual(['True', '1 ready'])
    expect((await scene.pod('web')).status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 137 } } })
  })

  const init = { initContainers: [{ name: 'load', image: 'load:1' }] }
  it.each([['any container runs', {}, '20m'], ['its init container runs', init, '20m'], ['its container, after it was initialized', init, '0s']])(
    'while an image is pulled, before %s: there is another one at once', async (_, spec, delay) => {
      await start()
      breaks({ stage: 'image', delay, container: 'load' }, { stage: 'image', delay: '20m', container: 'app' })
      await scene.run('web', spec)
      await scene.pass(60_000)
      breaks({ stage: 'sandbox-crash', fail: true }, { stage: 'sandbox', delay: '2s' })
      await scene.pass(1000)
      expect(await condition()).toMatch(/^False SandboxChanged/)
      await scene.pass(10_000)
      expect([await condition(), (await attempts())[0]]).toEqual(['True', '1 ready'])
      await scene.pass(10_000)
      expect((await scene.condition('web', 'Ready'))?.status).toBe('True')
      // Nothing was tried in the sandbox that was gone.
      expect((await scene.events()).filter(({ reason }) => reason === 'Failed')).toEqual([])
    },
  )

  it('while an init container runs', async () => {
    await start()
    await scene.run('web', { initContainers: [{ name: 'load', image: 'app:1' }] }, { 'coxswain.dev/simulate-exit-after.load': '1m' })
    await scene.pass(30_000)
    breaks({ stage: 'sandbox-crash', fail: true })
    await scene.pass(5000)
    expect((await attempts())[0]).toBe('1 ready')
    await scene.pass(120_000)
    expect((await scene.condition('web', 'Ready'))?.status).toBe('True')
  })

  it('while its pod is being deleted, which is over then', async () => {
    await start()
    await scene.run('web', { terminationGracePeriodSeconds: 600 }, { 'coxswain.dev/simulate-stop-after': '10m' })
    await scene.pass(30_000)
    await scene.client.delete(pods, 'default', 'web')
    await scene.pass(5000)
    expect((await scene.runtime.listPodSandboxes()).map(({ state }) => state)).toEqual(['ready'])
    breaks({ stage: 'sandbox-crash', fail: true })
    await scene.pass(5000)
    expect((await scene.runtime.listPodSandboxes()).filter(({ state }) => state === 'ready')).toEqual([])
    await scene.pass(30_000)
    await expect(scene.client.get(pods, 'default', 'web')).rejects.toThrow('not found')
  })

  it('again and again, and still leaves time for other things', async () => {
    await start()
    breaks({ stage: 'sandbox-crash', fail: true, times: 5 })
    await scene.run('web')
    await scene.pass(300_000)
    expect((await attempts())[0]).toBe('5 ready')
  })

  it('by an annotation of its pod, and also if the agent was away', async () => {
    await start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-sandbox-crash-after': '1m' })
    await scene.kill()
    await scene.pass(120_000)
    await scene.startAgent()
    await scene.pass(5000)
    expect((await attempts())[0]).toBe('1 ready')
  })

  it('only of pods that are meant', async () => {
    await start()
    await scene.run('web')
    await scene.run('other')
    breaks({ stage: 'sandbox-crash', fail: true, pods: { name: 'web' } })
    await scene.pass(10_000)
    const sandboxes = await scene.runtime.listPodSandboxes()
    expect(sandboxes.filter(({ metadata }) => metadata.name === 'other').map(({ state }) => state)).toEqual(['ready'])
    expect(sandboxes.filter(({ metadata }) => metadata.name === 'web')).toHaveLength(2)
  })
})

describe('a csi fault', () => {
  const deadline = (driver: string) => `driver ${driver}: rpc error: code = DeadlineExceeded desc = context deadline exceeded`
  const volume = async (name: string, driver: string | undefined) => {
    const source = driver ? { csi: { driver, volumeHandle: name } } : { hostPath: { path: `/${name}` } }
    const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
    await scene.client.create(persistentvolumes, { metadata: { name }, spec: { ...shared, capacity: { storage: '1Gi' }, ...source } })
    await scene.client.create(persistentvolumeclaims, { metadata: { name, namespace: 'default' }, spec: { ...shared, resources: { requests: { storage: '1Gi' } }, volumeName: name } })
    await scene.client.patch(persistentvolumeclaims, 'default', name, { status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
  }
  const claims = (...names: string[]) => ({ volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })) })

  it('names the volume of its driver', async () => {
    await start()
    await volume('slow', 'disks.example.com')
    await volume('fast', 'files.example.com')
    breaks({ stage: 'csi', driver: 'files.*', fail: true })
    await scene.run('web', claims('slow', 'fast'))
    await scene.pass(5000)
    expect(await condition()).toBe(`False VolumeMountFailed MountVolume.SetUp failed for volume "fast" : ${deadline('files.example.com')}`)
    breaks()
    await scene.pass(60_000)
    expect(await condition()).toBe('True')
  })

  it.each([['no volumes', {}], ['only what the node makes itself', { volumes: [{ name: 'scratch', emptyDir: {} }] }]])('leaves a pod alone that has %s', async (_, spec) => {
    await start()
    breaks({ stage: 'csi', fail: true })
    await scene.run('web', spec)
    await scene.pass(2000)
    expect(await condition()).toBe('True')
  })

  it('leaves a pod alone whose volume is a path that somebody has made', async () => {
    await start()
    await volume('path', undefined)
    breaks({ stage: 'csi', fail: true })
    await scene.run('web', claims('path'))
    await scene.pass(2000)
    expect(await condition()).toBe('True')
  })

  it('meets a volume that the pod has from a driver without a claim', async () => {
    await start()
    breaks({ stage: 'csi', fail: true })
    await scene.run('web', { volumes: [{ name: 'secrets', csi: { driver: 'vault.example.com' } }] })
    await scene.pass(2000)
    expect(await condition()).toBe(`False VolumeMountFailed MountVolume.SetUp failed for volume "secrets" : ${deadline('vault.example.com')}`)
  })

  it('does not meet a pod that runs, also when the agent restarts', async () => {
    await start()
    await volume('slow', 'disks.example.com')
    await scene.run('web', claims('slow'))
    breaks({ stage: 'csi', fail: true }, { stage: 'volumes', fail: true })
    await scene.kill()
    await scene.startAgent()
    await scene.pass(5000)
    expect(await condition()).toBe('True')
  })
})

describe('after a reboot the volumes are mounted again', () => {
  const spec = { volumes: [{ name: 'secrets', csi: { driver: 'vault.example.com' } }] }
  it.each<[string, () => Promise<void>]>([
    ['if the runtime has forgotten all, under the same agent', async () => {
      scene.runtime.reboot()
      await scene.pass(61_000)
    }],
    ['if the runtime still has the dead sandbox', async () => {
      await scene.kill()
      scene.runtime.crashSandbox((await scene.runtime.listPodSandboxes())[0]!.id)
      await scene.startAgent()
    }],
    ['if the runtime has forgotten all', async () => {
      await scene.kill()
      scene.runtime.reboot()
      await scene.startAgent()
    }],
  ])('%s', async (_, reboot) => {
    await start()
    await scene.run('web', spec)
    breaks({ stage: 'csi', fail: 'no disk' })
    await reboot()
    await scene.pass(5000)
    expect(await condition()).toBe('False VolumeMountFailed MountVolume.SetUp failed for volume "secrets" : no disk')
    breaks()
    await scene.pass(120_000)
    expect(await condition()).toBe('True')
  })
})
