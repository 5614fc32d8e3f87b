import { afterEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import {
  type Draft, configmaps, persistentvolumeclaims, persistentvolumes, pods, runtimeclasses, secrets,
} from '../../../src/client/index.ts'
import { type Fault, type Stage, localDisk, noDisk } from '../../../src/node/index.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

// The reason in PodReadyToStartContainers while a pod has no sandbox.

let scene: NodeScene
afterEach(() => scene?.stop())

const startMs = Date.parse('2026-01-01T12:00:00Z')
const at = (time: string) => scene.passTo(`2026-01-01T12:${time}Z`)

/** The present faults by stage. */
const broken = new Map<Stage, Fault>()
const breaks = (stage: Stage, fault: Fault): void => void broken.set(stage, fault)

async function start(options: NodeSceneOptions = {}): Promise<void> {
  broken.clear()
  scene = await NodeScene.start({ startMs, ...options, faults: { at: (stage) => broken.get(stage) } })
}

/** `False VolumeMountFailed: words`; without what is not said. */
const said = async (name = 'web'): Promise<string> => {
  const { status, reason, message } = (await scene.condition(name, 'PodReadyToStartContainers')) ?? {}
  return [status, reason && `${reason}:`, message].filter(Boolean).join(' ')
}
const since = async (): Promise<string | null | undefined> =>
  (await scene.condition('web', 'PodReadyToStartContainers'))?.lastTransitionTime

const metadata = (name: string) => ({ name, namespace: 'default' })
const claimSpec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } }
const csi = { driver: 'csi.example.com', volumeHandle: 'v' }
const volumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, csi }
const makeVolume = () =>
  scene.client.create(persistentvolumes, { metadata: { name: 'pv' }, spec: volumeSpec })
const bindClaim = () => {
  const bound = { status: { phase: 'Bound' } }
  return scene.client.patch(persistentvolumeclaims, 'default', 'data', bound, { type: 'merge', subresource: 'status' })
}
const makeClaim = async (volumeName?: string) => {
  const spec = { ...claimSpec, ...(volumeName ? { volumeName } : {}) }
  await scene.client.create(persistentvolumeclaims, { metadata: metadata('data'), spec })
  if (volumeName) await bindClaim()
}

/** A pod that stays in the API when its node is done with it. */
const deleteAndKeep = async () => {
  const kept = { metadata: { finalizers: ['example.com/stay'] } }
  await scene.client.patch(pods, 'default', 'web', kept, { type: 'merge' })
  await scene.client.delete(pods, 'default', 'web')
}

const mount = (volume: string, why: string) => `MountVolume.SetUp failed for volume "${volume}" : ${why}`
const claimed = (why: string) => mount('data', `error processing PVC default/data: ${why}`)
const config = { volumes: [{ name: 'settings', configMap: { name: 'app' } }] }
const keys = { volumes: [{ name: 'keys', secret: { secretName: 'app', items: [{ key: 'token', path: 'token' }] } }] }
const scratch = { name: 'scratch', emptyDir: {} }
const data = { volumes: [scratch, { name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }
const deadline = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'

interface Story {
  spec?: Partial<Draft<Pod['spec']>>
  before?: () => Promise<unknown>
  says: string
  mend: () => unknown
}

const stories: Record<string, Story> = {
  'a config map is missing': {
    spec: config,
    says: `ConfigMapNotFound: ${mount('settings', 'configmap "app" not found')}`,
    mend: () => scene.client.create(configmaps, { metadata: metadata('app'), data: {} }),
  },
  'a key of a config map is missing': {
    spec: { volumes: [{ name: 'settings', configMap: { name: 'app', items: [{ key: 'a', path: 'a' }] } }] },
    before: () => scene.client.create(configmaps, { metadata: metadata('app'), data: {} }),
    says: `ConfigMapKeyNotFound: ${mount('settings', 'configmap references non-existent config key: a')}`,
    mend: () => scene.client.patch(configmaps, 'default', 'app', { data: { a: 'b' } }, { type: 'merge' }),
  },
  'a secret is missing': {
    spec: keys,
    says: `SecretNotFound: ${mount('keys', 'secret "app" not found')}`,
    mend: () => scene.client.create(secrets, { metadata: metadata('app'), data: { token: '' } }),
  },
  'a key of a secret is missing': {
    spec: keys,
    before: () => scene.client.create(secrets, { metadata: metadata('app'), data: {} }),
    says: `SecretKeyNotFound: ${mount('keys', 'references non-existent secret key: token')}`,
    mend: () => scene.client.patch(secrets, 'default', 'app', { data: { token: '' } }, { type: 'merge' }),
  },
  'a source of a projected volume is missing': {
    spec: {
      volumes: [{ name: 'all', projected: { sources: [{ downwardAPI: { items: [] } }, { secret: { name: 'app' } }] } }],
    },
    says: `SecretNotFound: ${mount('all', 'secret "app" not found')}`,
    mend: () => scene.client.create(secrets, { metadata: metadata('app'), data: {} }),
  },
  'a claim is missing': {
    spec: data,
    before: makeVolume,
    says: `ClaimNotFound: ${claimed('failed to fetch PVC from API server: persistentvolumeclaims "data" not found')}`,
    mend: () => makeClaim('pv'),
  },
  'a claim is not bound': {
    spec: data,
    before: () => Promise.all([makeVolume(), makeClaim()]),
    says: `ClaimNotBound: ${claimed('PVC is not bound')}`,
    mend: async () => {
      const spec = { volumeName: 'pv' }
      await scene.client.patch(persistentvolumeclaims, 'default', 'data', { spec }, { type: 'merge' })
      await bindClaim()
    },
  },
  'a volume is gone': {
    spec: data,
    before: () => makeClaim('pv'),
    says: `VolumeMountFailed: ${claimed('failed to fetch PV pv from API server: persistentvolumes "pv" not found')}`,
    mend: makeVolume,
  },
  'a driver fails: the volume that it mounts is named': {
    spec: data,
    before: async () => {
      await makeVolume()
      await makeClaim('pv')
      breaks('volumes', { fail: deadline })
    },
    says: `VolumeMountFailed: ${mount('data', deadline)}`,
    mend: () => broken.clear(),
  },
  'a driver fails, and the pod has no volumes': {
    before: async () => breaks('volumes', { fail: deadline }),
    says: `VolumeMountFailed: Unable to attach or mount volumes: ${deadline}`,
    mend: () => broken.clear(),
  },
  'there is no address': {
    before: async () => breaks('network', { fail: 'no IP addresses available in range set' }),
    says: 'NetworkNotReady: Failed to create pod sandbox: no IP addresses available in range set',
    mend: () => broken.clear(),
  },
  'the runtime fails': {
    before: async () => breaks('sandbox', { fail: 'no such handler' }),
    says: 'SandboxCreateFailed: Failed to create pod sandbox: no such handler',
    mend: () => broken.clear(),
  },
}

describe('a pod without a sandbox says why until it is mended, and costs no patch meanwhile:', () => {
  it.each(Object.entries(stories))('%s', async (_, { spec = {}, before = async () => {}, says, mend }) => {
    await start()
    await before()
    await scene.run('web', spec)
    expect(await said()).toBe(`False ${says}`)
    const patches = scene.link.patches('web').length
    const takenAt = await since()
    await at('20:00')
    expect([await said(), await since(), scene.link.patches('web').length]).toEqual([`False ${says}`, takenAt, patches])
    await mend()
    // Nobody tells the node of a driver that works again: it tries after two minutes at the latest.
    await at('22:03')
    expect(await said()).toBe('True')
    expect(await since()).not.toBe(takenAt)
    const order = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
    expect((await scene.pod('web')).status?.conditions?.map((c) => c.type)).toEqual(order)
  })
})

it('a runtime class that goes is the fault of the sandbox', async () => {
  await start()
  await scene.client.create(runtimeclasses, { metadata: { name: 'microvm' }, handler: 'microvm' })
  await scene.createPod('web', { runtimeClassName: 'microvm' })
  await scene.client.delete(runtimeclasses, '', 'microvm')
  await scene.bind('web')
  await at('01:00')
  const why = 'failed to get sandbox runtime: RuntimeClass "microvm" not found'
  expect(await said()).toBe(`False SandboxCreateFailed: Failed to create pod sandbox: ${why}`)
})

it('a path of the host that is not what it is to be is the fault of its volume', async () => {
  await start({ disk: { ...noDisk, prepareHostPath: localDisk.prepareHostPath } })
  const hostPath = { path: '/nowhere/at/all', type: 'Directory' }
  await scene.createPod('web', { volumes: [{ name: 'host', hostPath }] })
  await scene.bind('web')
  const why = mount('host', 'hostPath type check failed: /nowhere/at/all is not a directory')
  await expect.poll(async () => (await scene.pass(1000), await said())).toBe(`False VolumeMountFailed: ${why}`)
})

it('what failed is over as soon as the next attempt has come further', async () => {
  await start()
  breaks('sandbox', { delayMs: 30_000 })
  await scene.run('web', config)
  await at('01:00')
  expect(await said()).toContain('False ConfigMapNotFound')
  const takenAt = await since()
  await scene.client.create(configmaps, { metadata: metadata('app'), data: {} })
  await at('01:01')
  expect([await said(), await since()]).toEqual(['False', takenAt])
  await at('01:31')
  expect([await said(), await since()]).toEqual(['True', '2026-01-01T12:01:30Z'])
})

it('another failure takes the place of the one before', async () => {
  await start()
  breaks('network', { fail: 'no address' })
  await scene.run('web', config)
  const takenAt = await since()
  await scene.client.create(configmaps, { metadata: metadata('app'), data: {} })
  await at('00:30')
  expect(await said()).toBe('False NetworkNotReady: Failed to create pod sandbox: no address')
  expect(await since()).toBe(takenAt)
  broken.clear()
  breaks('sandbox', { fail: 'no memory' })
  await at('01:00')
  expect(await said()).toBe('False SandboxCreateFailed: Failed to create pod sandbox: no memory')
  expect(await since()).toBe(takenAt)
})

describe('a sandbox that was there', () => {
  const changed = 'False SandboxChanged: Pod sandbox changed, it will be killed and re-created.'
  const lost = 'False SandboxLost: The runtime does not have the pod sandbox any more, it will be re-created.'

  it('and has crashed is made anew', async () => {
    await start()
    await scene.run('web')
    breaks('sandbox', { delayMs: 30_000 })
    scene.runtime.crashSandbox((await scene.runtime.listPodSandboxes())[0]!.id)
    await at('00:20')
    expect(await said()).toBe(changed)
    await at('00:31')
    expect(await said()).toBe('True')
  })

  it('and is gone with the machine is made anew', async () => {
    await start()
    await scene.run('web')
    await scene.kill()
    scene.runtime.reboot()
    breaks('sandbox', { delayMs: 30_000 })
    await scene.startAgent()
    for (const time of ['00:01', '00:20']) {
      await at(time)
      expect(await said()).toBe(lost)
    }
    await at('00:31')
    expect(await said()).toBe('True')
  })

  it('and cannot be made anew says why, and then again that it is lost', async () => {
    await start()
    await scene.run('web')
    await scene.kill()
    scene.runtime.reboot()
    breaks('volumes', { fail: 'no disk' })
    await scene.startAgent()
    await at('00:10')
    expect(await said()).toBe('False VolumeMountFailed: Unable to attach or mount volumes: no disk')
    broken.clear()
    breaks('sandbox', { delayMs: 300_000 })
    await at('02:10')
    expect(await said()).toBe(lost)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['of a pod that has finished', () => scene.run('web', { restartPolicy: 'Never' })],
    ['of a pod that is deleted', async () => {
      await scene.run('web', {}, { 'coxswain.dev/simulate-stop-after': '1s' })
      await deleteAndKeep()
    }],
  ])('%s is no failure', async (_, end) => {
    await start()
    await end()
    await at('00:30')
    expect(await said()).toBe('False')
  })
})

it('a pod that is deleted before it had a sandbox waits for nothing any more', async () => {
  await start()
  await scene.run('web', config)
  await deleteAndKeep()
  await at('00:05')
  expect(await said()).toBe('False')
})

it('a pod that runs is not touched by a config map that goes, and is made anew without it', async () => {
  await start()
  await scene.client.create(configmaps, { metadata: metadata('app'), data: {} })
  await scene.run('web', config)
  await scene.client.delete(configmaps, 'default', 'app')
  await at('01:00')
  expect(await said()).toBe('True')
  breaks('sandbox', { delayMs: 30_000 })
  scene.runtime.crashSandbox((await scene.runtime.listPodSandboxes())[0]!.id)
  await at('01:10')
  expect(await said()).toContain('False SandboxChanged')
})
