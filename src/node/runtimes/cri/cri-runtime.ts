import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import {
  type Attachment,
  type ContainerConfig,
  type ContainerStatus,
  type ImagePull,
  type ImageStatus,
  type ListedImage,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type SandboxConfig,
  type SandboxStatus,
  type Usage,
} from '../../runtime/runtime.ts'
import { podUidLabel } from '../../runtime/labels.ts'
import { containerMessage } from './container-request.ts'
import { CriClient, isNotFound, isUnavailable, networkErrorOf, unlessGone } from './cri-client.ts'
import { type AboutRuntime, askAboutRuntime } from './about-runtime.ts'
import { CgroupTree } from './cgroups.ts'
import { CriImages } from './cri-images.ts'
import { pidOf } from './details.ts'
import { KnownStates, type Listed } from './known-states.ts'
import { isListening } from './listening-ports.ts'
import { containerStates } from './messages/container.ts'
import { sandboxReady } from './messages/sandbox.ts'
import { methods } from './methods.ts'
import { PodLeftovers } from './pod-leftovers.ts'
import { RuntimeEvents } from './runtime-events.ts'
import { sandboxMessage } from './sandbox-request.ts'
import { LogRotation } from './log-rotation.ts'
import { containerStatusOf, sandboxStatusOf } from './statuses.ts'
import { openCommand, openPort } from './streaming.ts'
import { SubPaths } from './sub-paths.ts'

export interface CriRuntimeOptions {
  /** A path or URL of the runtime's socket. */
  endpoint: string
  /** Identifies the objects of this node among others in the same runtime. */
  owner: string
  /** The node's directory for data about the runtime. */
  directory: string
  clock: Clock
  logger: Logger
  /**
   * The name of the cgroup tree of pods. Without it the runtime chooses the cgroups, and pods have no limits of their
   * own.
   */
  cgroupTree?: string
  /** The maximum number of processes of a pod. Default: no limit of the pod. */
  podPidsLimit?: number
  /** The timeout of a call. Images and commands have their own. */
  requestTimeoutMs?: number
}

/** A label on all objects of this node. Others in the runtime are not listed, adopted or ended. */
const ownerLabel = 'coxswain.dev/node'
/** A label on containers, because the runtime's status of a container lacks its sandbox. */
const sandboxLabel = 'coxswain.dev/sandbox'
const ownLabels = new Set([ownerLabel, sandboxLabel])

/** The number of status reads, and their interval, after a container's streams have ended. */
const endLooks = 40
const endLookMs = 50

const phaseOfContainer = { created: 'created', running: 'started', exited: 'stopped', unknown: 'stopped' } as const

/** Runs pods with containerd or CRI-O through the Container Runtime Interface. */
export class CriRuntime implements Runtime {
  readonly name: string
  readonly hasContainers = true
  readonly isolation = { kind: 'container' } as const
  readonly remembersSinceMs: number
  readonly #version: string
  readonly #images: CriImages
  readonly #client: CriClient
  readonly #options: CriRuntimeOptions
  readonly #events: RuntimeEvents
  readonly #known: KnownStates
  readonly #listeners = new Set<(event: RuntimeEvent) => void>()
  #cgroups: CgroupTree | undefined
  readonly #subPaths: SubPaths
  readonly #leftovers: PodLeftovers
  readonly #sandboxConfigs = new Map<string, SandboxConfig>()
  /** The pod of each sandbox, by uid. */
  readonly #uids = new Map<string, string>()
  /** Containers that were stopped before they were started. The runtime still reports them as created. */
  readonly #neverStarted = new Map<string, number>()
  /** The log files of running containers, by container. */
  readonly #logs = new Map<string, string>()
  readonly #rotation: LogRotation

  /** Rejects if there is no answer, or if the answer is not from a container runtime. */
  static async open(options: CriRuntimeOptions): Promise<CriRuntime> {
    const client = new CriClient(options.endpoint, options.clock, options.requestTimeoutMs)
    try {
      const runtime = new CriRuntime(options, client, await askAboutRuntime(client, options.clock.now()))
      await runtime.#checkCgroups()
      const present = await runtime.listPodSandboxes()
      await runtime.#leftovers.sweep(new Set(present.map(({ metadata }) => metadata.uid)))
      runtime.#events.start()
      runtime.#rotation.start()
      return runtime
    } catch (e) {
      client.close()
      throw e
    }
  }

  private constructor(options: CriRuntimeOptions, client: CriClient, about: AboutRuntime) {
    this.#options = options
    this.#client = client
    this.name = about.runtimeName
    this.#version = about.runtimeVersion
    this.#images = new CriImages(client, about.sandboxImage)
    this.remembersSinceMs = about.bornMs
    const { cgroupTree: name, podPidsLimit: pidsLimit, directory } = options
    this.#cgroups =
      name === undefined
        ? undefined
        : new CgroupTree({ mount: '/sys/fs/cgroup', name, pidsLimit, usesSystemd: about.usesSystemd })
    this.#subPaths = new SubPaths(path.join(directory, 'subpaths'))
    this.#leftovers = new PodLeftovers({
      cgroups: () => this.#cgroups,
      subPaths: this.#subPaths,
      logger: options.logger,
      hasSandboxes: (uid) => this.#hasSandboxes(uid),
    })
    this.#known = new KnownStates((event) => {
      if (event.kind === 'deleted' && event.containerId === undefined) void this.#forgetSandbox(event.sandboxId)
      if (event.kind === 'deleted' && event.containerId !== undefined) this.#forgetContainer(event.containerId)
      for (const listener of this.#listeners) listener(event)
    })
    this.#rotation = new LogRotation({
      clock: options.clock,
      logger: options.logger,
      running: () => this.#logs,
      reopen: (id) => this.reopenLog(id),
    })
    this.#events = new RuntimeEvents({ client, clock: options.clock, logger: options.logger, look: () => this.#look() })
  }

  async version() {
    return { runtimeName: this.name, runtimeVersion: this.#version }
  }

  async problems() {
    try {
      const { status } = await this.#client.call(methods.status, {})
      return (['RuntimeReady', 'NetworkReady'] as const).flatMap((condition) => {
        const found = status?.conditions.find(({ type }) => type === condition)
        return found?.status
          ? []
          : [{ condition, reason: found?.reason ?? '', message: found?.message ?? 'the runtime gives no reason' }]
      })
    } catch (e) {
      return [{ condition: 'RuntimeReady' as const, reason: 'ContainerRuntimeDown', message: (e as Error).message }]
    }
  }

  async runPodSandbox(config: SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    mkdirSync(config.logDirectory, { recursive: true })
    const { uid } = config.metadata
    return this.#leftovers.creating(uid, async () => {
      if (config.linux) await this.#cgroups?.make(uid, config.linux)
      const request = { config: this.#sandboxMessage(config), runtimeHandler }
      // Network setup may be slow: kubelet waits twice as long as for other calls.
      const limits = { timeoutMs: 2 * this.#client.timeoutMs, signal }
      const { podSandboxId: id } = await this.#client
        .call(methods.runPodSandbox, request, limits)
        .catch((e: unknown) => {
          throw networkErrorOf(e)
        })
      this.#sandboxConfigs.set(id, config)
      this.#uids.set(id, uid)
      this.#known.note(id, id, 'started')
      return id
    })
  }

  async stopPodSandbox(id: string): Promise<void> {
    await this.#client
      .call(methods.stopPodSandbox, { podSandboxId: id }, { timeoutMs: 2 * this.#client.timeoutMs })
      .catch(unlessGone)
    for (const container of this.#known.containersOf(id)) this.#stopped(container)
    // Running containers have their own copies of the mounts that are released here.
    const uid = this.#uids.get(id)
    if (uid !== undefined) await this.#subPaths.release(uid)
    if (this.#known.sandboxOf(id)) this.#known.note(id, id, 'stopped')
  }

  readonly crashSandbox = (id: string): Promise<void> => this.stopPodSandbox(id)

  async removePodSandbox(id: string): Promise<void> {
    // Reads the pod of a sandbox that an earlier agent has created.
    if (!this.#uids.has(id)) await this.podSandboxStatus(id).catch(unlessGone)
    await this.stopPodSandbox(id)
    await this.#client.call(methods.removePodSandbox, { podSandboxId: id }).catch(unlessGone)
    await this.#forgetSandbox(id)
    for (const container of this.#known.containersOf(id)) this.#known.removed(container)
    this.#known.removed(id)
  }

  async podSandboxStatus(id: string): Promise<SandboxStatus> {
    const { status } = await this.#client.call(methods.podSandboxStatus, { podSandboxId: id })
    if (!status) throw new RuntimeError('NotFound', `sandbox ${id} not found`)
    const told = sandboxStatusOf(status, ownLabels)
    this.#uids.set(id, told.metadata.uid)
    return told
  }

  async listPodSandboxes(): Promise<SandboxStatus[]> {
    const { items } = await this.#client.call(methods.listPodSandboxes, this.#ownedFilter)
    return present(items.map(({ id }) => this.podSandboxStatus(id)))
  }

  async createContainer(sandboxId: string, config: ContainerConfig, sandbox?: SandboxConfig): Promise<string> {
    const sandboxConfig = sandbox ?? this.#sandboxConfigs.get(sandboxId)
    if (!sandboxConfig) {
      await this.podSandboxStatus(sandboxId)
      throw new RuntimeError('InvalidArgument', `the configuration of sandbox ${sandboxId} is not known`)
    }
    mkdirSync(path.dirname(path.join(sandboxConfig.logDirectory, config.logPath)), { recursive: true })
    await this.#resize(sandboxId, sandboxConfig)
    const owned = { [ownerLabel]: this.#options.owner, [sandboxLabel]: sandboxId }
    const { name, attempt } = config.metadata
    const mounts = await this.#subPaths.secure(sandboxConfig.metadata.uid, name, attempt, config.mounts)
    const image = await this.imageStatus(config.image)
    const request = {
      podSandboxId: sandboxId,
      config: containerMessage({ ...config, mounts }, { hostNetwork: sandboxConfig.hostNetwork, owned, image }),
      sandboxConfig: this.#sandboxMessage(sandboxConfig),
    }
    const { containerId } = await this.#client.call(methods.createContainer, request).catch(async (e: unknown) => {
      const { state } = await this.podSandboxStatus(sandboxId)
      throw state === 'ready' ? e : new RuntimeError('Unknown', `sandbox ${sandboxId} is not running`)
    })
    this.#known.note(containerId, sandboxId, 'created')
    return containerId
  }

  /** Gives the pod's cgroup the resources that its containers have in the spec now. */
  async #resize(sandboxId: string, config: SandboxConfig): Promise<void> {
    const { metadata, linux } = config
    const before = this.#sandboxConfigs.get(sandboxId)?.linux
    this.#sandboxConfigs.set(sandboxId, config)
    if (linux && JSON.stringify(before?.resources) !== JSON.stringify(linux.resources))
      await this.#cgroups?.make(metadata.uid, linux)
  }

  async startContainer(id: string): Promise<void> {
    try {
      await this.#client.call(methods.startContainer, { containerId: id })
    } catch (e) {
      throw await this.#withState(id, e, (state) => state === 'running' || state === 'exited')
    }
    const sandboxId = this.#known.sandboxOf(id)
    if (sandboxId) this.#known.note(id, sandboxId, 'started')
  }

  async stopContainer(id: string, timeoutSeconds: number): Promise<void> {
    const request = { containerId: id, timeout: timeoutSeconds }
    await this.#client
      .call(methods.stopContainer, request, { timeoutMs: this.#client.timeoutMs + timeoutSeconds * 1000 })
      .catch(unlessGone)
    this.#stopped(id)
  }

  async removeContainer(id: string): Promise<void> {
    await this.stopContainer(id, 0)
    await this.#client.call(methods.removeContainer, { containerId: id }).catch(unlessGone)
    this.#known.removed(id)
    this.#forgetContainer(id)
  }

  async containerStatus(id: string): Promise<ContainerStatus> {
    const { status } = await this.#client.call(methods.containerStatus, { containerId: id })
    if (!status) throw new RuntimeError('NotFound', `container ${id} not found`)
    const told = containerStatusOf(status, status.labels[sandboxLabel] ?? '', ownLabels)
    if (told.state === 'running') this.#logs.set(id, told.logPath)
    else this.#logs.delete(id)
    const stoppedMs = told.state === 'created' ? this.#neverStarted.get(id) : undefined
    return stoppedMs === undefined ? told : { ...told, state: 'exited', finishedAtMs: stoppedMs, reason: 'Completed' }
  }

  async listContainers(): Promise<ContainerStatus[]> {
    const { containers } = await this.#client.call(methods.listContainers, this.#ownedFilter)
    return present(containers.map(({ id }) => this.containerStatus(id)))
  }

  /** Makes the runtime write to a new file after the old one was renamed. */
  async reopenLog(id: string): Promise<void> {
    await this.#client.call(methods.reopenContainerLog, { containerId: id })
  }

  async containerUsage(id: string): Promise<Usage> {
    const { stats } = await this.#client.call(methods.containerStats, { containerId: id })
    return {
      atMs: this.#options.clock.now(),
      cpuNanos: stats?.cpu?.usageCoreNanoSeconds?.value ?? 0,
      memoryBytes: stats?.memory?.workingSetBytes?.value ?? 0,
      ...(stats?.memory?.usageBytes ? { usageBytes: stats.memory.usageBytes.value } : {}),
      ...(stats?.memory?.rssBytes ? { rssBytes: stats.memory.rssBytes.value } : {}),
      ...(stats?.writableLayer?.usedBytes ? { diskBytes: stats.writableLayer.usedBytes.value } : {}),
    }
  }

  async execSync(id: string, command: readonly string[], timeoutSeconds: number) {
    const limits = { timeoutMs: timeoutSeconds > 0 ? this.#client.timeoutMs + timeoutSeconds * 1000 : 0 }
    const request = { containerId: id, cmd: command, timeout: timeoutSeconds }
    return this.#client.call(methods.execSync, request, limits).catch(async (e: unknown) => {
      throw await this.#withState(id, e, (state) => state !== 'running', 'not running')
    })
  }

  async exec(
    id: string,
    { command, tty, stdin }: { command: readonly string[]; tty: boolean; stdin: boolean },
  ): Promise<Attachment> {
    const { url } = await this.#client
      .call(methods.exec, { containerId: id, cmd: command, tty, stdin, stdout: true, stderr: !tty })
      .catch(async (e: unknown) => {
        throw await this.#withState(id, e, (state) => state !== 'running', 'not running')
      })
    return openCommand(url, { tty, stdin })
  }

  async attach(id: string, { tty, stdin }: { tty: boolean; stdin: boolean }): Promise<Attachment> {
    const { url } = await this.#client
      .call(methods.attach, { containerId: id, tty, stdin, stdout: true, stderr: !tty })
      .catch(async (e: unknown) => {
        throw await this.#withState(id, e, (state) => state !== 'running', 'not running')
      })
    const attachment = await openCommand(url, { tty, stdin })
    // The stream reports its end, but not the exit code.
    const exitCode = () => this.#exitCodeOf(id)
    return { ...attachment, ended: attachment.ended.then(exitCode, exitCode) }
  }

  /**
   * The exit code of a container whose streams have ended. The container ends at about the same time, unless it only
   * closed its streams; the result is then 0.
   */
  async #exitCodeOf(id: string): Promise<number> {
    for (let look = 0; look < endLooks; look++) {
      const { state, exitCode } = await this.containerStatus(id)
      if (state === 'exited') return exitCode
      await new Promise<void>((resolve) => this.#options.clock.after(endLookMs, resolve))
    }
    return 0
  }

  async connect(sandboxId: string, port: number): Promise<{ readable: Readable; writable: Writable }> {
    const { status, info } = await this.#client.call(methods.podSandboxStatus, {
      podSandboxId: sandboxId,
      verbose: true,
    })
    if (status?.state !== sandboxReady) throw new RuntimeError('Unavailable', `sandbox ${sandboxId} is not running`)
    // The runtime connects only when data is sent. A port without a listener is reported at once.
    const pid = pidOf(info)
    if (pid !== undefined && (await isListening(pid, port)) === false) {
      throw new RuntimeError(
        'Unavailable',
        `failed to connect to localhost:${port} inside namespace of sandbox ${sandboxId}: connect: connection refused`,
      )
    }
    const { url } = await this.#client.call(methods.portForward, { podSandboxId: sandboxId, port: [port] })
    return openPort(url, port)
  }

  readonly pullImage = (pull: ImagePull, signal: AbortSignal): Promise<string> => this.#images.pull(pull, signal)
  readonly imageStatus = (image: string): Promise<ImageStatus | undefined> => this.#images.status(image)
  readonly listImages = (): Promise<ListedImage[]> => this.#images.list()
  readonly removeImage = (image: string): Promise<void> => this.#images.remove(image)
  readonly imagesInUse = (): Promise<ReadonlySet<string>> => this.#images.inUse()
  readonly imageDirectory = (): Promise<string | undefined> => this.#images.directory()

  watch(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#events.stop()
    this.#rotation.stop()
    this.#client.close()
    await this.#cgroups?.removeIfEmpty()
  }

  /** If cgroups cannot be written, pods run without limits of their own. */
  async #checkCgroups(): Promise<void> {
    await this.#cgroups?.check().catch((error: unknown) => {
      this.#options.logger.warn('cgroups are not writable: limits are enforced for containers, but not for pods', {
        error,
      })
      this.#cgroups = undefined
    })
  }

  get #ownedFilter() {
    return { filter: { labelSelector: { [ownerLabel]: this.#options.owner } } }
  }

  #sandboxMessage(config: SandboxConfig) {
    const { metadata, linux } = config
    const parent = linux && this.#cgroups?.parentOf(metadata.uid, linux.qosClass)
    return sandboxMessage(config, { [ownerLabel]: this.#options.owner }, parent ?? '')
  }

  async #hasSandboxes(uid: string): Promise<boolean> {
    const labelSelector = { [ownerLabel]: this.#options.owner, [podUidLabel]: uid }
    const { items } = await this.#client.call(methods.listPodSandboxes, { filter: { labelSelector } })
    return items.length > 0
  }

  #forgetContainer(id: string): void {
    this.#neverStarted.delete(id)
    this.#logs.delete(id)
  }

  /** Forgets a sandbox that is gone, whoever has removed it, and removes what its pod has left. */
  async #forgetSandbox(id: string): Promise<void> {
    const uid = this.#uids.get(id)
    this.#sandboxConfigs.delete(id)
    this.#uids.delete(id)
    if (uid !== undefined) await this.#leftovers.remove(uid)
  }

  /** Lists all objects of this node with the fields that show changes. Resolves with the number of changes. */
  async #look(): Promise<number> {
    const take = this.#known.look()
    const [{ items }, { containers }] = await Promise.all([
      this.#client.call(methods.listPodSandboxes, this.#ownedFilter),
      this.#client.call(methods.listContainers, this.#ownedFilter),
    ])
    const listed: Listed[] = [
      ...items.map(({ id, state }) => ({
        id,
        sandboxId: id,
        phase: state === sandboxReady ? ('started' as const) : ('stopped' as const),
      })),
      ...containers.map(({ id, podSandboxId, state }) => ({
        id,
        sandboxId: podSandboxId,
        phase: phaseOfContainer[containerStates[state] ?? 'unknown'],
      })),
    ]
    return take(listed)
  }

  #stopped(id: string): void {
    const sandboxId = this.#known.sandboxOf(id)
    if (!sandboxId) return
    if (this.#known.phaseOf(id) === 'created') this.#neverStarted.set(id, this.#options.clock.now())
    this.#known.note(id, sandboxId, 'stopped')
  }

  /** Returns the error, or an error that names the state of the container if that explains it. */
  async #withState(id: string, error: unknown, explains: (state: string) => boolean, word?: string): Promise<unknown> {
    if (isNotFound(error) || isUnavailable(error)) return error
    const state = await this.containerStatus(id).then(
      (status) => status.state,
      () => undefined,
    )
    return state !== undefined && explains(state)
      ? new RuntimeError('Unknown', `container ${id} is ${word ?? state}`)
      : error
  }
}

/** The successful results. Results about objects that are gone are omitted. */
async function present<T>(asked: readonly Promise<T>[]): Promise<T[]> {
  const found: T[] = []
  for (const result of await Promise.allSettled(asked)) {
    if (result.status === 'fulfilled') found.push(result.value)
    else if (!isNotFound(result.reason)) throw result.reason
  }
  return found
}
