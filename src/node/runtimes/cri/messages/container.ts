import { bool, bytes, int, map, message, nested, repeated, string } from '../../../../grpc/index.ts'
import {
  int64Value,
  linuxResources,
  namespaceOptions,
  sandboxConfig,
  seLinuxOption,
  securityProfile,
} from './sandbox.ts'

/** CRI messages about containers, with the fields that the node uses. */
export const containerStates = ['created', 'running', 'exited', 'unknown'] as const

export const propagations = { private: 0, hostToContainer: 1, bidirectional: 2 } as const

const containerMetadata = message({ name: string(1), attempt: int(2) })

export const imageSpec = message({
  image: string(1),
  annotations: map(2, string(2)),
  userSpecifiedImage: string(18),
  runtimeHandler: string(19),
})

const keyValue = message({ key: string(1), value: string(2) })

const mount = message({
  containerPath: string(1),
  hostPath: string(2),
  readonly: bool(3),
  selinuxRelabel: bool(4),
  propagation: int(5),
  recursiveReadOnly: bool(8),
})

const device = message({ containerPath: string(1), hostPath: string(2), permissions: string(3) })

const capability = message({ addCapabilities: repeated(string(1)), dropCapabilities: repeated(string(2)) })

const containerSecurityContext = message({
  capabilities: nested(1, () => capability),
  privileged: bool(2),
  namespaceOptions: namespaceOptions(3),
  selinuxOptions: nested(4, () => seLinuxOption),
  runAsUser: nested(5, () => int64Value),
  runAsUsername: string(6),
  readonlyRootfs: bool(7),
  supplementalGroups: repeated(int(8)),
  apparmorProfile: string(9),
  seccompProfilePath: string(10),
  noNewPrivs: bool(11),
  runAsGroup: nested(12, () => int64Value),
  maskedPaths: repeated(string(13)),
  readonlyPaths: repeated(string(14)),
  seccomp: nested(15, () => securityProfile),
  apparmor: nested(16, () => securityProfile),
  supplementalGroupsPolicy: int(17),
})

const linuxContainerConfig = message({
  resources: nested(1, () => linuxResources),
  securityContext: nested(2, () => containerSecurityContext),
})

const containerConfig = message({
  metadata: nested(1, () => containerMetadata),
  image: nested(2, () => imageSpec),
  command: repeated(string(3)),
  args: repeated(string(4)),
  workingDir: string(5),
  envs: repeated(nested(6, () => keyValue)),
  mounts: repeated(nested(7, () => mount)),
  devices: repeated(nested(8, () => device)),
  labels: map(9, string(2)),
  annotations: map(10, string(2)),
  logPath: string(11),
  stdin: bool(12),
  stdinOnce: bool(13),
  tty: bool(14),
  linux: nested(15, () => linuxContainerConfig),
})

export const containerStatus = message({
  id: string(1),
  metadata: nested(2, () => containerMetadata),
  state: int(3),
  createdAt: int(4),
  startedAt: int(5),
  finishedAt: int(6),
  exitCode: int(7),
  image: nested(8, () => imageSpec),
  imageRef: string(9),
  reason: string(10),
  message: string(11),
  labels: map(12, string(2)),
  annotations: map(13, string(2)),
  logPath: string(15),
})

const labelFilter = message({ labelSelector: map(4, string(2)) })

/** The fields that a list of all containers needs. */
const listedContainer = message({ id: string(1), podSandboxId: string(2), state: int(6) })

/** The fields that a list of all images in use needs. */
const containerImage = message({ image: nested(4, () => imageSpec), imageRef: string(5) })
export const listContainerImagesResponse = message({ containers: repeated(nested(1, () => containerImage)) })

export const createContainerRequest = message({
  podSandboxId: string(1),
  config: nested(2, () => containerConfig),
  sandboxConfig: nested(3, () => sandboxConfig),
})
export const containerIdMessage = message({ containerId: string(1) })
export const stopContainerRequest = message({ containerId: string(1), timeout: int(2) })
export const containerStatusRequest = message({ containerId: string(1), verbose: bool(2) })
export const containerStatusResponse = message({ status: nested(1, () => containerStatus), info: map(2, string(2)) })
export const listContainersRequest = message({ filter: nested(1, () => labelFilter) })
export const listContainersResponse = message({ containers: repeated(nested(1, () => listedContainer)) })
export const updateResourcesRequest = message({ containerId: string(1), linux: nested(2, () => linuxResources) })

export const execSyncRequest = message({ containerId: string(1), cmd: repeated(string(2)), timeout: int(3) })
export const execSyncResponse = message({ stdout: bytes(1), stderr: bytes(2), exitCode: int(3) })
export const execRequest = message({
  containerId: string(1),
  cmd: repeated(string(2)),
  tty: bool(3),
  stdin: bool(4),
  stdout: bool(5),
  stderr: bool(6),
})
export const attachRequest = message({
  containerId: string(1),
  stdin: bool(2),
  tty: bool(3),
  stdout: bool(4),
  stderr: bool(5),
})
export const portForwardRequest = message({ podSandboxId: string(1), port: repeated(int(2)) })
export const urlResponse = message({ url: string(1) })

const count = message({ value: int(1) })
const cpuUsage = message({ timestamp: int(1), usageCoreNanoSeconds: nested(2, () => count) })
const memoryUsage = message({
  timestamp: int(1),
  workingSetBytes: nested(2, () => count),
  usageBytes: nested(4, () => count),
  rssBytes: nested(5, () => count),
})
const filesystemId = message({ mountpoint: string(1) })
export const filesystemUsage = message({
  timestamp: int(1),
  fsId: nested(2, () => filesystemId),
  usedBytes: nested(3, () => count),
  inodesUsed: nested(4, () => count),
})
const containerAttributes = message({ id: string(1) })
const containerStats = message({
  attributes: nested(1, () => containerAttributes),
  cpu: nested(2, () => cpuUsage),
  memory: nested(3, () => memoryUsage),
  writableLayer: nested(4, () => filesystemUsage),
})
export const containerStatsResponse = message({ stats: nested(1, () => containerStats) })
