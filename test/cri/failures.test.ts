import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { linuxSandbox } from '../../src/node/pods/config/linux-security.ts'
import { containerConfig, sandboxConfig } from '../../src/node/runtimes/conformance/configs.ts'
import { CriRuntime } from '../../src/node/runtimes/cri/index.ts'
import { samplePod } from '../../src/node/sample-pod.ts'
import { Machine, isCgroupV2, podOf } from './machine.ts'

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start('--runtime-request-timeout', '3s')
  await machine.create(podOf('web'))
  await machine.ready('web')
})
afterAll(() => machine.remove())

const identity = () => machine.field('web', '{.metadata.uid},{.status.containerStatuses[0].containerID},{.status.containerStatuses[0].restartCount}')
const sandboxOf = async (pod: string) => {
  const [id = ''] = (await machine.containerd.ctr('containers', 'ls', '-q', `labels."io.kubernetes.pod.name"==${pod},labels."io.cri-containerd.kind"==sandbox`)).trim().split('\n')
  return id
}
const runtimeOfNode = () =>
  CriRuntime.open({ endpoint: machine.containerd.endpoint, owner: machine.owner, directory: `${machine.containerd.directory}/other`, clock: systemClock, logger: silentLogger })
const restarted = (pod: string, count: number) => machine.kubectl.ok(`wait --for=jsonpath={.status.containerStatuses[0].restartCount}=${count} pod/${pod} --timeout=60s`)

/** Times of conditions have whole seconds. */
const nextSecond = async (since: string) => {
  await expect.poll(() => new Date().toISOString().slice(0, 19), { interval: 100, timeout: 5000 }).not.toBe(since.slice(0, 19))
}

describe('kill -9', () => {
  it('of the agent: pods go on and are found again; a sandbox without a pod is ended', async () => {
    const before = await identity()
    await machine.server.stop('SIGKILL')
    const runtime = await runtimeOfNode()
    const orphan = await runtime.runPodSandbox(sandboxConfig('orphan', `${machine.containerd.directory}/logs`), '', new AbortController().signal)
    await machine.start()
    await expect.poll(() => runtime.podSandboxStatus(orphan).then(({ state }) => state, () => 'gone'), { timeout: 40_000 }).toBe('gone')
    await runtime.close()
    await machine.ready('web')
    expect(await identity()).toBe(before)
    expect(await machine.kubectl.ok('exec web -- echo here')).toBe('here\n')
  })

  it('of containerd: pods go on, the node says that it is not ready, and goes on with the next one', async () => {
    const before = await identity()
    await machine.containerd.kill()
    await machine.kubectl.ok('wait --for=condition=Ready=false node/here --timeout=60s')
    expect(await machine.kubectl.ok('get node here -o \'jsonpath={.status.conditions[?(@.type=="Ready")].message}\'')).toMatch(/^container runtime is not ready: RuntimeReady=false reason:ContainerRuntimeDown /)
    expect(await machine.field('web', '{.status.phase}')).toBe('Running')
    await machine.create(podOf('later'))
    await machine.containerd.launch()
    await machine.kubectl.ok('wait --for=condition=Ready node/here --timeout=60s')
    await machine.ready('later')
    expect(await identity()).toBe(before)
    expect(await machine.kubectl.ok('logs web')).toBe('began\n')
    await machine.kubectl.ok('delete pod later --now --timeout=60s')
  })

  it('of a shim: the pod gets another sandbox', async () => {
    const before = await sandboxOf('web')
    const since = await machine.sandboxSince('web')
    await nextSecond(since)
    for (const pid of machine.containerd.shims(before)) process.kill(pid, 'SIGKILL')
    await restarted('web', 1)
    await machine.ready('web')
    expect(await machine.says('web')).toBe('True,,')
    expect((await machine.sandboxSince('web')) > since).toBe(true)
    expect(await machine.field('web', '{.status.containerStatuses[0].lastState.terminated.exitCode}')).toMatch(/^(137|255)$/)
  })

  it('of the process that holds the namespaces: what outlived it is ended', async () => {
    await machine.create(podOf('hollow'))
    await machine.ready('hollow')
    const container = (await machine.field('hollow', '{.status.containerStatuses[0].containerID}')).replace('containerd://', '')
    await machine.containerd.ctr('tasks', 'kill', '--signal', 'SIGKILL', await sandboxOf('hollow'))
    await restarted('hollow', 1)
    await machine.ready('hollow')
    expect(await machine.containerd.ctr('tasks', 'ls', '-q')).not.toContain(container)
    expect(await machine.kubectl.ok('get events --field-selector involvedObject.name=hollow,reason=Killing -o name')).not.toBe('')
  })
})

it('a machine that was started anew gives its pods new sandboxes', async () => {
  const [uid] = (await identity()).split(',')
  const count = Number(await machine.field('web', '{.status.containerStatuses[0].restartCount}'))
  const since = await machine.sandboxSince('web')
  await nextSecond(since)
  await machine.server.stop('SIGKILL')
  await machine.containerd.reboot()
  await machine.start()
  await restarted('web', count + 1)
  await machine.ready('web')
  expect((await identity()).startsWith(`${uid},`)).toBe(true)
  expect((await machine.sandboxSince('web')) > since).toBe(true)
  expect(await machine.says('web')).toBe('True,,')
})

describe('a network plug-in', () => {
  it('that fails: the condition has its words, and the pod starts when it is mended', async () => {
    machine.network('fail')
    await machine.create(podOf('refused'))
    await expect.poll(() => machine.says('refused'), { timeout: 40_000 }).toMatch(
      /^False,NetworkNotReady,Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ID": .*no address is left in the pool$/)
    expect(await machine.field('refused', '{.status.containerStatuses[0].state.waiting.reason}')).toBe('ContainerCreating')
    machine.network('well')
    await machine.ready('refused')
    expect(await machine.says('refused')).toBe('True,,')
  })

  it('that hangs: the attempt is given up, and told', async () => {
    machine.network('hang')
    await machine.create(podOf('stuck'))
    await expect.poll(() => machine.says('stuck'), { timeout: 40_000 }).toMatch(/^False,(SandboxCreateFailed|NetworkNotReady),Failed to create pod sandbox: rpc error: code = DeadlineExceeded /)
    machine.network('well')
    await machine.ready('stuck')
  })

  it('that is late: the condition is True once there is an address, before any container starts', async () => {
    machine.network('late')
    await machine.create(podOf('late'))
    await expect.poll(() => machine.says('late'), { timeout: 40_000 }).toBe('False,,')
    await machine.ready('late')
    machine.network('well')
    const [began = '', network = '', container = ''] = (await machine.field('late',
      '{.status.startTime},{.status.conditions[?(@.type=="PodReadyToStartContainers")].lastTransitionTime},{.status.containerStatuses[0].state.running.startedAt}')).split(',')
    expect(Date.parse(network) - Date.parse(began)).toBeGreaterThanOrEqual(3000)
    expect(Date.parse(container)).toBeGreaterThanOrEqual(Date.parse(network))
  })
})

describe('what a pod had besides its sandbox is removed', () => {
  const owner = 'left'
  const directory = () => `${machine.containerd.directory}/left`
  const tools = () => ({ endpoint: machine.containerd.endpoint, owner, clock: systemClock, logger: silentLogger })
  const open = () => CriRuntime.open({ ...tools(), directory: directory(), cgroupTree: 'coxswain-left' })
  const cgroups = () => {
    const tree = `/sys/fs/cgroup/${isCgroupV2 ? '' : 'memory/'}coxswain-left/besteffort`
    return (existsSync(tree) ? readdirSync(tree) : []).filter((name) => name.startsWith('pod'))
  }
  const mounts = () => readFileSync('/proc/self/mounts', 'utf8').split('\n').filter((line) => line.includes(`${directory()}/`))
  /** Runs a pod with a part of a volume, and resolves with its sandbox. */
  async function run(runtime: CriRuntime, name: string): Promise<string> {
    const labels = { 'io.kubernetes.pod.uid': `uid-of-${name}` }
    const config = sandboxConfig(name, `${directory()}/logs`, { linux: linuxSandbox(samplePod()), labels })
    const id = await runtime.runPodSandbox(config, '', new AbortController().signal)
    mkdirSync(`${directory()}/volume`, { recursive: true })
    const mount = { containerPath: '/part', hostPath: `${directory()}/volume`, readOnly: false, propagation: 'private' as const, isSubPath: true }
    await runtime.createContainer(id, containerConfig('main', { mounts: [mount] }))
    expect([cgroups(), mounts().length]).toEqual([[`poduid-of-${name}`], 1])
    return id
  }
  /** Removes a sandbox as another program does. */
  async function removeByOther(id: string): Promise<void> {
    const other = await CriRuntime.open({ ...tools(), directory: `${machine.containerd.directory}/other` })
    await other.removePodSandbox(id)
    await other.close()
  }

  it('if another program removes the sandbox', async () => {
    const runtime = await open()
    await removeByOther(await run(runtime, 'taken'))
    await expect.poll(() => [cgroups(), mounts()], { timeout: 40_000 }).toEqual([[], []])
    await runtime.close()
  })

  it('at the next start, if no agent ran then', async () => {
    const before = await open()
    const id = await run(before, 'unseen')
    await before.close()
    await removeByOther(id)
    expect([cgroups().length, mounts().length]).toEqual([1, 1])
    const runtime = await open()
    expect([cgroups(), mounts()]).toEqual([[], []])
    await runtime.close()
  })
})

it('pods that are deleted leave nothing: no sandbox, no address, no cgroup', async () => {
  await machine.kubectl.ok('delete pods --all --now --timeout=60s')
  await expect.poll(async () => (await machine.containerd.ctr('containers', 'ls', '-q')).trim(), { timeout: 40_000 }).toBe('')
  expect(machine.containerd.addresses()).toEqual([])
  const tree = `${machine.cgroup('memory')}/besteffort`
  expect((existsSync(tree) ? readdirSync(tree) : []).filter((name) => name.startsWith('pod'))).toEqual([])
})
