import { bool, int, map, message, nested, repeated, string } from '../../../../grpc/index.ts'

/*
 * CRI messages (runtime.v1) about sandboxes, with the fields that the node uses. The field numbers are those of
 * Kubernetes' api.proto.
 */

export const namespaceMode = { pod: 0, container: 1, node: 2, target: 3 } as const
export const profileType = { runtimeDefault: 0, unconfined: 1, localhost: 2 } as const
export const protocols = { TCP: 0, UDP: 1, SCTP: 2 } as const
export const sandboxReady = 0

export const int64Value = message({ value: int(1) })

const namespaceOption = message({ network: int(1), pid: int(2), ipc: int(3), targetId: string(4) })

export const seLinuxOption = message({ user: string(1), role: string(2), type: string(3), level: string(4) })

export const securityProfile = message({ profileType: int(1), localhostRef: string(2) })

export const namespaceOptions = (number: number) => nested(number, () => namespaceOption)

const sandboxSecurityContext = message({
  namespaceOptions: namespaceOptions(1),
  selinuxOptions: nested(2, () => seLinuxOption),
  runAsUser: nested(3, () => int64Value),
  readonlyRootfs: bool(4),
  supplementalGroups: repeated(int(5)),
  privileged: bool(6),
  seccompProfilePath: string(7),
  runAsGroup: nested(8, () => int64Value),
  seccomp: nested(9, () => securityProfile),
  apparmor: nested(10, () => securityProfile),
})

const hugepageLimit = message({ pageSize: string(1), limit: int(2) })

export const linuxResources = message({
  cpuPeriod: int(1),
  cpuQuota: int(2),
  cpuShares: int(3),
  memoryLimitInBytes: int(4),
  oomScoreAdj: int(5),
  hugepageLimits: repeated(nested(8, () => hugepageLimit)),
  unified: map(9, string(2)),
})

const linuxSandboxConfig = message({
  cgroupParent: string(1),
  securityContext: nested(2, () => sandboxSecurityContext),
  sysctls: map(3, string(2)),
  overhead: nested(4, () => linuxResources),
  resources: nested(5, () => linuxResources),
})

const sandboxMetadata = message({ name: string(1), uid: string(2), namespace: string(3), attempt: int(4) })

const dnsConfig = message({ servers: repeated(string(1)), searches: repeated(string(2)), options: repeated(string(3)) })

const portMapping = message({ protocol: int(1), containerPort: int(2), hostPort: int(3), hostIp: string(4) })

export const sandboxConfig = message({
  metadata: nested(1, () => sandboxMetadata),
  hostname: string(2),
  logDirectory: string(3),
  dnsConfig: nested(4, () => dnsConfig),
  portMappings: repeated(nested(5, () => portMapping)),
  labels: map(6, string(2)),
  annotations: map(7, string(2)),
  linux: nested(8, () => linuxSandboxConfig),
})

const podIp = message({ ip: string(1) })
const sandboxNetworkStatus = message({ ip: string(1), additionalIps: repeated(nested(2, () => podIp)) })

export const sandboxStatus = message({
  id: string(1),
  metadata: nested(2, () => sandboxMetadata),
  state: int(3),
  createdAt: int(4),
  network: nested(5, () => sandboxNetworkStatus),
  labels: map(7, string(2)),
  annotations: map(8, string(2)),
  runtimeHandler: string(9),
})

const labelFilter = message({ labelSelector: map(3, string(2)) })

/** The fields that a list of all sandboxes needs. The rest is read after a change. */
const listedSandbox = message({ id: string(1), state: int(3) })

export const runPodSandboxRequest = message({ config: nested(1, () => sandboxConfig), runtimeHandler: string(2) })
export const sandboxIdMessage = message({ podSandboxId: string(1) })
export const sandboxStatusRequest = message({ podSandboxId: string(1), verbose: bool(2) })
export const sandboxStatusResponse = message({ status: nested(1, () => sandboxStatus), info: map(2, string(2)) })
export const listSandboxesRequest = message({ filter: nested(1, () => labelFilter) })
export const listSandboxesResponse = message({ items: repeated(nested(1, () => listedSandbox)) })
export const empty = message({})
