import type { Readable, Writable } from 'node:stream'

/** What a sandbox is made for; kept with it, so that an agent that starts anew knows what it finds. Fields are those of the container runtime interface. */
export interface SandboxConfig {
  metadata: { name: string; uid: string; namespace: string; attempt: number }
  hostname: string
  /** Where the logs of its containers are, one file each: `CONTAINER/ATTEMPT.log`. */
  logDirectory: string
  dns: { servers: readonly string[]; searches: readonly string[]; options: readonly string[] }
  portMappings: readonly { protocol: 'TCP' | 'UDP' | 'SCTP'; containerPort: number; hostPort: number; hostIp: string }[]
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  hostNetwork: boolean
}

export type SandboxState = 'ready' | 'notReady'

export interface SandboxStatus {
  id: string
  metadata: SandboxConfig['metadata']
  state: SandboxState
  createdAtMs: number
  /** Empty where the pod has the host's network. */
  ips: readonly string[]
  runtimeHandler: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
}

export interface Mount {
  containerPath: string
  hostPath: string
  readOnly: boolean
  propagation: 'private' | 'hostToContainer' | 'bidirectional'
  /** Device and inode of what is to be mounted, `DEVICE:INODE`. A runtime that can refuses to start where the path leads to anything else. */
  identity?: string
}

export interface ContainerConfig {
  metadata: { name: string; attempt: number }
  image: string
  /** Empty: the image's own. */
  command: readonly string[]
  args: readonly string[]
  workingDir: string
  envs: readonly { key: string; value: string }[]
  mounts: readonly Mount[]
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  /** Below the sandbox's log directory. */
  logPath: string
  stdin: boolean
  stdinOnce: boolean
  tty: boolean
  /** What the container says it listens on; a runtime without images may answer there. */
  ports: readonly { name: string; containerPort: number; protocol: string }[]
  resources: { cpuMilli?: number; memoryBytes?: number }
  user: { uid?: number; gid?: number; supplementalGroups: readonly number[] }
  /** Programs that belong to root give no rights of root, and capabilities are dropped. */
  noNewPrivileges?: boolean
  readOnlyRootFilesystem: boolean
  stopSignal: string
}

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown'

export interface ContainerStatus {
  id: string
  sandboxId: string
  metadata: ContainerConfig['metadata']
  state: ContainerState
  createdAtMs: number
  /** 0 until it has. */
  startedAtMs: number
  finishedAtMs: number
  exitCode: number
  /** `OOMKilled`, `Error`, `Completed`. */
  reason: string
  message: string
  image: string
  imageRef: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  logPath: string
}

export interface Usage {
  /** When it was looked at. */
  atMs: number
  /** Since it was started. */
  cpuNanos: number
  memoryBytes: number
}

/** A process that was started in a container, or the container's own, with its streams. */
export interface Attachment {
  stdin: Writable | undefined
  stdout: Readable
  /** Undefined with a terminal. */
  stderr: Readable | undefined
  resize(columns: number, rows: number): void
  /** Resolves with the exit code. */
  ended: Promise<number>
}

/** Something has happened to a sandbox or a container: its state is to be asked for. */
export interface RuntimeEvent {
  kind: 'created' | 'started' | 'stopped' | 'deleted'
  sandboxId: string
  /** Undefined for the sandbox itself. */
  containerId: string | undefined
}

export interface ImagePull {
  image: string
  /** As in a docker config, if there are any. */
  credentials: readonly { username: string; password: string; server: string }[]
}

/** Why a runtime did not do something, in the words of gRPC's codes. */
export class RuntimeError extends Error {
  readonly code: 'NotFound' | 'AlreadyExists' | 'InvalidArgument' | 'Unavailable' | 'DeadlineExceeded' | 'Unknown'

  constructor(code: RuntimeError['code'], message: string) {
    super(message)
    this.name = 'RuntimeError'
    this.code = code
  }
}

/** The network of a sandbox cannot be set up: no address is left, or a host port is taken. */
export class SandboxNetworkError extends RuntimeError {
  constructor(message: string) {
    super('Unknown', message)
    this.name = 'SandboxNetworkError'
  }
}

/** How the pods of a node are kept from the node's files and from each other: each has a user of its own, or not at all. */
export type Isolation = { kind: 'user' } | { kind: 'none'; why: string }

/**
 * What runs pods on a node, in the form of the container runtime interface. Every call may fail with a RuntimeError; what takes long takes a signal. Stopping and
 * removing what is stopped or gone already is fine.
 */
export interface Runtime {
  readonly name: string
  /** Since when it remembers what it runs. What it ran before, and lost, is not in its lists. */
  readonly remembersSinceMs: number
  /** Undefined while it is being found out, and for a runtime that leaves it to somebody else. CRI has no such call. */
  readonly isolation?: Isolation | undefined
  version(): Promise<{ runtimeName: string; runtimeVersion: string }>
  /** What keeps it from working: empty when it is ready. */
  problems(): Promise<readonly { condition: 'RuntimeReady' | 'NetworkReady'; reason: string; message: string }[]>

  /** A sandbox will be asked for soon: what takes a while to start may begin. CRI has no such call. */
  expectSandbox?(): void
  /** Makes a sandbox with its network, and answers its id. Throws a SandboxNetworkError if the network fails. */
  runPodSandbox(config: SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string>
  /** Ends all that runs in it, and its network. */
  stopPodSandbox(id: string): Promise<void>
  removePodSandbox(id: string): Promise<void>
  /** Ends a sandbox with all that is in it, as a guest kernel does that crashes. For fault plans; CRI has no such call. */
  crashSandbox?(id: string): void | Promise<void>
  podSandboxStatus(id: string): Promise<SandboxStatus>
  listPodSandboxes(): Promise<SandboxStatus[]>

  createContainer(sandboxId: string, config: ContainerConfig): Promise<string>
  startContainer(id: string): Promise<void>
  /** Asks it to end with its stop signal, and kills it when the time is over. */
  stopContainer(id: string, timeoutSeconds: number): Promise<void>
  removeContainer(id: string): Promise<void>
  containerStatus(id: string): Promise<ContainerStatus>
  listContainers(): Promise<ContainerStatus[]>
  containerUsage(id: string): Promise<Usage>

  execSync(id: string, command: readonly string[], timeoutSeconds: number): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>
  exec(id: string, options: { command: readonly string[]; tty: boolean; stdin: boolean }): Promise<Attachment>
  attach(id: string, options: { tty: boolean; stdin: boolean }): Promise<Attachment>
  /** A connection to a port inside of the sandbox. */
  connect(sandboxId: string, port: number): Promise<{ readable: Readable; writable: Writable }>

  /** Answers the image's id. */
  pullImage(pull: ImagePull, signal: AbortSignal): Promise<string>
  /** Undefined for an image that is not there. */
  imageStatus(image: string): Promise<{ id: string; sizeBytes: number } | undefined>
  listImages(): Promise<{ id: string; tags: readonly string[]; sizeBytes: number }[]>
  removeImage(image: string): Promise<void>

  /** Tells of changes until the answered function is called. Some may be missed: what matters is looked at now and then. */
  watch(listener: (event: RuntimeEvent) => void): () => void
  /** Lets go of what is not a pod. Pods go on. */
  close(): Promise<void>
}
