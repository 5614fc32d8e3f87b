import { mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { Random } from '../../../base/random.ts'
import {
  type Attachment,
  type ContainerConfig,
  type ContainerStatus,
  type ImagePull,
  type Isolation,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type SandboxConfig,
  type SandboxStatus,
  type Usage,
} from '../../runtime/runtime.ts'
import { type CatalogueEntry, builtInEntries } from './catalogue.ts'
import { ImageList } from './images.ts'
import { HostPorts } from './host-ports.ts'
import { LoopbackAddresses, addressPrefixFor } from './loopback-addresses.ts'
import { type Limited, MemoryLimits } from './memory-limits.ts'
import { bootId, isAlive, processesOf, signalProcess } from './proc.ts'
import { type ContainerRecord, Records, type SandboxRecord } from './records.ts'
import { bestView } from './best-view.ts'
import type { ViewKind } from './root-view.ts'
import { ShimClient } from './shim-client.ts'
import type { ProcessState } from './shim/protocol.ts'
import { containerStatus, logPathOf, sandboxStatus } from './statuses.ts'
import { attachmentOf, connectTo, runAttached, runToEnd } from './streams.ts'
import { Surroundings } from './surroundings.ts'
import { UsageReader } from './usage.ts'

export interface ProcessRuntimeOptions {
  /** The directory of the runtime's state. One runtime at a time may use it. */
  directory: string
  clock: Clock
  random: Random
  logger: Logger
  /** Entries that precede the built-in ones. */
  catalogue?: readonly CatalogueEntry[]
  /** The treatment of images that are not in the catalogue. Default: placeholder. */
  unknownImages?: UnknownImages
  /** The first two parts of pods' addresses. Default: derived from the directory, in 127/8. */
  addressPrefix?: string
  /** The built shim. Default: `coxswain-shim.mjs` next to the built program. */
  shimProgram?: string
  /** Directories to hide from pods that run as the node's user. */
  hidden?: readonly string[]
  /** Default: the best isolation that works on this machine. */
  view?: ViewKind
}

/** The treatment of an image that is not in the catalogue: a placeholder runs instead, or its pull fails. */
export type UnknownImages = 'placeholder' | 'fail'

interface Container extends ContainerRecord {
  /** Undefined until the container is started. */
  process: ProcessState | undefined
  /** Set while the container is being started. */
  starting?: Promise<void>
}

const isolationBy = (kind: ViewKind, why: string): Isolation =>
  kind === 'own' ? { kind: 'user' } : kind === 'namespace' ? { kind: 'namespace' } : { kind: 'none', why }

/** Runs containers as processes of this machine. docs/runtimes.md describes its limits. */
export class ProcessRuntime implements Runtime {
  readonly name = 'process'
  readonly remembersSinceMs: number
  readonly #clock: Clock
  readonly #random: Random
  readonly #logger: Logger
  readonly #catalogue: readonly CatalogueEntry[]
  readonly #records: Records
  readonly #images: ImageList
  readonly #addresses: LoopbackAddresses
  readonly #shim: ShimClient
  readonly #usage: UsageReader
  readonly #limits: MemoryLimits
  readonly #hostPorts = new HostPorts()
  readonly #view: Promise<ViewKind>
  readonly #hidden: readonly string[]
  /** The isolation of pods on this machine. */
  readonly isolationKnown: Promise<Isolation>
  #isolation: Isolation | undefined
  readonly #sandboxes = new Map<string, SandboxRecord>()
  readonly #containers = new Map<string, Container>()
  readonly #listeners = new Set<(event: RuntimeEvent) => void>()

  /** Opens the runtime of a directory, and adopts its sandboxes and containers. */
  static async open(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
    mkdirSync(options.directory, { recursive: true, mode: 0o711 })
    const runtime = new ProcessRuntime({ ...options, directory: realpathSync(options.directory) })
    await runtime.#adopt()
    return runtime
  }

  private constructor(options: ProcessRuntimeOptions) {
    const { directory, clock, random, logger } = options
    this.#clock = clock
    this.#random = random
    this.#logger = logger
    this.#catalogue = [...(options.catalogue ?? []), ...builtInEntries()]
    this.#records = new Records(directory)
    this.remembersSinceMs = this.#records.bornMs(clock.now())
    this.#images = new ImageList(path.join(directory, 'images.json'), this.#catalogue, options.unknownImages === 'fail')
    this.#addresses = new LoopbackAddresses(options.addressPrefix ?? addressPrefixFor(directory))
    this.#usage = new UsageReader(clock)
    this.#limits = new MemoryLimits(
      clock,
      () => this.#limited(),
      (id) => this.#outOfMemory(id),
    )
    const view = options.view ? Promise.resolve({ kind: options.view, why: 'as configured' }) : bestView(directory)
    this.#hidden = options.hidden ?? []
    this.#view = view.then(({ kind }) => kind)
    this.isolationKnown = view.then(({ kind, why }) => (this.#isolation = isolationBy(kind, why)))
    this.#shim = new ShimClient(
      directory,
      (id) => this.#containerEnded(id),
      () => this.#shimLost(),
    )
    this.#shim.install(options.shimProgram ?? path.join(import.meta.dirname, 'coxswain-shim.mjs'))
  }

  get isolation(): Isolation | undefined {
    return this.#isolation
  }

  async version() {
    return { runtimeName: 'process', runtimeVersion: '1.0.0' }
  }

  async problems() {
    return []
  }

  /** Starts the shim in advance. A container start waits for it and reports its error. */
  expectSandbox(): void {
    this.#shim.ensure().catch((error: unknown) => this.#logger.warn('failed to start the shim', { error }))
  }

  async runPodSandbox(config: SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    this.expectSandbox()
    const id = this.#newId()
    const address = config.hostNetwork ? undefined : this.#addresses.take()
    if (address !== undefined) {
      await this.#hostPorts.open(id, config.portMappings, address).catch((e: unknown) => {
        this.#addresses.giveBack(address)
        throw e
      })
    }
    const record: SandboxRecord = {
      id,
      config,
      runtimeHandler,
      state: 'ready',
      createdAtMs: this.#clock.now(),
      address,
      boot: bootId(),
    }
    this.#records.saveSandbox(record)
    this.#sandboxes.set(id, record)
    this.#tell('started', id)
    return id
  }

  async stopPodSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox?.state !== 'ready') return
    await Promise.all(this.#containersOf(id).map((c) => this.stopContainer(c.id, 0)))
    // If the shim was lost meanwhile, so was the sandbox.
    if (this.#sandboxes.get(id)?.state === 'ready') this.#closeSandbox(sandbox)
  }

  #closeSandbox(sandbox: SandboxRecord): void {
    this.#hostPorts.close(sandbox.id)
    if (sandbox.address !== undefined) this.#addresses.giveBack(sandbox.address)
    this.#putSandbox({ ...sandbox, state: 'notReady' })
    this.#tell('stopped', sandbox.id)
  }

  async crashSandbox(id: string): Promise<void> {
    await this.stopPodSandbox(id)
  }

  async removePodSandbox(id: string): Promise<void> {
    if (!this.#sandboxes.has(id)) return
    await this.stopPodSandbox(id)
    for (const container of this.#containersOf(id)) await this.removeContainer(container.id)
    this.#records.removeSandbox(id)
    this.#sandboxes.delete(id)
    this.#tell('deleted', id)
  }

  async podSandboxStatus(id: string): Promise<SandboxStatus> {
    return sandboxStatus(this.#sandbox(id))
  }

  async listPodSandboxes(): Promise<SandboxStatus[]> {
    return [...this.#sandboxes.values()].map(sandboxStatus)
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    if (this.#sandbox(sandboxId).state !== 'ready')
      throw new RuntimeError('Unknown', `sandbox ${sandboxId} is not running`)
    const record: ContainerRecord = { id: this.#newId(), sandboxId, config, createdAtMs: this.#clock.now() }
    this.#records.saveContainer(record)
    this.#containers.set(record.id, { ...record, process: undefined })
    this.#tell('created', sandboxId, record.id)
    return record.id
  }

  async startContainer(id: string): Promise<void> {
    const container = this.#container(id)
    if (container.process) throw new RuntimeError('Unknown', `container ${id} is ${container.process.state}`)
    if (container.starting) throw new RuntimeError('Unknown', `container ${id} is being started`)
    container.starting = this.#start(container)
    try {
      await container.starting
    } finally {
      delete container.starting
    }
  }

  async #start(container: Container): Promise<void> {
    const { id } = container
    const sandbox = this.#sandbox(container.sandboxId)
    try {
      const launch = (await this.#surroundings(container)).launch(logPathOf(sandbox, container))
      await this.#shim.tell({ op: 'start', id, launch })
    } catch (e) {
      const message = e instanceof Error ? e.message : String(e)
      const failed = this.#records.processState(id)
      if (failed?.state !== 'exited') this.#end(container, 128, 'StartError', message)
      else container.process = failed
      this.#tell('stopped', sandbox.id, id)
      throw e instanceof RuntimeError ? e : new RuntimeError('Unknown', message)
    }
    container.process = this.#records.processState(id)
    if (container.config.resources.memoryBytes) this.#limits.watch()
    this.#tell('started', sandbox.id, id)
    if (container.process?.state === 'exited') this.#tell('stopped', sandbox.id, id)
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const container = this.#containers.get(id)
    // The caller of the start gets its error.
    await container?.starting?.catch(() => {})
    if (!container || container.process?.state === 'exited') return
    // Also if it is not known to run: an agent that was killed may have started it just before.
    if (container.process || this.#shim.isConnected) await this.#shim.tell({ op: 'stop', id, timeoutSeconds })
    container.process ??= this.#records.processState(id)
    if (!container.process) {
      this.#end(container, 0, 'Completed', '')
      return this.#tell('stopped', container.sandboxId, id)
    }
    this.#containerEnded(id)
    // No shim holds the container, so none could have ended it.
    if (container.process?.state === 'running') this.#endLost(container)
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.#containers.get(id)
    if (!container) return
    await this.stopContainer(id, 0)
    this.#records.removeContainer(id)
    this.#containers.delete(id)
    this.#limits.forget(id)
    this.#tell('deleted', container.sandboxId, id)
  }

  async containerStatus(id: string): Promise<ContainerStatus> {
    return this.#containerStatus(this.#container(id))
  }

  async listContainers(): Promise<ContainerStatus[]> {
    return [...this.#containers.values()].map((c) => this.#containerStatus(c))
  }

  async containerUsage(id: string): Promise<Usage> {
    const { process } = this.#container(id)
    return process?.state === 'running'
      ? this.#usage.read(process.pid)
      : { atMs: this.#clock.now(), cpuNanos: 0, memoryBytes: 0 }
  }

  async execSync(id: string, command: readonly string[], timeoutSeconds: number) {
    return runToEnd(
      (await this.#surroundings(this.#container(id))).join(command, this.#runningPid(id), false),
      timeoutSeconds,
      this.#clock,
    )
  }

  async exec(id: string, options: { command: readonly string[]; tty: boolean; stdin: boolean }): Promise<Attachment> {
    const surroundings = await this.#surroundings(this.#container(id))
    return runAttached(surroundings.join(options.command, this.#runningPid(id), options.tty), options, this.#clock)
  }

  async attach(id: string, options: { tty: boolean; stdin: boolean }): Promise<Attachment> {
    this.#runningPid(id)
    return attachmentOf(await this.#shim.ask({ op: 'attach', id, stdin: options.stdin }), options)
  }

  async connect(sandboxId: string, port: number): Promise<{ readable: Readable; writable: Writable }> {
    const { state, address = '127.0.0.1' } = this.#sandbox(sandboxId)
    if (state !== 'ready') throw new RuntimeError('Unavailable', `sandbox ${sandboxId} is not running`)
    return connectTo(address, port)
  }

  async pullImage({ image }: ImagePull, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    return this.#images.pull(image)
  }

  async imageStatus(image: string) {
    return this.#images.status(image)
  }

  imageNote(image: string): string | undefined {
    if (this.#images.isKnown(image)) return undefined
    return `Image "${image}" is not in the image catalogue: running a program of this machine instead, or a placeholder if the container has no command`
  }

  async listImages() {
    return this.#images.list()
  }

  async removeImage(image: string): Promise<void> {
    this.#images.remove(image)
  }

  watch(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#limits.close()
    this.#hostPorts.closeAll()
    this.#shim.close()
  }

  async #adopt(): Promise<void> {
    // Connects to the shim first, so that the end of every container is reported from now on.
    const hasShim = await this.#shim.join()
    const boot = bootId()
    const { sandboxes, containers } = this.#records.load()
    for (const sandbox of sandboxes) {
      this.#sandboxes.set(sandbox.id, sandbox)
      if (sandbox.boot !== boot) this.#putSandbox({ ...sandbox, state: 'notReady' })
      else if (sandbox.state === 'ready' && sandbox.address !== undefined)
        await this.#keepNetwork(sandbox, sandbox.address)
    }
    const lost = new Set<string>()
    for (const record of containers) {
      const container: Container = { ...record, process: this.#records.processState(record.id) }
      if (!this.#sandboxes.has(record.sandboxId)) {
        this.#records.removeContainer(record.id)
        continue
      }
      this.#containers.set(record.id, container)
      if (container.process?.state !== 'running') continue
      const isOfThisBoot = this.#sandboxes.get(record.sandboxId)!.boot === boot
      if (!isOfThisBoot) this.#end(container, 255, 'Error', 'the machine was restarted')
      else if (!hasShim || !isAlive(container.process.pid, container.process.pidStart)) {
        if (this.#endUnlessRecorded(container) && !hasShim) lost.add(container.sandboxId)
      }
    }
    this.#loseSandboxes(lost)
    this.#limits.watch()
  }

  async #keepNetwork({ id, config }: SandboxRecord, address: string): Promise<void> {
    this.#addresses.keep(address)
    await this.#hostPorts
      .open(id, config.portMappings, address)
      .catch((error: unknown) =>
        this.#logger.warn('a host port is already in use', { pod: config.metadata.name, error }),
      )
  }

  #limited(): Limited[] {
    return [...this.#containers.values()].flatMap(({ id, config, process }) => {
      const limitBytes = config.resources.memoryBytes
      return limitBytes && process?.state === 'running'
        ? [{ id, limitBytes, heldBytes: () => this.#usage.heldBytes(process.pid) }]
        : []
    })
  }

  #outOfMemory(id: string): void {
    this.#shim
      .tell({ op: 'stop', id, timeoutSeconds: 0 })
      .catch((error: unknown) => this.#logger.warn('failed to kill a container above its memory limit', { id, error }))
  }

  #containerEnded(id: string): void {
    const container = this.#containers.get(id)
    if (container?.process?.state !== 'running') return
    const state = this.#records.processState(id)
    if (state?.state !== 'exited') return
    container.process = state
    if (this.#limits.hasKilled(id)) {
      container.process = { ...state, reason: 'OOMKilled' }
      this.#save(id, container.process)
    }
    this.#tell('stopped', container.sandboxId, id)
  }

  #shimLost(): void {
    const running = [...this.#containers.values()].filter(({ process }) => process?.state === 'running')
    const lost = running.filter((container) => this.#endUnlessRecorded(container))
    this.#loseSandboxes(new Set(lost.map(({ sandboxId }) => sandboxId)))
  }

  /** Marks sandboxes as not ready after their shim was lost. A sandbox whose containers had all ended remains. */
  #loseSandboxes(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      const sandbox = this.#sandboxes.get(id)
      if (sandbox?.state === 'ready') this.#closeSandbox(sandbox)
    }
  }

  /**
   * Handles a container without a shim: takes its recorded end, or ends it as lost. Returns true in the second case.
   */
  #endUnlessRecorded(container: Container): boolean {
    this.#containerEnded(container.id)
    const isLost = container.process?.state === 'running'
    if (isLost) this.#endLost(container)
    return isLost
  }

  #endLost(container: Container): void {
    const { pid, pidStart } = container.process!
    if (isAlive(pid, pidStart)) signalProcess(-pid, 'SIGKILL')
    for (const other of processesOf(container.id, pid)) signalProcess(other, 'SIGKILL')
    this.#logger.warn('a container has lost its shim', {
      container: container.config.metadata.name,
      id: container.id,
    })
    this.#end(container, 137, 'Error', 'the shim that held the container has ended')
    this.#tell('stopped', container.sandboxId, container.id)
  }

  #end(container: Container, exitCode: number, reason: string, message: string): void {
    const nowMs = this.#clock.now()
    const before = container.process ?? { pid: 0, pidStart: '', startedAtMs: 0 }
    container.process = { ...before, state: 'exited', finishedAtMs: nowMs, exitCode, reason, message }
    this.#save(container.id, container.process)
  }

  /** On a full disk the state is kept in memory only. The next agent finds the process gone. */
  #save(id: string, state: ProcessState): void {
    try {
      this.#records.saveProcessState(id, state)
    } catch (error) {
      this.#logger.warn('the end of a container could not be stored', { id, error })
    }
  }

  async #surroundings(container: Container): Promise<Surroundings> {
    return new Surroundings(
      container,
      this.#sandbox(container.sandboxId),
      this.#catalogue,
      { kind: await this.#view, hidden: this.#hidden },
      this.#records.containerDirectory(container.id),
    )
  }

  #containersOf(sandboxId: string): Container[] {
    return [...this.#containers.values()].filter((c) => c.sandboxId === sandboxId)
  }

  #containerStatus(container: Container): ContainerStatus {
    return containerStatus(container, container.process, this.#sandbox(container.sandboxId))
  }

  #putSandbox(record: SandboxRecord): void {
    this.#sandboxes.set(record.id, record)
    this.#records.saveSandbox(record)
  }

  #sandbox(id: string): SandboxRecord {
    const sandbox = this.#sandboxes.get(id)
    if (!sandbox) throw new RuntimeError('NotFound', `sandbox ${id} not found`)
    return sandbox
  }

  #container(id: string): Container {
    const container = this.#containers.get(id)
    if (!container) throw new RuntimeError('NotFound', `container ${id} not found`)
    return container
  }

  #runningPid(id: string): number {
    const { process } = this.#container(id)
    if (process?.state !== 'running') throw new RuntimeError('Unavailable', `container ${id} is not running`)
    return process.pid
  }

  #newId(): string {
    return this.#random.uuid().replaceAll('-', '')
  }

  #tell(kind: RuntimeEvent['kind'], sandboxId: string, containerId?: string): void {
    for (const listener of this.#listeners) listener({ kind, sandboxId, containerId })
  }
}
