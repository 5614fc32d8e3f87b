import type { Readable, Writable } from 'node:stream'

/**
 * The configuration of a sandbox. The runtime keeps it, so that a restarted agent can identify the sandbox. Fields are
 * those of the CRI.
 */
export interface SandboxConfig {
  metadata: { name: string; uid: string; namespace: string; attempt: number }
  hostname: string
  /** The directory of the containers' logs: `CONTAINER/ATTEMPT.log`. */
  logDirectory: string
  dns: { servers: readonly string[]; searches: readonly string[]; options: readonly string[] }
  portMappings: readonly { protocol: 'TCP' | 'UDP' | 'SCTP'; containerPort: number; hostPort: number; hostIp: string }[]
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  hostNetwork: boolean
  /** For runtimes with namespaces and cgroups. */
  linux?: LinuxSandbox
}

/** A seccomp or AppArmor profile. */
export interface SecurityProfile {
  type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  /** The name or file of a Localhost profile. */
  localhostProfile: string
}

export interface SeLinuxLabels {
  user: string
  role: string
  type: string
  level: string
}

/** The cgroup limits of a container or of a whole pod. An undefined resource is not limited. */
export interface LinuxResources {
  cpuShares: number
  /** Microseconds of CPU time in each period. */
  cpuQuota?: number
  cpuPeriod?: number
  memoryLimitBytes?: number
  /** For containers only. */
  oomScoreAdj?: number
  /** Bytes by page size, such as `2MB`. */
  hugepages: Readonly<Record<string, number>>
}

/** The Linux settings of a sandbox. */
export interface LinuxSandbox {
  /** The namespaces that its containers have; each has its own network unless the pod has the host's. */
  pid: 'container' | 'pod' | 'node'
  ipc: 'pod' | 'node'
  user: { uid?: number; gid?: number; supplementalGroups: readonly number[] }
  /** True if a container of the pod is privileged. */
  privileged: boolean
  seccomp: SecurityProfile
  seLinux?: SeLinuxLabels
  sysctls: Readonly<Record<string, string>>
  qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort'
  resources: LinuxResources
  overhead?: LinuxResources
}

/** The security settings of a container on Linux. */
export interface LinuxContainer {
  privileged: boolean
  /** Capabilities without `CAP_`. */
  capabilities: { add: readonly string[]; drop: readonly string[] }
  allowPrivilegeEscalation: boolean
  seccomp: SecurityProfile
  /** Undefined selects the runtime's default. */
  appArmor?: SecurityProfile
  seLinux?: SeLinuxLabels
  /** True if the runtime masks parts of /proc and /sys or makes them read-only. */
  masksProc: boolean
  strictGroups: boolean
  pid: 'container' | 'pod' | 'node' | { targetId: string }
  ipc: 'pod' | 'node'
  resources: LinuxResources
  devices: readonly { containerPath: string; hostPath: string; readOnly: boolean }[]
}

export type SandboxState = 'ready' | 'notReady'

export interface SandboxStatus {
  id: string
  metadata: SandboxConfig['metadata']
  state: SandboxState
  createdAtMs: number
  /** Empty for a pod in the host network. */
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
  /** True for a part of a volume: whoever writes to the volume may put something else in its place. */
  isSubPath?: boolean
  /**
   * Device and inode of what is to be mounted, `DEVICE:INODE`. A runtime that can refuses to start where the path leads
   * to anything else.
   */
  identity?: string
}

export interface ContainerConfig {
  metadata: { name: string; attempt: number }
  image: string
  /** Empty selects the entry point of the image. */
  command: readonly string[]
  args: readonly string[]
  workingDir: string
  envs: readonly { key: string; value: string }[]
  mounts: readonly Mount[]
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  /** Relative to the sandbox's log directory. */
  logPath: string
  stdin: boolean
  stdinOnce: boolean
  tty: boolean
  /** The container's declared ports. A runtime without images may answer on them. */
  ports: readonly { name: string; containerPort: number; protocol: string }[]
  resources: { cpuMilli?: number; memoryBytes?: number }
  user: { uid?: number; gid?: number; supplementalGroups: readonly number[] }
  /** Setuid programs gain no privileges, and capabilities are dropped. */
  noNewPrivileges?: boolean
  readOnlyRootFilesystem: boolean
  stopSignal: string
  /** For runtimes with namespaces and cgroups. */
  linux?: LinuxContainer
}

type ContainerState = 'created' | 'running' | 'exited' | 'unknown'

export interface ContainerStatus {
  id: string
  sandboxId: string
  metadata: ContainerConfig['metadata']
  state: ContainerState
  createdAtMs: number
  /** 0 until the container has started. */
  startedAtMs: number
  finishedAtMs: number
  exitCode: number
  /** For example `OOMKilled`, `Error` or `Completed`. */
  reason: string
  message: string
  image: string
  imageRef: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  logPath: string
}

export interface Usage {
  /** The time of the measurement. */
  atMs: number
  /** CPU time since the container started. */
  cpuNanos: number
  /** The working set: memory that cannot be reclaimed. */
  memoryBytes: number
  /**
   * `usageBytes` includes caches, `rssBytes` excludes files, `diskBytes` is the writable layer. Undefined if unknown.
   */
  usageBytes?: number
  rssBytes?: number
  diskBytes?: number
}

/** The streams of a process in a container: one that `exec` started, or the container's own. */
export interface Attachment {
  stdin: Writable | undefined
  stdout: Readable
  /** Undefined with a terminal, which merges it into stdout. */
  stderr: Readable | undefined
  resize(columns: number, rows: number): void
  /** Resolves with the exit code. */
  ended: Promise<number>
}

/** A state change of a sandbox or container. It names the object; its state must be read again. */
export interface RuntimeEvent {
  kind: 'created' | 'started' | 'stopped' | 'deleted'
  sandboxId: string
  /** Undefined if the event is about the sandbox itself. */
  containerId: string | undefined
}

/** A login of a registry, as in a docker config. */
export interface RegistryCredential {
  server: string
  username: string
  password: string
}

export interface ImagePull {
  image: string
  /** Undefined pulls without a login. */
  credential?: RegistryCredential
}

export interface ImageStatus {
  id: string
  sizeBytes: number
  /** The image's default user: an id or a name. Undefined if the runtime does not report it. */
  user?: { uid: number } | { name: string }
}

export interface ListedImage {
  id: string
  tags: readonly string[]
  sizeBytes: number
  /** True for images that the runtime itself needs. */
  isPinned?: boolean
}

/** An error of a runtime, with a gRPC status code. */
export class RuntimeError extends Error {
  readonly code: 'NotFound' | 'AlreadyExists' | 'InvalidArgument' | 'Unavailable' | 'DeadlineExceeded' | 'Unknown'

  constructor(code: RuntimeError['code'], message: string) {
    super(message)
    this.name = 'RuntimeError'
    this.code = code
  }
}

/** The network of a sandbox could not be set up, for example because no address is left or a host port is taken. */
export class SandboxNetworkError extends RuntimeError {
  constructor(message: string) {
    super('Unknown', message)
    this.name = 'SandboxNetworkError'
  }
}

/**
 * The isolation of pods from the node's files and from each other: by a user id for each pod, by namespaces that hide
 * the node's files, by containers, or none.
 */
export type Isolation = { kind: 'user' } | { kind: 'namespace' } | { kind: 'container' } | { kind: 'none'; why: string }

/**
 * The container runtime of a node, modeled on the CRI. Every call may reject with a RuntimeError. Long calls take a
 * signal. Stop and remove calls are idempotent.
 */
export interface Runtime {
  readonly name: string
  /**
   * The time since which the runtime remembers its sandboxes. Earlier ones that it has lost are missing from its lists.
   */
  readonly remembersSinceMs: number
  /** Undefined until it is known, and for a runtime whose pods run no program. Not a CRI call. */
  readonly isolation?: Isolation | undefined
  /**
   * True if containers have the files of their image, namespaces and cgroups. The node's own files must be mounted
   * then, and the `linux` settings apply.
   */
  readonly hasContainers?: boolean
  version(): Promise<{ runtimeName: string; runtimeVersion: string }>
  /** The reasons why the runtime is not ready; empty if it is. */
  problems(): Promise<readonly { condition: 'RuntimeReady' | 'NetworkReady'; reason: string; message: string }[]>

  /** Announces a sandbox, so that slow preparations can begin. Not a CRI call. */
  expectSandbox?(): void
  /** Creates a sandbox with its network and returns its id. Throws a SandboxNetworkError if the network fails. */
  runPodSandbox(config: SandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string>
  /** Stops all containers of the sandbox and tears down its network. */
  stopPodSandbox(id: string): Promise<void>
  removePodSandbox(id: string): Promise<void>
  /**
   * Ends a sandbox and all its containers abruptly, like the crash of a guest kernel. For fault plans; not a CRI call.
   */
  crashSandbox?(id: string): void | Promise<void>
  podSandboxStatus(id: string): Promise<SandboxStatus>
  listPodSandboxes(): Promise<SandboxStatus[]>

  /** `sandbox` is the sandbox's configuration. A runtime that remembers the configuration itself ignores it. */
  createContainer(sandboxId: string, config: ContainerConfig, sandbox?: SandboxConfig): Promise<string>
  startContainer(id: string): Promise<void>
  /** Sends the stop signal and kills the container after the timeout. */
  stopContainer(id: string, timeoutSeconds: number): Promise<void>
  removeContainer(id: string): Promise<void>
  containerStatus(id: string): Promise<ContainerStatus>
  listContainers(): Promise<ContainerStatus[]>
  containerUsage(id: string): Promise<Usage>

  execSync(
    id: string,
    command: readonly string[],
    timeoutSeconds: number,
  ): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>
  exec(id: string, options: { command: readonly string[]; tty: boolean; stdin: boolean }): Promise<Attachment>
  attach(id: string, options: { tty: boolean; stdin: boolean }): Promise<Attachment>
  /** Connects to a port inside the sandbox. */
  connect(sandboxId: string, port: number): Promise<{ readable: Readable; writable: Writable }>

  /** Returns the image's id. */
  pullImage(pull: ImagePull, signal: AbortSignal): Promise<string>
  /** Undefined if the image is not present. */
  imageStatus(image: string): Promise<ImageStatus | undefined>
  /** A note about a pulled image, for an event of the pod. Not a CRI call. */
  imageNote?(image: string): string | undefined
  listImages(): Promise<ListedImage[]>
  removeImage(image: string): Promise<void>
  /** A directory on the image file system; undefined if images use no disk space. */
  imageDirectory?(): Promise<string | undefined>
  /** The ids and names of images in use by containers. For runtimes with an imageDirectory. */
  imagesInUse?(): Promise<ReadonlySet<string>>

  /**
   * Reports changes until the returned function is called. Events may be missed, so callers list again periodically.
   */
  watch(listener: (event: RuntimeEvent) => void): () => void
  /** Releases the runtime's own resources. Pods keep running. */
  close(): Promise<void>
}
