import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { Logger, silentLogger } from '../../src/base/logger.ts'
import { ImageCollector } from '../../src/node/images/image-collector.ts'
import { containerConfig, sandboxConfig } from '../../src/node/runtimes/conformance/configs.ts'
import { CriRuntime } from '../../src/node/runtimes/cri/index.ts'
import { LogRotation } from '../../src/node/runtimes/cri/log-rotation.ts'
import { makeImage } from './images.ts'
import { Machine, podOf } from './machine.ts'

const cmd = ['sleep', '1000']
const secretImage = 'registry.test/crew/secret:1'

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start()
  const { registry } = machine.containerd
  registry.serve('crew/secret:1', makeImage({ cmd, env: ['SECRET=1'] }), 'anna:anchor')
  registry.serve('crew/named:1', makeImage({ cmd, user: 'web' }))
  await machine.kubectl.ok('create secret docker-registry login --docker-server=registry.test --docker-username=anna --docker-password=anchor')
  await machine.kubectl.ok('create secret docker-registry other --docker-server=elsewhere.test --docker-username=anna --docker-password=anchor')
})
afterAll(() => machine.remove())

const waiting = (pod: string) => machine.field(pod, '{.status.containerStatuses[0].state.waiting.reason}: {.status.containerStatuses[0].state.waiting.message}')
const events = (pod: string, reason: string) => machine.kubectl.ok(`get events --field-selector involvedObject.name=${pod},reason=${reason} -o jsonpath={.items[*].message}`)
const quick = { terminationGracePeriodSeconds: 0 }

describe('an image', () => {
  it('that is not there: the words and the back-off of kubelet, until it is there', async () => {
    await machine.create(podOf('absent', quick, { image: 'registry.test/crew/absent:1' }))
    await expect.poll(() => waiting('absent'), { timeout: 40_000 }).toMatch(/^ImagePullBackOff: Back-off pulling image "registry\.test\/crew\/absent:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image .* not found$/)
    expect(await events('absent', 'Failed')).toContain('Failed to pull image "registry.test/crew/absent:1": rpc error: code = NotFound')
    expect(await events('absent', 'BackOff')).toContain('Back-off pulling image "registry.test/crew/absent:1"')
    machine.containerd.registry.serve('crew/absent:1', makeImage({ cmd }))
    await machine.ready('absent')
    expect(await events('absent', 'Pulled')).toMatch(/Successfully pulled image "registry\.test\/crew\/absent:1" in \d+m?s .* Image size: \d+ bytes\./)
  })

  it('that asks for a login: only with the credentials of its registry', async () => {
    await machine.create(
      podOf('stranger', { ...quick, imagePullSecrets: [{ name: 'other' }] }, { image: secretImage }),
    )
    await expect.poll(() => waiting('stranger'), { timeout: 40_000 }).toMatch(/^(ErrImagePull|ImagePullBackOff): .*(401|authorization failed|unauthorized)/i)
    await machine.create(podOf('anna', { ...quick, imagePullSecrets: [{ name: 'other' }, { name: 'login' }] }, { image: secretImage }))
    await machine.ready('anna')
    expect(await machine.kubectl.ok('exec anna -- env')).toContain('SECRET=1')
  })

  it('that was pulled with a login is for those who have it, also after the agent was started anew', async () => {
    await machine.server.stop('SIGKILL')
    await machine.start()
    await machine.create(
      podOf('thief', quick, { image: secretImage, imagePullPolicy: 'IfNotPresent' }),
      podOf('miser', quick, { image: secretImage, imagePullPolicy: 'Never' }),
      podOf('guest', { ...quick, imagePullSecrets: [{ name: 'login' }] }, { image: secretImage, imagePullPolicy: 'Never' }),
    )
    await machine.ready('guest')
    await expect.poll(() => waiting('thief'), { timeout: 40_000 }).toMatch(/^(ErrImagePull|ImagePullBackOff): .*(401|authorization failed|unauthorized)/i)
    await expect.poll(() => waiting('miser'), { timeout: 40_000 }).toContain('ErrImageNeverPull')
    expect(await events('guest', 'Pulled')).toContain('already present on machine and can be accessed by the pod')
  })

  it('is pulled as its policy says', async () => {
    const pulls = () => machine.containerd.registry.requests.filter((line) => line.startsWith('HEAD') && line.includes('crew/named')).length
    await machine.create(podOf('never', quick, { image: 'registry.test/crew/named:1', imagePullPolicy: 'Never' }))
    await expect.poll(() => waiting('never'), { timeout: 40_000 }).toBe('ErrImageNeverPull: Container image "registry.test/crew/named:1" is not present with pull policy of Never')
    expect(pulls()).toBe(0)
    await machine.create(podOf('once', quick, { image: 'registry.test/crew/named:1', imagePullPolicy: 'IfNotPresent' }))
    await machine.ready('once')
    const after = pulls()
    await machine.create(podOf('present', quick, { image: 'registry.test/crew/named:1', imagePullPolicy: 'IfNotPresent' }))
    await machine.ready('present')
    expect(pulls()).toBe(after)
    await machine.create(podOf('always', quick, { image: 'registry.test/crew/named:1', imagePullPolicy: 'Always' }))
    await machine.ready('always')
    expect(pulls()).toBeGreaterThan(after)
  })

  it('that names its user by a word cannot be known not to be root', async () => {
    expect(await machine.kubectl.ok('exec once -- id -un')).toBe('web\n')
    await machine.create(podOf('worded', { ...quick, securityContext: { runAsNonRoot: true } }, { image: 'registry.test/crew/named:1' }))
    await expect.poll(() => waiting('worded'), { timeout: 40_000 }).toContain('container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root')
  })
})

describe('on the runtime itself', () => {
  let runtime: CriRuntime
  beforeAll(async () => {
    runtime = await CriRuntime.open({ endpoint: machine.containerd.endpoint, owner: 'images', directory: `${machine.containerd.directory}/images`, clock: systemClock, logger: silentLogger })
  })
  afterAll(() => runtime.close())

  it('images that nobody uses go when the disk is nearly full, and no others', async () => {
    machine.containerd.registry.serve('crew/idle:1', makeImage({ cmd, env: ['IDLE=1'] }))
    await runtime.pullImage({ image: 'registry.test/crew/idle:1' }, new AbortController().signal)
    const lines: string[] = []
    let nowMs = Date.now()
    const clock = { ...systemClock, now: () => nowMs, after: systemClock.after.bind(systemClock) }
    const collector = new ImageCollector({
      runtime, clock, logger: new Logger((line) => lines.push(line)),
      event: (_type, _reason, message) => lines.push(message),
      disk: async () => ({ capacity: 1000 << 20, available: 100 << 20 }),
    })
    expect(await collector.look()).toEqual([])
    nowMs += 180_000
    expect(await runtime.imageStatus('registry.test/crew/idle:1')).toBeDefined()
    await collector.look()
    expect(await runtime.imageStatus('registry.test/crew/idle:1')).toBeUndefined()
    // Pods of another node use it: the tests' own.
    expect(await runtime.imageStatus('registry.test/crew/named:1')).toBeDefined()
    expect(await runtime.imageStatus('registry.k8s.io/pause:3.10')).toBeDefined()
    expect(lines.join('\n')).toContain('Failed to garbage collect required amount of images.')
    expect(await runtime.imageDirectory()).toContain(machine.containerd.directory)
  })

  it('a log that has grown is continued in another file, and nothing is lost', async () => {
    const logs = `${machine.containerd.directory}/rotated`
    await runtime.pullImage({ image: 'busybox:1.36' }, new AbortController().signal)
    const sandbox = await runtime.runPodSandbox(sandboxConfig('talks', logs), '', new AbortController().signal)
    const id = await runtime.createContainer(sandbox, containerConfig('main', { command: ['sh', '-c', 'i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); [ $((i % 1000)) = 0 ] && sleep 0.2; done; sleep 1000'] }))
    await runtime.startContainer(id)
    const { logPath } = await runtime.containerStatus(id)
    const rotation = new LogRotation({
      clock: systemClock, logger: silentLogger, sizeLimit: 10_000,
      running: () => [[id, logPath]],
      reopen: (container) => runtime.reopenLog(container),
    })
    await expect.poll(async () => {
      await rotation.look()
      return existsSync(`${logPath}.3`)
    }, { timeout: 40_000, interval: 100 }).toBe(true)
    const text = () => readdirSync(`${logs}/main`).map((name) => readFileSync(`${logs}/main/${name}`, 'utf8')).join('')
    await expect.poll(() => new Set(text().match(/line \d+/g)).size, { timeout: 40_000 }).toBe(4000)
    await runtime.removePodSandbox(sandbox)
  })
})
