import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { pods, secrets, serviceaccounts } from '../../../src/client/index.ts'
import { noDisk } from '../../../src/node/index.ts'
import { NodeScene, type NodeSceneOptions } from './scene.ts'

let scene: NodeScene
const start = async (options?: NodeSceneOptions) => (scene = await NodeScene.start(options))
afterEach(() => scene?.stop())

const app = { name: 'app', image: 'app:1' }
const statusOf = async (pod: string) => (await scene.pod(pod)).status?.containerStatuses?.[0]
const messages = async (reason: string) => (await scene.events(reason)).map((e) => e.message)

describe('hooks', () => {
  const exec = { exec: { command: ['warm-up'] } }

  it('after the start that fail end the container, and say why', async () => {
    await start()
    await scene.run('web', { restartPolicy: 'Never', containers: [{ ...app, lifecycle: { postStart: exec } }] }, { 'coxswain.dev/simulate-exec-exit-code': '2', 'coxswain.dev/simulate-exit-after': 'never' })
    expect(await messages('FailedPostStartHook')).toEqual(["PostStartHook failed: command 'warm-up' exited with 2: "])
    expect((await scene.pod('web')).status?.containerStatuses?.[0]?.state.terminated).toBeDefined()
  })

  it('after the start that go well do not show', async () => {
    await start()
    await scene.run('web', { containers: [{ ...app, lifecycle: { postStart: exec } }] })
    expect(await statusOf('web')).toMatchObject({ ready: true, restartCount: 0 })
  })

  it('before the end that fail are told, and keep nobody', async () => {
    await start()
    await scene.run('web', { containers: [{ ...app, lifecycle: { preStop: exec } }] }, { 'coxswain.dev/simulate-exec-exit-code': '2' })
    await scene.client.delete(pods, 'default', 'web')
    await scene.pass(1000)
    expect(await scene.exists('web')).toBe(false)
    expect(await messages('FailedPreStopHook')).toEqual(["PreStopHook failed: command 'warm-up' exited with 2: "])
  })
})

it('an ephemeral container runs beside the others, and is not started again', async () => {
  await start()
  await scene.run('web')
  const ephemeralContainers = [{ name: 'debugger', image: 'busybox', targetContainerName: 'app' }]
  await scene.client.patch(pods, 'default', 'web', { spec: { ephemeralContainers } }, { type: 'strategic', subresource: 'ephemeralcontainers' })
  await scene.pass(100)
  const debuggerStatus = async () => (await scene.pod('web')).status?.ephemeralContainerStatuses?.[0]
  expect(await debuggerStatus()).toMatchObject({ name: 'debugger', state: { running: {} }, ready: false })
  const { id } = (await scene.runtime.listContainers()).find((c) => c.metadata.name === 'debugger')!
  scene.runtime.exitContainer(id, 3)
  await scene.pass(60_000)
  expect(await debuggerStatus()).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 3 } } })
  expect((await scene.pod('web')).status?.phase).toBe('Running')
  expect(await statusOf('web')).toMatchObject({ ready: true, restartCount: 0 })
})

describe('images', () => {
  it('that must not be pulled have to be there', async () => {
    await start()
    await scene.run('web', { containers: [{ ...app, imagePullPolicy: 'Never' }] })
    expect((await statusOf('web'))?.state.waiting).toEqual({ reason: 'ErrImageNeverPull', message: 'Container image "app:1" is not present with pull policy of Never' })
  })

  it('whose name is invalid are not pulled', async () => {
    await start()
    const pull = vi.spyOn(scene.runtime, 'pullImage')
    await scene.run('web', { containers: [{ ...app, image: 'Shop/Web:1:2' }] })
    const message = `Failed to apply default image tag "Shop/Web:1:2": couldn't parse image name "Shop/Web:1:2": invalid reference format: repository name (Web) must be lowercase`
    expect((await statusOf('web'))?.state.waiting).toEqual({ reason: 'InvalidImageName', message })
    expect(pull).not.toHaveBeenCalled()
  })

  it("are pulled with what the pod's secrets hold", async () => {
    await start()
    const pull = vi.spyOn(scene.runtime, 'pullImage')
    const config = { auths: { 'index.docker.io': { auth: Buffer.from('ann:s3:cret').toString('base64') } } }
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify(config)).toString('base64') }
    await scene.client.create(secrets, { metadata: { name: 'registry', namespace: 'default' }, type: 'kubernetes.io/dockerconfigjson', data })
    await scene.run('web', { imagePullSecrets: [{ name: 'registry' }, { name: 'missing' }] })
    expect(pull.mock.calls[0]?.[0]).toEqual({ image: 'app:1', credential: { server: 'index.docker.io', username: 'ann', password: 's3:cret' } })
    expect((await statusOf('web'))?.ready).toBe(true)
  })
})

describe('a resize', () => {
  it('is pending until the container is created anew, and says so', async () => {
    await start()
    const resources = (cpu: string) => ({ requests: { cpu } })
    await scene.run('web', { containers: [{ ...app, resources: resources('1') }] })
    const spec = { containers: [{ name: app.name, resources: resources('2') }] }
    await scene.client.patch(pods, 'default', 'web', { spec }, { type: 'strategic', subresource: 'resize' })
    await scene.pass(3000)
    expect((await statusOf('web'))?.resources).toEqual(resources('1'))
    expect(await scene.condition('web', 'PodResizePending')).toMatchObject({ status: 'True', reason: 'Infeasible' })
    await scene.client.patch(pods, 'default', 'web', { spec: { containers: [{ name: app.name, image: 'app:2' }] } }, { type: 'strategic' })
    await scene.pass(60_000)
    expect((await statusOf('web'))?.resources).toEqual(resources('2'))
    expect(await scene.condition('web', 'PodResizePending')).toBeUndefined()
  })
})

describe('a simulated container', () => {
  it('that takes more memory than it may is killed for it', async () => {
    await start()
    const containers = [{ ...app, resources: { limits: { memory: '100Mi' } } }]
    await scene.run('web', { containers }, { 'coxswain.dev/simulate-memory': '200Mi' })
    await scene.pass(1500)
    const { lastState, state } = (await statusOf('web'))!
    expect(lastState.terminated ?? state.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' })
  })

  it('says what it is told to say, when it is told to', async () => {
    await start()
    await scene.run('web', {}, { 'coxswain.dev/simulate-log': 'tick\ntock', 'coxswain.dev/simulate-log-every': '10s' })
    await scene.pass(25_000)
    const wanted = { follow: false, previous: false, timestamps: false, tailLines: undefined, sinceMs: undefined, limitBytes: undefined, stream: 'All' } as const
    const read = async (more: object) => text(await scene.agent.access.logs('default', 'web', 'app', { ...wanted, ...more }, new AbortController().signal))
    expect(await read({})).toBe('tick\ntock\n'.repeat(3))
    expect(await read({ tailLines: 1 })).toBe('tock\n')
    expect(await read({ sinceMs: scene.clock.now() - 10_000 })).toBe('tick\ntock\n')
    expect(await read({ limitBytes: 3 })).toBe('tic')
    expect(await read({ timestamps: true, tailLines: 1 })).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z tock\n$/)
  })

  it('is followed until it ends', async () => {
    await start()
    await scene.run('web', { restartPolicy: 'Never' }, { 'coxswain.dev/simulate-log': 'tick', 'coxswain.dev/simulate-log-every': '1s', 'coxswain.dev/simulate-exit-after': '2500ms' })
    const wanted = { follow: true, previous: false, timestamps: false, tailLines: 1, sinceMs: undefined, limitBytes: undefined, stream: 'All' } as const
    const all = text(await scene.agent.access.logs('default', 'web', 'app', wanted, new AbortController().signal))
    await scene.pass(5000)
    expect(await all).toBe('tick\n'.repeat(3))
  })
})

describe('tokens of service accounts', () => {
  const asked = () => scene.link.sent.filter(({ path }) => path.endsWith('/serviceaccounts/default/token'))
  const volumes = [{ name: 'access', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 1000 } }] } }]

  it('are asked for in the name of the pod, and again before their time is over', async () => {
    await start({ disk: { ...noDisk, keepsFiles: true } })
    await scene.client.create(serviceaccounts, { metadata: { name: 'default', namespace: 'default' }, automountServiceAccountToken: false })
    const { metadata } = await scene.run('web', { volumes })
    expect(asked().map(({ body }) => (body as { spec: unknown }).spec)).toEqual([{ audiences: [], expirationSeconds: 1000, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: metadata.uid } }])
    await scene.pass(790_000)
    expect(asked()).toHaveLength(1)
    await scene.pass(20_000)
    expect(asked()).toHaveLength(2)
    await scene.client.delete(pods, 'default', 'web')
    await scene.pass(2_000_000)
    expect(asked()).toHaveLength(2)
  })

  it('are not asked for where nobody could read them', async () => {
    await start()
    await scene.run('web', { volumes })
    expect([asked(), (await statusOf('web'))?.ready]).toEqual([[], true])
  })
})
