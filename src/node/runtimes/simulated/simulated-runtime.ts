import { Readable } from 'node:stream'
import type { Clock } from '../../../base/clock.ts'
import type { Random } from '../../../base/random.ts'
import { waitFor } from '../../../client/index.ts'
import type { LogOptions, LogReader } from '../../logs/index.ts'
import {
  type Attachment,
  type ContainerConfig,
  type ContainerStatus,
  type ImagePull,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type SandboxConfig,
  type SandboxStatus,
  type Usage,
} from '../../runtime/runtime.ts'
import { AddressPool } from './address-pool.ts'
import { type Behaviour, annotationOf, behaviourOf, killed } from './behaviour.ts'
import { simulatedImage } from './images.ts'
import { simulatedLog } from './simulated-log.ts'

export interface SimulatedRuntimeOptions {
  clock: Clock
  random: Random
  /** The first three parts of pods' addresses: `10.244.7`. */
  podSubnet: string
  /** The durations of operations without faults. Default: 0. */
  delays?: Partial<Record<'sandbox' | 'image' | 'start', number>>
}

interface SimulatedSandbox {
  status: SandboxStatus
  containers: readonly SimulatedContainer[]
}

interface SimulatedContainer {
  status: ContainerStatus
  behaviour: Behaviour
  cancelExit: () => void
  /** Called when the container has ended. */
  ended: (() => void)[]
}

const nothing = () => {}

const nanosPerMilli = 1_000_000

function usageOf({ status, behaviour }: SimulatedContainer, atMs: number): Usage {
  if (status.state !== 'running') return { atMs, cpuNanos: 0, memoryBytes: 0 }
  return {
    atMs,
    cpuNanos: Math.round((atMs - status.startedAtMs) * behaviour.cores * nanosPerMilli),
    memoryBytes: behaviour.memoryBytes,
  }
}

/**
 * Simulates pods without processes. Annotations (docs/node.md) and the methods of this class control the containers.
 */
export class SimulatedRuntime implements Runtime {
  readonly name = 'simulated'
  readonly #clock: Clock
  readonly #random: Random
  readonly #delays: Record<'sandbox' | 'image' | 'start', number>
  readonly #sandboxes = new Map<string, SimulatedSandbox>()
  readonly #containers = new Map<string, SimulatedContainer>()
  readonly #images = new Set<string>()
  readonly #listeners = new Set<(event: RuntimeEvent) => void>()
  readonly #addresses: AddressPool
  #endedCpuNanos = 0
  #remembersSinceMs: number

  constructor(options: SimulatedRuntimeOptions) {
    this.#clock = options.clock
    this.#remembersSinceMs = options.clock.now()
    this.#random = options.random
    this.#delays = { sandbox: 0, image: 0, start: 0, ...options.delays }
    this.#addresses = new AddressPool(options.podSubnet)
  }

  get remembersSinceMs(): number {
    return this.#remembersSinceMs
  }

  async version() {
    return { runtimeName: 'simulated', runtimeVersion: '1.0.0' }
  }

  async problems() {
    return []
  }

  async runPodSandbox(config: SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    if (this.#delays.sandbox > 0) await waitFor(this.#clock, this.#delays.sandbox, signal)
    const id = this.#newId()
    const { metadata, labels, annotations, hostNetwork } = config
    const ips = hostNetwork ? [] : [this.#addresses.take(id)]
    const status = {
      id,
      metadata,
      state: 'ready' as const,
      createdAtMs: this.#clock.now(),
      ips,
      runtimeHandler,
      labels,
      annotations,
    }
    this.#sandboxes.set(id, { status, containers: [] })
    this.#tell({ kind: 'started', sandboxId: id, containerId: undefined })
    return id
  }

  async stopPodSandbox(id: string): Promise<void> {
    this.crashSandbox(id)
  }

  async removePodSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (!sandbox) return
    this.crashSandbox(id)
    for (const { status } of sandbox.containers) await this.removeContainer(status.id)
    this.#sandboxes.delete(id)
    this.#tell({ kind: 'deleted', sandboxId: id, containerId: undefined })
  }

  async podSandboxStatus(id: string): Promise<SandboxStatus> {
    return this.#sandbox(id).status
  }

  async listPodSandboxes(): Promise<SandboxStatus[]> {
    return [...this.#sandboxes.values()].map(({ status }) => status)
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    const sandbox = this.#sandbox(sandboxId)
    if (sandbox.status.state !== 'ready') throw new RuntimeError('Unknown', `sandbox ${sandboxId} is not running`)
    const id = this.#newId()
    const { metadata, image, labels, annotations, logPath } = config
    const container: SimulatedContainer = {
      status: {
        id,
        sandboxId,
        metadata,
        state: 'created',
        createdAtMs: this.#clock.now(),
        startedAtMs: 0,
        finishedAtMs: 0,
        exitCode: 0,
        reason: '',
        message: '',
        image,
        imageRef: simulatedImage(image).id,
        labels,
        annotations,
        logPath,
      },
      behaviour: behaviourOf(sandbox.status, config),
      cancelExit: nothing,
      ended: [],
    }
    this.#containers.set(id, container)
    sandbox.containers = sandbox.containers.concat(container)
    this.#tell({ kind: 'created', sandboxId, containerId: id })
    return id
  }

  async startContainer(id: string): Promise<void> {
    if (this.#delays.start > 0) await waitFor(this.#clock, this.#delays.start, undefined)
    const container = this.#container(id)
    const { behaviour, status } = container
    if (status.state !== 'created') throw new RuntimeError('Unknown', `container ${id} is ${status.state}`)
    container.status = { ...status, state: 'running', startedAtMs: this.#clock.now() }
    const ends =
      behaviour.exitAfterMs !== undefined &&
      (behaviour.exits === undefined || status.metadata.attempt < behaviour.exits)
    const reason = behaviour.isTooLarge ? 'OOMKilled' : undefined
    if (ends)
      container.cancelExit = this.#clock.after(behaviour.exitAfterMs!, () =>
        this.exitContainer(id, behaviour.exitCode, reason),
      )
    this.#tell({ kind: 'started', sandboxId: status.sandboxId, containerId: id })
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const container = this.#containers.get(id)
    if (container?.status.state === 'created') return this.exitContainer(id, 0)
    if (container?.status.state !== 'running') return
    const { stopAfterMs } = container.behaviour
    const isKilled = stopAfterMs > timeoutSeconds * 1000
    const end = () => this.exitContainer(id, isKilled ? killed : 0)
    if (stopAfterMs === 0) return end()
    const cancel = this.#clock.after(Math.min(stopAfterMs, timeoutSeconds * 1000), end)
    await new Promise<void>((resolve) => container.ended.push(resolve))
    cancel()
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.#containers.get(id)
    if (!container) return
    this.exitContainer(id, killed)
    this.#containers.delete(id)
    const { sandboxId } = container.status
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox) sandbox.containers = sandbox.containers.filter((c) => c !== container)
    this.#tell({ kind: 'deleted', sandboxId, containerId: id })
  }

  async containerStatus(id: string): Promise<ContainerStatus> {
    return this.#container(id).status
  }

  async listContainers(): Promise<ContainerStatus[]> {
    return [...this.#containers.values()].map(({ status }) => status)
  }

  async containerUsage(id: string): Promise<Usage> {
    return usageOf(this.#container(id), this.#clock.now())
  }

  async execSync(id: string): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
    const { status } = this.#running(id)
    const { annotations } = this.#sandbox(status.sandboxId).status
    const exitCode = Number(annotationOf(annotations, 'exec-exit-code', status.metadata.name) ?? '0')
    return { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode }
  }

  async exec(id: string): Promise<Attachment> {
    const { exitCode } = await this.execSync(id)
    return {
      stdin: undefined,
      stdout: Readable.from([]),
      stderr: undefined,
      resize: nothing,
      ended: Promise.resolve(exitCode),
    }
  }

  async attach(id: string): Promise<Attachment> {
    const container = this.#running(id)
    const ended = new Promise<number>((resolve) =>
      container.ended.push(() => resolve(this.#containers.get(id)?.status.exitCode ?? killed)),
    )
    return { stdin: undefined, stdout: Readable.from([]), stderr: undefined, resize: nothing, ended }
  }

  connect(sandboxId: string, port: number): Promise<never> {
    return Promise.reject(
      new RuntimeError('Unavailable', `nothing listens on port ${port} of sandbox ${sandboxId}: it is simulated`),
    )
  }

  async pullImage({ image }: ImagePull, signal: AbortSignal): Promise<string> {
    if (this.#delays.image > 0) await waitFor(this.#clock, this.#delays.image, signal)
    this.#images.add(image)
    return simulatedImage(image).id
  }

  async imageStatus(image: string) {
    return this.#images.has(image) ? simulatedImage(image) : undefined
  }

  async listImages() {
    return [...this.#images].map((image) => ({ ...simulatedImage(image), tags: [image] }))
  }

  async removeImage(image: string): Promise<void> {
    this.#images.delete(image)
  }

  watch(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
  }

  /** The usage of all containers, including those that have ended. */
  totals(): Usage & { containers: number } {
    const atMs = this.#clock.now()
    const sum = { atMs, cpuNanos: this.#endedCpuNanos, memoryBytes: 0, containers: 0 }
    for (const container of this.#containers.values()) {
      if (container.status.state !== 'running') continue
      const { cpuNanos, memoryBytes } = usageOf(container, atMs)
      sum.cpuNanos += cpuNanos
      sum.memoryBytes += memoryBytes
      sum.containers++
    }
    return sum
  }

  /** The log of a container. Empty if the container was removed. */
  log({ id }: ContainerStatus, options: LogOptions, reader: LogReader): AsyncGenerator<Buffer> {
    const speech = this.#containers.get(id)?.behaviour ?? { log: [], logEveryMs: undefined }
    return simulatedLog(speech, () => this.#containers.get(id)?.status, options, reader)
  }

  /** Ends a container as if its process had exited. */
  exitContainer(id: string, exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error'): void {
    const container = this.#containers.get(id)
    if (!container || container.status.state === 'exited') return
    container.cancelExit()
    this.#endedCpuNanos += usageOf(container, this.#clock.now()).cpuNanos
    const { status, behaviour } = container
    const nowMs = this.#clock.now()
    const message = exitCode === behaviour.exitCode ? behaviour.message : ''
    container.status = { ...status, state: 'exited', finishedAtMs: nowMs, exitCode, reason, message }
    for (const tell of container.ended.splice(0)) tell()
    this.#tell({ kind: 'stopped', sandboxId: status.sandboxId, containerId: id })
  }

  /** Ends a sandbox and its containers, like the crash of a guest kernel. */
  crashSandbox(id: string): void {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.status.state !== 'ready') return
    for (const { status } of sandbox.containers) this.exitContainer(status.id, killed)
    this.#addresses.giveBack(id)
    sandbox.status = { ...sandbox.status, state: 'notReady' }
    this.#tell({ kind: 'stopped', sandboxId: id, containerId: undefined })
  }

  /** Forgets all sandboxes and containers without events, like a loss of power. Images are kept. */
  reboot(): void {
    for (const { cancelExit } of this.#containers.values()) cancelExit()
    this.#sandboxes.clear()
    this.#containers.clear()
    this.#remembersSinceMs = this.#clock.now()
    this.#addresses.clear()
  }

  #newId(): string {
    return this.#random.uuid().replaceAll('-', '')
  }

  #sandbox(id: string): SimulatedSandbox {
    const sandbox = this.#sandboxes.get(id)
    if (!sandbox) throw new RuntimeError('NotFound', `sandbox ${id} not found`)
    return sandbox
  }

  #container(id: string): SimulatedContainer {
    const container = this.#containers.get(id)
    if (!container) throw new RuntimeError('NotFound', `container ${id} not found`)
    return container
  }

  #running(id: string): SimulatedContainer {
    const container = this.#container(id)
    if (container.status.state !== 'running') throw new RuntimeError('Unavailable', `container ${id} is not running`)
    return container
  }

  #tell(event: RuntimeEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}
