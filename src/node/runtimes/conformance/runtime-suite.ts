import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Runtime, RuntimeError, type RuntimeEvent } from '../../runtime/runtime.ts'
import { containerConfig, endingConfigs, sandboxConfig } from './configs.ts'

/** A runtime under test, and its clock. */
interface RuntimeBench {
  runtime: Runtime
  logDirectory: string
  /** Waits until the predicate holds, on the bench's clock. Fails after a limit. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>
  end(): Promise<void>
}

const codeOf = (e: unknown) => (e instanceof RuntimeError ? e.code : e)
/** Matches the name of an image, which runtimes may report with its registry. */
const namedImage = (name: string): unknown => expect.stringMatching(new RegExp(`(^|/)${name.replaceAll('.', '\\.')}$`))
const signal = () => new AbortController().signal

/** The contract of every runtime. */
export function describeRuntime(name: string, open: () => Promise<RuntimeBench>): void {
  describe(`the ${name} runtime`, () => {
    let bench: RuntimeBench
    let runtime: Runtime
    let count = 0
    beforeAll(async () => {
      bench = await open()
      runtime = bench.runtime
    })
    afterAll(() => bench.end())

    const newName = () => `pod-${count++}`
    const runSandbox = (rest = {}) =>
      runtime.runPodSandbox(sandboxConfig(newName(), bench.logDirectory, rest), '', signal())
    const stateOf = async (id: string) => (await runtime.containerStatus(id)).state
    const startIn = async (sandbox: string, rest = {}) => {
      const id = await runtime.createContainer(sandbox, containerConfig('main', rest))
      await runtime.startContainer(id)
      return id
    }
    const listen = () => {
      const events: RuntimeEvent[] = []
      onTestFinished(runtime.watch((e) => events.push(e)))
      return (sandbox: string) =>
        events.filter((e) => e.sandboxId === sandbox).map((e) => `${e.containerId ? 'container' : 'sandbox'} ${e.kind}`)
    }

    it('has a name and nothing to complain about', async () => {
      expect(runtime.name).toBe(name)
      expect((await runtime.version()).runtimeName).not.toBe('')
      expect(await runtime.problems()).toEqual([])
    })

    it('keeps what a sandbox was made with', async () => {
      const config = sandboxConfig(newName(), bench.logDirectory, { labels: { a: '1' }, annotations: { b: '2' } })
      const id = await runtime.runPodSandbox(config, 'fast', signal())
      const status = await runtime.podSandboxStatus(id)
      expect(status).toMatchObject({
        id,
        metadata: config.metadata,
        state: 'ready',
        runtimeHandler: 'fast',
        labels: { a: '1' },
        annotations: { b: '2' },
      })
      expect((await runtime.listPodSandboxes()).find((s) => s.id === id)).toEqual(status)
    })

    it('remembers since some time', () => {
      expect(runtime.remembersSinceMs).toBeGreaterThan(0)
    })

    it('ends all that is in a sandbox that crashes', async () => {
      const events = listen()
      const id = await runSandbox()
      const container = await startIn(id)
      await runtime.crashSandbox!(id)
      expect((await runtime.podSandboxStatus(id)).state).toBe('notReady')
      expect(await runtime.containerStatus(container)).toMatchObject({ state: 'exited', exitCode: 137 })
      expect(events(id)).toContain('sandbox stopped')
      await runtime.crashSandbox!(id)
      await runtime.removePodSandbox(id)
    })

    it("gives each sandbox an address, but for those with the host's network", async () => {
      const [a, b, host] = await Promise.all([runSandbox(), runSandbox(), runSandbox({ hostNetwork: true })])
      const ipsOf = async (id: string) => (await runtime.podSandboxStatus(id)).ips
      expect(await ipsOf(a)).toHaveLength(1)
      expect(await ipsOf(a)).not.toEqual(await ipsOf(b))
      expect(await ipsOf(host)).toEqual([])
    })

    it('does not know what was never made', async () => {
      const unknown = [
        runtime.podSandboxStatus('none'),
        runtime.containerStatus('none'),
        runtime.createContainer('none', containerConfig('main')),
        runtime.startContainer('none'),
        runtime.containerUsage('none'),
        runtime.execSync('none', ['true'], 1),
      ]
      expect(
        (await Promise.allSettled(unknown)).map((r) => (r.status === 'rejected' ? codeOf(r.reason) : r.status)),
      ).toEqual(unknown.map(() => 'NotFound'))
    })

    it('stops and removes what is not there without a word', async () => {
      await Promise.all([
        runtime.stopPodSandbox('none'),
        runtime.removePodSandbox('none'),
        runtime.stopContainer('none', 1),
        runtime.removeContainer('none'),
      ])
    })

    it('leads a container from created through running to its end', async () => {
      const sandbox = await runSandbox()
      const id = await runtime.createContainer(
        sandbox,
        containerConfig('main', { annotations: { c: '3' }, metadata: { name: 'main', attempt: 2 } }),
      )
      const created = await runtime.containerStatus(id)
      expect(created).toMatchObject({
        id,
        sandboxId: sandbox,
        state: 'created',
        startedAtMs: 0,
        finishedAtMs: 0,
        image: namedImage('busybox:1.36'),
        metadata: { name: 'main', attempt: 2 },
        annotations: { c: '3' },
      })
      expect(created.imageRef).not.toBe('')
      await runtime.startContainer(id)
      const running = await runtime.containerStatus(id)
      expect(running).toMatchObject({ state: 'running', finishedAtMs: 0 })
      expect(running.startedAtMs).toBeGreaterThanOrEqual(created.createdAtMs)
      await runtime.stopContainer(id, 1)
      const exited = await runtime.containerStatus(id)
      expect(exited.state).toBe('exited')
      expect(exited.finishedAtMs).toBeGreaterThanOrEqual(running.startedAtMs)
      expect((await runtime.listContainers()).find((c) => c.id === id)).toEqual(exited)
    })

    it.each([
      [0, 'Completed'],
      [7, 'Error'],
    ])('tells that a container ended by itself with %i', async (exitCode, reason) => {
      const heard = listen()
      const [sandboxOf, config] = endingConfigs(newName(), bench.logDirectory, exitCode)
      const sandbox = await runtime.runPodSandbox(sandboxOf, '', signal())
      const id = await runtime.createContainer(sandbox, config)
      await runtime.startContainer(id)
      await bench.until(() => heard(sandbox).includes('container stopped'))
      expect(await runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode, reason })
    })

    it('tells of everything that happens, in order', async () => {
      const heard = listen()
      const sandbox = await runSandbox()
      const id = await startIn(sandbox)
      await runtime.stopContainer(id, 1)
      await runtime.removeContainer(id)
      await runtime.stopPodSandbox(sandbox)
      await runtime.removePodSandbox(sandbox)
      expect(heard(sandbox)).toEqual([
        'sandbox started',
        'container created',
        'container started',
        'container stopped',
        'container deleted',
        'sandbox stopped',
        'sandbox deleted',
      ])
    })

    it('starts a container once', async () => {
      const id = await startIn(await runSandbox())
      await expect(runtime.startContainer(id)).rejects.toThrow(/is running/)
      await runtime.stopContainer(id, 1)
      await expect(runtime.startContainer(id)).rejects.toThrow(/is exited/)
    })

    it('stops a container that was never started', async () => {
      const id = await runtime.createContainer(await runSandbox(), containerConfig('main'))
      await runtime.stopContainer(id, 1)
      expect(await stateOf(id)).toBe('exited')
    })

    it('ends what runs in a sandbox that is stopped, and makes nothing in it any more', async () => {
      const sandbox = await runSandbox()
      const id = await startIn(sandbox)
      await runtime.stopPodSandbox(sandbox)
      expect(await stateOf(id)).toBe('exited')
      expect((await runtime.podSandboxStatus(sandbox)).state).toBe('notReady')
      await expect(runtime.createContainer(sandbox, containerConfig('late'))).rejects.toThrow('is not running')
      await runtime.stopPodSandbox(sandbox)
    })

    it('removes a sandbox with all that runs in it', async () => {
      const sandbox = await runSandbox()
      const id = await startIn(sandbox)
      await runtime.removePodSandbox(sandbox)
      await expect(runtime.containerStatus(id)).rejects.toSatisfy((e) => codeOf(e) === 'NotFound')
      await expect(runtime.podSandboxStatus(sandbox)).rejects.toSatisfy((e) => codeOf(e) === 'NotFound')
    })

    it('removes a container that runs', async () => {
      const id = await startIn(await runSandbox())
      await runtime.removeContainer(id)
      await expect(runtime.containerStatus(id)).rejects.toSatisfy((e) => codeOf(e) === 'NotFound')
    })

    it('has several containers in a sandbox, each with its own end', async () => {
      const sandbox = await runSandbox()
      const [a, b] = [
        await startIn(sandbox),
        await startIn(sandbox, { metadata: { name: 'other', attempt: 0 }, logPath: 'other/0.log' }),
      ]
      await runtime.stopContainer(a!, 1)
      expect([await stateOf(a!), await stateOf(b!)]).toEqual(['exited', 'running'])
    })

    it('replaces a container by one with another image, and leaves the rest of the sandbox alone', async () => {
      const sandbox = await runSandbox()
      const around = async () => [await runtime.podSandboxStatus(sandbox), await runtime.containerStatus(other)]
      const other = await startIn(sandbox, { metadata: { name: 'other', attempt: 0 } })
      const old = await startIn(sandbox)
      const before = await around()
      await runtime.stopContainer(old, 1)
      const next = await startIn(sandbox, {
        metadata: { name: 'main', attempt: 1 },
        image: 'busybox:1.37',
        logPath: 'main/1.log',
      })
      expect(await around()).toEqual(before)
      const [was, is] = [await runtime.containerStatus(old), await runtime.containerStatus(next)]
      expect([was.state, is.state, is.image]).toEqual(['exited', 'running', namedImage('busybox:1.37')])
      expect(is.imageRef).not.toBe(was.imageRef)
    })

    it('runs commands in containers that run, and in no others', async () => {
      const id = await startIn(await runSandbox())
      expect((await runtime.execSync(id, ['true'], 10)).exitCode).toBe(0)
      expect((await runtime.containerUsage(id)).memoryBytes).toBeGreaterThan(0)
      const { ended, stdout } = await runtime.exec(id, { command: ['true'], tty: false, stdin: false })
      stdout.resume()
      expect(await ended).toBe(0)
      await runtime.stopContainer(id, 1)
      await expect(runtime.execSync(id, ['true'], 10)).rejects.toThrow('is not running')
      await expect(runtime.attach(id, { tty: false, stdin: false })).rejects.toThrow('is not running')
    })

    it('tells who is attached how the container ended', async () => {
      const id = await startIn(await runSandbox())
      const { ended, stdout } = await runtime.attach(id, { tty: false, stdin: false })
      stdout.resume()
      await runtime.stopContainer(id, 1)
      expect(await ended).toBe((await runtime.containerStatus(id)).exitCode)
    })

    it('knows the images that were pulled', async () => {
      expect(await runtime.imageStatus('nginx:1.27')).toBeUndefined()
      const id = await runtime.pullImage({ image: 'nginx:1.27' }, signal())
      expect((await runtime.imageStatus('nginx:1.27'))!.id).toBe(id)
      expect((await runtime.listImages()).map((i) => i.id)).toContain(id)
      await runtime.removeImage('nginx:1.27')
      expect(await runtime.imageStatus('nginx:1.27')).toBeUndefined()
      await runtime.removeImage('nginx:1.27')
    })

    it('refuses connections to where nothing listens', async () => {
      await expect(runtime.connect(await runSandbox(), 9)).rejects.toSatisfy((e) => codeOf(e) === 'Unavailable')
    })
  })
}
