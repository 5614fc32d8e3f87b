import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../base/clock.ts'
import { networkProber } from '../../probes/network-prober.ts'
import { samplePod } from '../../sample-pod.ts'
import type { ContainerConfig, ContainerStatus, Runtime } from '../../runtime/runtime.ts'
import { containerConfig, sandboxConfig } from '../conformance/configs.ts'
import { isAlive, processStat } from './proc.ts'
import type { ProcessRuntime } from './process-runtime.ts'
import { bestView } from './best-view.ts'
import type { ViewKind } from './root-view.ts'
import { ProcessBench } from './testing.ts'

const bench = new ProcessBench()
const started: string[] = []
let count = 0

afterAll(async () => {
  await bench.end()
  expect(bench.processesLeft(started)).toEqual([])
  expect(existsSync(bench.directory)).toBe(false)
})

const { kind: view } = await bestView(bench.directory)
const logs = path.join(bench.directory, 'logs')
const shell = (script: string): Partial<ContainerConfig> => ({ command: ['sh', '-c', script] })

async function run(runtime: Runtime, rest: Partial<ContainerConfig>): Promise<{ sandbox: string; id: string; log: string }> {
  const name = `pod-${count++}`
  const sandbox = await runtime.runPodSandbox(sandboxConfig(name, path.join(logs, name)), '', new AbortController().signal)
  const id = await runtime.createContainer(sandbox, containerConfig('main', rest))
  started.push(id)
  await runtime.startContainer(id)
  return { sandbox, id, log: path.join(logs, name, 'main/0.log') }
}

const ended = (runtime: Runtime, id: string): Promise<ContainerStatus> =>
  vi.waitFor(async () => {
    const status = await runtime.containerStatus(id)
    expect(status.state).toBe('exited')
    return status
  }, { timeout: 10_000, interval: 5 })

/** The lines of a log without their times. */
const linesOf = (log: string) => readFileSync(log, 'utf8').trimEnd().split('\n').map((line) => line.slice(line.indexOf(' ') + 1))

const runtime = await bench.open()

describe('a process', () => {
  it.each([
    ['its own exit code', 'exit 3', 3],
    ['128 and the number of the signal that ended it', 'kill -TERM $$', 143],
    ['nothing wrong', 'true', 0],
  ])('ends with %s', async (_what, script, exitCode) => {
    const { id } = await run(runtime, shell(script))
    expect(await ended(runtime, id)).toMatchObject({ exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' })
  })

  it('has its output in its log, each line with time and stream', async () => {
    const { id, log } = await run(runtime, shell('echo one; echo two >&2; sleep 0.05; printf "no end"'))
    await ended(runtime, id)
    expect(readFileSync(log, 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z std/)
    expect(linesOf(log).sort()).toEqual(['stderr F two', 'stdout F no end', 'stdout F one'])
  })

  it('may write to /dev/stdout and /dev/stderr', async () => {
    const { id, log } = await run(runtime, shell('echo one > /dev/stdout; echo two > /dev/stderr'))
    expect((await ended(runtime, id)).exitCode).toBe(0)
    expect(linesOf(log).sort()).toEqual(['stderr F two', 'stdout F one'])
  })

  it('has a long line in parts', async () => {
    const { id, log } = await run(runtime, shell('head -c 20000 /dev/zero | tr "\\0" x; echo'))
    await ended(runtime, id)
    expect(linesOf(log).map((line) => line.slice(0, 8) + line.length)).toEqual(['stdout P16393', 'stdout F3625'])
  })

  it('has the environment that it was given, and its pod\'s name and address', async () => {
    const { id, sandbox, log } = await run(runtime, { ...shell('echo "$A $HOSTNAME $COXSWAIN_POD_IP"'), envs: [{ key: 'A', value: 'b c' }] })
    await ended(runtime, id)
    const { ips, metadata } = await runtime.podSandboxStatus(sandbox)
    expect(linesOf(log)).toEqual([`stdout F b c ${metadata.name} ${ips[0]}`])
  })

  it('is told to end, and killed when it does not listen', async () => {
    const polite = await run(runtime, shell('trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.01; done'))
    const deaf = await run(runtime, shell('trap "" TERM; echo up; while :; do sleep 0.01; done'))
    await vi.waitFor(() => expect([...linesOf(polite.log), ...linesOf(deaf.log)]).toEqual(['stdout F up', 'stdout F up']))
    await Promise.all([runtime.stopContainer(polite.id, 10), runtime.stopContainer(deaf.id, 0.1)])
    expect((await runtime.containerStatus(polite.id)).exitCode).toBe(5)
    expect(linesOf(polite.log)).toContain('stdout F bye')
    expect((await runtime.containerStatus(deaf.id)).exitCode).toBe(137)
  })

  it('takes with it what it has left behind, even what has left its session', async () => {
    const { id } = await run(runtime, shell('setsid sleep 1000 & sleep 1000 & sleep 0.05'))
    await ended(runtime, id)
    await vi.waitFor(() => expect(bench.processesLeft([id])).toEqual([]))
  })

  it('that is not on this machine does not start, and the container says why', async () => {
    const name = 'no-program'
    const sandbox = await runtime.runPodSandbox(sandboxConfig(name, path.join(logs, name)), '', new AbortController().signal)
    const id = await runtime.createContainer(sandbox, containerConfig('main', { command: ['no-such-program'] }))
    await expect(runtime.startContainer(id)).rejects.toThrow('exec: "no-such-program": executable file not found in $PATH')
    expect(await runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 128, reason: 'StartError', message: expect.stringContaining('no-such-program') })
  })
})

describe('a command in a container', () => {
  it('has its streams, its exit code and the container\'s environment', async () => {
    const { id } = await run(runtime, { envs: [{ key: 'A', value: 'b' }] })
    const { stdout, stderr, exitCode } = await runtime.execSync(id, ['sh', '-c', 'echo $A; echo err >&2; exit 4'], 10)
    expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['b\n', 'err\n', 4])
  })

  it('is killed when it takes too long', async () => {
    const { id } = await run(runtime, {})
    await expect(runtime.execSync(id, ['sleep', '100'], 0.1)).rejects.toMatchObject({ code: 'DeadlineExceeded' })
  })

  it('reads what it is sent', async () => {
    const { id } = await run(runtime, {})
    const attachment = await runtime.exec(id, { command: ['cat'], tty: false, stdin: true })
    attachment.stdin!.end('hello')
    expect([await text(attachment.stdout), await attachment.ended]).toEqual(['hello', 0])
  })

  it('has a terminal with a size, if it wants one', async () => {
    const { id } = await run(runtime, {})
    const script = 'trap : WINCH; test -t 1 && echo up; until test "$(stty size)" = "45 123"; do sleep 0.01; done; read x; echo $x; stty size; exit 3'
    const attachment = await runtime.exec(id, { command: ['sh', '-c', script], tty: true, stdin: true })
    const first = await new Promise<Buffer>((resolve) => attachment.stdout.once('data', resolve))
    attachment.stdout.pause()
    attachment.resize(123, 45)
    attachment.stdin!.write('typed\n')
    expect(first.toString() + (await text(attachment.stdout))).toMatch(/up\r\n(typed\r\n)+45 123/)
    expect([attachment.stderr, await attachment.ended]).toEqual([undefined, 3])
  })

  it('that is not there is not started', async () => {
    const { id } = await run(runtime, {})
    await expect(runtime.execSync(id, ['/no/such'], 10)).rejects.toThrow('exec: "/no/such": stat /no/such: no such file or directory')
  })

  it('may be the container\'s own, with what it reads and says', async () => {
    const { id, log } = await run(runtime, { command: ['cat'], stdin: true, stdinOnce: true })
    const attachment = await runtime.attach(id, { tty: false, stdin: true })
    attachment.stdin!.end('typed\n')
    expect([await text(attachment.stdout), await attachment.ended]).toEqual(['typed\n', 0])
    expect(linesOf(log)).toEqual(['stdout F typed'])
  })
})

describe('a placeholder', () => {
  it('holds the container open, answers HTTP at the pod\'s address, and ends well', async () => {
    const { id, sandbox, log } = await run(runtime, { image: 'some/app:1', command: [], ports: [{ name: 'http', containerPort: 18080, protocol: 'TCP' }] })
    const [ip] = (await runtime.podSandboxStatus(sandbox)).ips
    const response = await fetch(`http://${ip}:18080/`)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('a placeholder for image some/app:1')])
    const { readable, writable } = await runtime.connect(sandbox, 18080)
    writable.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(await text(readable)).toMatch(/^HTTP\/1.1 200 OK/)
    expect(linesOf(log)).toEqual([`stdout F placeholder: answers HTTP on ${ip}:18080`])
    await runtime.stopContainer(id, 10)
    expect((await runtime.containerStatus(id)).exitCode).toBe(0)
    await expect(runtime.connect(sandbox, 18080)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('shares its ports with other pods\'', async () => {
    const ports = [{ name: '', containerPort: 18081, protocol: 'TCP' }]
    const pods = await Promise.all([run(runtime, { image: 'a', command: [], ports }), run(runtime, { image: 'b', command: [], ports })])
    const texts = pods.map(async ({ sandbox }) => (await fetch(`http://${(await runtime.podSandboxStatus(sandbox)).ips[0]}:18081/`)).text())
    expect(await Promise.all(texts)).toEqual([expect.stringContaining('image a'), expect.stringContaining('image b')])
  })

  it('answers a gRPC health probe', async () => {
    const { sandbox, id } = await run(runtime, { image: 'some/app:1', command: [], ports: [{ name: '', containerPort: 18081, protocol: 'TCP' }] })
    const ip = (await runtime.podSandboxStatus(sandbox)).ips[0]!
    const pod = samplePod()
    const container = await runtime.containerStatus(id)
    const outcome = await networkProber(runtime, systemClock).probe('readiness', { grpc: { port: 18081, service: 'shop' } }, { pod, spec: pod.spec.containers[0]!, container, podIp: ip }, 2)
    expect(outcome).toEqual({ isSuccess: true, output: 'service healthy' })
    await runtime.removePodSandbox(sandbox)
  })

  it('ends like a server where it cannot have a port', async () => {
    const port = { name: '', containerPort: 18082, protocol: 'TCP' }
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(port.containerPort, '0.0.0.0', resolve))
    const { sandbox, id } = await run(runtime, { image: 'some/app:1', command: [], ports: [port] })
    expect(await ended(runtime, id)).toMatchObject({ exitCode: 1, reason: 'Error', message: expect.stringMatching(/^cannot answer on 127\.\S+:18082: EADDRINUSE$/) })
    await new Promise((resolve) => taken.close(resolve))
    await runtime.removePodSandbox(sandbox)
  })
})

describe('an image that the catalogue does not know', () => {
  const signal = new AbortController().signal

  it('is told of', async () => {
    const catalogue = [{ image: 'known', args: ['sh'] }]
    const other = await bench.open({ directory: path.join(bench.directory, 'unknown'), catalogue })
    expect([other.imageNote('known:1'), other.imageNote('unknown:1')]).toEqual([undefined, expect.stringContaining('"unknown:1" is not in the image catalogue')])
    await other.pullImage({ image: 'unknown:1' }, signal)
    await other.close()
    const strict = await bench.open({ directory: path.join(bench.directory, 'unknown'), catalogue, unknownImages: 'fail' })
    // It was pulled before: it is not there any more.
    expect(await strict.imageStatus('unknown:1')).toBeUndefined()
    await expect(strict.pullImage({ image: 'unknown:1' }, signal)).rejects.toThrow('docker.io/library/unknown:1: not found')
    expect(await strict.pullImage({ image: 'known:1' }, signal)).toMatch(/^sha256:/)
    await strict.close()
  })

})

describe.each((['own', 'links'] as ViewKind[]).filter((kind) => kind === 'links' || view === 'own'))('the view of a container with %s', (kind) => {
  const setUp = async () => {
    const runtime = await bench.open({ directory: path.join(bench.directory, `runtime-${kind}`), view: kind })
    const volume = path.join(bench.directory, `volume-${kind}`)
    mkdirSync(volume, { recursive: true })
    writeFileSync(path.join(volume, 'file'), 'content\n')
    writeFileSync(path.join(volume, 'run.sh'), '#!/bin/sh\ncat "$COXSWAIN_ROOT/etc/config/file"\n')
    chmodSync(path.join(volume, 'run.sh'), 0o755)
    const mounts = [{ containerPath: '/etc/config', hostPath: volume, readOnly: kind === 'own', propagation: 'private' as const }]
    return { runtime, mounts, volume }
  }

  it('shows its volumes below COXSWAIN_ROOT, and starts programs from them', async () => {
    const { runtime, mounts } = await setUp()
    const { id, log, sandbox } = await run(runtime, { command: ['/etc/config/run.sh'], mounts })
    expect((await ended(runtime, id)).exitCode).toBe(0)
    expect(linesOf(log)).toEqual(['stdout F content'])
    await runtime.removePodSandbox(sandbox)
  })

  it('starts in its working directory', async () => {
    const { runtime, mounts } = await setUp()
    const { id, log, sandbox } = await run(runtime, { ...shell('cat file'), workingDir: '/etc/config', mounts })
    await ended(runtime, id)
    expect(linesOf(log)).toEqual(['stdout F content'])
    await runtime.removePodSandbox(sandbox)
  })
})

describe.runIf(view === 'own')('a root directory of its own', () => {
  const directory = path.join(bench.directory, 'mounted')
  mkdirSync(directory, { recursive: true })
  const mounts = [
    { containerPath: '/var/run/secrets/app', hostPath: directory, readOnly: true, propagation: 'private' as const },
    { containerPath: '/data', hostPath: directory, readOnly: false, propagation: 'private' as const },
  ]

  it('has volumes at their paths, writable or not', async () => {
    const { id, log } = await run(runtime, { ...shell('echo x > /data/new && cat /var/run/secrets/app/new; echo y > /var/run/secrets/app/new || echo refused'), mounts })
    await ended(runtime, id)
    expect(linesOf(log)).toEqual(expect.arrayContaining(['stdout F x', 'stdout F refused']))
    expect(readFileSync(path.join(directory, 'new'), 'utf8')).toBe('x\n')
    expect(existsSync('/data/new')).toBe(false)
  })

  it('keeps what is written elsewhere from the machine', async () => {
    const { id } = await run(runtime, shell('echo mine > /etc/coxswain-test && echo mine > /tmp/coxswain-test && hostname && sleep 1000'))
    await vi.waitFor(async () => expect((await runtime.execSync(id, ['cat', '/etc/coxswain-test', '/tmp/coxswain-test'], 10)).stdout.toString()).toBe('mine\nmine\n'))
    expect([existsSync('/etc/coxswain-test'), existsSync('/tmp/coxswain-test')]).toEqual([false, false])
  })

  it('has the pod\'s name as that of the machine', async () => {
    const { id, sandbox } = await run(runtime, {})
    expect((await runtime.execSync(id, ['cat', '/proc/sys/kernel/hostname'], 10)).stdout.toString()).toBe(`${(await runtime.podSandboxStatus(sandbox)).metadata.name}\n`)
  })

  it('is seen by the user that the container wants', async () => {
    const { id, log } = await run(runtime, { ...shell('id -u; id -g; id -G'), user: { uid: 1234, gid: 2345, supplementalGroups: [3456] } })
    await ended(runtime, id)
    expect(linesOf(log)).toEqual(['stdout F 1234', 'stdout F 2345', 'stdout F 2345 3456'])
  })

  it('gives a confined user nothing of root', async () => {
    const user = { uid: 1_900_000_007, gid: 1_900_000_007, supplementalGroups: [] }
    const secret = path.join(bench.directory, 'of-root')
    writeFileSync(secret, 'secret', { mode: 0o600 })
    const tries = [`cat ${secret}`, `cat /proc/${process.pid}/environ`, `kill -0 ${process.pid}`, 'ls /root/.ssh', 'mount -t tmpfs none /mnt', 'mknod /tmp/m c 1 1', `ls /proc/${process.pid}`]
    const lines = tries.map((one, i) => `if ${one} >/dev/null 2>&1; then echo done ${i}; fi`)
    const kept = 'echo a > /new && echo b > /etc/new && echo c > /var/lib/new && echo d > ~/new && cat /new /etc/new /var/lib/new /root/new; id -un; echo e > /dev/stdout; echo f > /made/x; pwd'
    const { id, log } = await run(runtime, { ...shell([...lines, kept].join('\n')), user, noNewPrivileges: true, workingDir: '/made' })
    expect((await ended(runtime, id)).exitCode).toBe(0)
    expect(linesOf(log)).toEqual(['a', 'b', 'c', 'd', 'pod', 'e', '/made'].map((word) => `stdout F ${word}`))
    expect(existsSync('/etc/new')).toBe(false)
  })

  it('lets a confined user listen on low ports, and run commands as itself', async () => {
    const user = { uid: 1_900_000_007, gid: 1_900_000_007, supplementalGroups: [] }
    const { id } = await run(runtime, { user, noNewPrivileges: true })
    const { stdout } = await runtime.execSync(id, ['sh', '-c', 'id -u; grep -E "CapPrm|CapEff|NoNewPrivs" /proc/self/status'], 10)
    expect(stdout.toString().split(/\s+/)).toEqual(['1900000007', 'CapPrm:', '0000000000000400', 'CapEff:', '0000000000000400', 'NoNewPrivs:', '1', ''])
  })

  it('does not start where a volume leads elsewhere than when it was checked', async () => {
    const { dev, ino } = statSync(directory)
    const checked = (identity: string) => run(runtime, { ...shell('true'), mounts: [{ ...mounts[1]!, identity }] })
    await expect(checked(`${dev}:${ino}`)).resolves.toBeDefined()
    await expect(checked(`${dev}:${ino + 1}`)).rejects.toThrow('a volume was changed while it was mounted')
  })

  it('may be read only', async () => {
    const { id, log } = await run(runtime, { ...shell('touch /etc/x || echo refused; touch /data/x && echo written'), readOnlyRootFilesystem: true, mounts })
    await ended(runtime, id)
    expect(linesOf(log)).toEqual(expect.arrayContaining(['stdout F refused', 'stdout F written']))
  })

  it('says what is wrong with a volume that is not there', async () => {
    const broken = [{ containerPath: '/data', hostPath: '/no/such/place', readOnly: false, propagation: 'private' as const }]
    await expect(run(runtime, { mounts: broken })).rejects.toThrow('/no/such/place')
  })
})

describe('an agent that is started anew', () => {
  it('finds what runs and what has ended meanwhile, with nothing lost', async () => {
    const agent = await startAgent()
    const { ids, pids } = agent
    process.kill(agent.pid, 'SIGKILL')
    await agent.gone
    expect(pids.map((pid) => isAlive(pid, ''))).toEqual([true, true])
    writeFileSync(agent.go, '')
    await vi.waitFor(() => expect(linesOf(agent.log)).toEqual(['stdout F before', 'stdout F after']))
    await vi.waitFor(() => expect(isAlive(pids[0]!, '')).toBe(false))
    const again = await bench.open({ directory: agent.directory })
    expect((await again.listPodSandboxes()).map((s) => s.state)).toEqual(['ready', 'ready'])
    const [talker, sleeper] = await Promise.all(ids.map((id) => again.containerStatus(id)))
    expect(talker).toMatchObject({ state: 'exited', exitCode: 9 })
    expect(sleeper).toMatchObject({ state: 'running', startedAtMs: expect.any(Number) })
    expect((await again.execSync(ids[1]!, ['echo', 'hi'], 10)).stdout.toString()).toBe('hi\n')
    await cleanUp(again)
    expect(pids.map((pid) => isAlive(pid, ''))).toEqual([false, false])
  })

  it('starts nothing twice that was being started when its predecessor was killed', async () => {
    const directory = path.join(bench.directory, 'runtime-twice')
    const first = await bench.open({ directory })
    const sandbox = await first.runPodSandbox(sandboxConfig('twice', path.join(logs, 'twice')), '', new AbortController().signal)
    const [a, b] = [await first.createContainer(sandbox, containerConfig('a')), await first.createContainer(sandbox, containerConfig('b'))]
    started.push(a!, b!)
    const second = await bench.open({ directory })
    await Promise.all([a, b].flatMap((id) => [first.startContainer(id!), second.startContainer(id!)]))
    expect([bench.processesLeft([a!]).length, bench.processesLeft([b!]).length]).toEqual([1, 1])
    await first.close()
    await cleanUp(second)
    await vi.waitFor(() => expect(bench.processesLeft([a!, b!])).toEqual([]))
  })

  it('need not come: when the directory is removed, what ran from it ends', async () => {
    const directory = path.join(bench.directory, 'runtime-removed')
    const first = await bench.open({ directory })
    const { id } = await run(first, {})
    await first.close()
    expect(bench.processesLeft([id])).toHaveLength(1)
    rmSync(directory, { recursive: true })
    await vi.waitFor(() => expect(bench.processesLeft([id])).toEqual([]), { timeout: 10_000, interval: 50 })
  })

  it('counts as ended what ran before the machine was started anew', async () => {
    const directory = path.join(bench.directory, 'runtime-boot')
    const first = await bench.open({ directory })
    const { id, sandbox } = await run(first, shell('exit 0'))
    await ended(first, id)
    await first.close()
    const edit = (file: string, change: object) => {
      const at = path.join(directory, file)
      writeFileSync(at, JSON.stringify({ ...(JSON.parse(readFileSync(at, 'utf8')) as object), ...change }))
    }
    edit(`sandboxes/${sandbox}/record.json`, { boot: 'another' })
    // A process has its number now that is none of ours.
    edit(`containers/${id}/state.json`, { state: 'running', pid: process.pid, pidStart: '' })
    const second = await bench.open({ directory })
    expect((await second.podSandboxStatus(sandbox)).state).toBe('notReady')
    expect(await second.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 255, message: 'the machine was restarted' })
    await cleanUp(second)
  })

  it('gives no address twice', async () => {
    const directory = path.join(bench.directory, 'runtime-addresses')
    const first = await bench.open({ directory })
    const a = await first.runPodSandbox(sandboxConfig('a', logs), '', new AbortController().signal)
    await first.close()
    const second = await bench.open({ directory })
    const b = await second.runPodSandbox(sandboxConfig('b', logs), '', new AbortController().signal)
    expect((await second.podSandboxStatus(a)).ips).not.toEqual((await second.podSandboxStatus(b)).ips)
    await cleanUp(second)
  })

  it('counts containers as ended whose shim is gone, and ends what is left of them', async () => {
    const directory = path.join(bench.directory, 'runtime-lost')
    const first = await bench.open({ directory })
    const { id } = await run(first, {})
    const pid = bench.processesLeft([id])[0]!
    const shim = processStat(pid)!.parent
    process.kill(shim, 'SIGKILL')
    expect(await ended(first, id)).toMatchObject({ exitCode: 137, reason: 'Error', message: 'the shim that held the container has ended' })
    expect((await first.listPodSandboxes()).map(({ state }) => state)).toEqual(['notReady'])
    await vi.waitFor(() => expect(isAlive(pid, '')).toBe(false))
    const next = await run(first, shell('exit 6'))
    expect((await ended(first, next.id)).exitCode).toBe(6)
    await cleanUp(first)
  })
})

async function cleanUp(runtime: ProcessRuntime): Promise<void> {
  for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id)
  expect([await runtime.listPodSandboxes(), await runtime.listContainers()]).toEqual([[], []])
  await runtime.close()
}

interface Agent {
  pid: number
  ids: string[]
  pids: number[]
  log: string
  go: string
  directory: string
  gone: Promise<unknown>
}

/** A process of its own with a runtime, which runs two pods: one says something, waits for a file, says more and ends with 9; the other one sleeps. */
async function startAgent(): Promise<Agent> {
  const { build } = await import('esbuild')
  const directory = path.join(bench.directory, 'runtime-agent')
  const program = path.join(bench.directory, 'agent.mjs')
  const at = (file: string) => JSON.stringify(path.resolve(import.meta.dirname, file))
  const source = `
    import { systemClock } from ${at('../../../base/clock.ts')}
    import { systemRandom } from ${at('../../../base/random.ts')}
    import { silentLogger } from ${at('../../../base/logger.ts')}
    import { containerConfig, sandboxConfig } from ${at('../conformance/configs.ts')}
    import { ProcessRuntime } from ${at('process-runtime.ts')}
    const [directory, shimProgram, logs, volume] = process.argv.slice(2)
    const runtime = await ProcessRuntime.open({ directory, shimProgram, clock: systemClock, random: systemRandom, logger: silentLogger })
    const mounts = [{ containerPath: '/volume', hostPath: volume, readOnly: false, propagation: 'private' }]
    const script = 'echo before; while ! test -e $COXSWAIN_ROOT/volume/go; do sleep 0.01; done; echo after; exit 9'
    const ids = []
    for (const [name, command] of [['talker', ['sh', '-c', script]], ['sleeper', ['sleep', '1000']]]) {
      const sandbox = await runtime.runPodSandbox(sandboxConfig(name, logs + '/' + name), '', new AbortController().signal)
      const id = await runtime.createContainer(sandbox, containerConfig('main', { command, mounts }))
      await runtime.startContainer(id)
      ids.push(id)
    }
    console.log(JSON.stringify(ids))
    setInterval(() => {}, 1000)`
  await build({ stdin: { contents: source, loader: 'ts', resolveDir: import.meta.dirname }, outfile: program, bundle: true, platform: 'node', format: 'esm', external: ['yaml', 'lmdb'] })
  const volume = path.join(bench.directory, 'volume-agent')
  mkdirSync(volume)
  const child = spawn(process.execPath, [program, directory, bench.shimProgram!, logs, volume], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (piece: Buffer) => resolve(piece.toString())))
  const ids = JSON.parse(line) as string[]
  started.push(...ids)
  const pids = ids.map((id) => (JSON.parse(readFileSync(path.join(directory, 'containers', id, 'state.json'), 'utf8')) as { pid: number }).pid)
  return { pid: child.pid!, ids, pids, log: path.join(logs, 'talker/main/0.log'), go: path.join(volume, 'go'), directory, gone }
}

describe('limits and ports', () => {
  it.runIf(process.platform === 'linux')('end a container that holds more memory than it may, and no other', async () => {
    const hoard = shell('x=$(head -c 40000000 /dev/zero | tr "\\0" x); sleep 60')
    const large = await run(runtime, { ...hoard, resources: { memoryBytes: 16 << 20 } })
    const small = await run(runtime, { ...shell('sleep 60'), resources: { memoryBytes: 16 << 20 } })
    expect(await ended(runtime, large.id)).toMatchObject({ exitCode: 137, reason: 'OOMKilled' })
    expect((await runtime.containerStatus(small.id)).state).toBe('running')
    await runtime.stopPodSandbox(small.sandbox)
  })

  it('lead from a port of the node to one of the pod, and are free when it ends', async () => {
    const hostPort = await freePort()
    const mapped = (name: string) => ({ ...sandboxConfig(name, path.join(logs, name)), portMappings: [{ protocol: 'TCP' as const, containerPort: 8080, hostPort, hostIp: '' }] })
    const { signal } = new AbortController()
    const sandbox = await runtime.runPodSandbox(mapped('mapped'), '', signal)
    const id = await runtime.createContainer(sandbox, containerConfig('web', { command: [], args: [], image: 'anything', ports: [{ name: '', containerPort: 8080, protocol: 'TCP' }] }))
    started.push(id)
    await runtime.startContainer(id)
    expect(await (await fetch(`http://127.0.0.1:${hostPort}/`)).text()).toContain('container web of pod')
    const taken = { name: 'SandboxNetworkError', message: expect.stringContaining(`cannot open hostport ${hostPort} for pod`) }
    await expect(runtime.runPodSandbox(mapped('second'), '', signal)).rejects.toMatchObject(taken)
    await runtime.removePodSandbox(sandbox)
    const again = await runtime.runPodSandbox(mapped('third'), '', signal)
    await runtime.removePodSandbox(again)
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
