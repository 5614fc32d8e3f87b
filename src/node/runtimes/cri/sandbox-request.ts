import type { LinuxResources, LinuxSandbox, SandboxConfig, SecurityProfile } from '../../runtime/runtime.ts'
import { namespaceMode, profileType, protocols } from './messages/sandbox.ts'

/** The CRI message for a sandbox. `owned` are labels by which the node finds it after a restart. */
export function sandboxMessage(config: SandboxConfig, owned: Readonly<Record<string, string>>, cgroupParent: string) {
  const { dns, linux, hostNetwork } = config
  const hasDns = dns.servers.length + dns.searches.length + dns.options.length > 0
  return {
    metadata: config.metadata,
    // A pod in the host network has the host's name. Runtimes reject any other.
    hostname: hostNetwork ? '' : config.hostname,
    logDirectory: config.logDirectory,
    // Without it the runtime gives the pod the node's own resolv.conf.
    ...(hasDns ? { dnsConfig: dns } : {}),
    portMappings: hostNetwork
      ? []
      : config.portMappings.map((port) => ({ ...port, protocol: protocols[port.protocol] })),
    labels: { ...config.labels, ...owned },
    annotations: config.annotations,
    linux: {
      cgroupParent,
      securityContext: securityContext(config, linux),
      sysctls: linux?.sysctls ?? {},
      ...(linux ? { resources: resourcesMessage(linux.resources) } : {}),
      ...(linux?.overhead ? { overhead: resourcesMessage(linux.overhead) } : {}),
    },
  }
}

function securityContext({ hostNetwork }: SandboxConfig, linux: LinuxSandbox | undefined) {
  const network = hostNetwork ? namespaceMode.node : namespaceMode.pod
  if (!linux) return { namespaceOptions: { network, pid: namespaceMode.container } }
  const { user, seLinux, privileged, seccomp } = linux
  return {
    namespaceOptions: { network, pid: namespaceMode[linux.pid], ipc: namespaceMode[linux.ipc] },
    privileged,
    seccomp: profileMessage(seccomp),
    seccompProfilePath: profilePath(seccomp),
    supplementalGroups: user.supplementalGroups,
    ...(user.uid === undefined ? {} : { runAsUser: { value: user.uid } }),
    // Runtimes reject a group without a user.
    ...(user.gid === undefined || user.uid === undefined ? {} : { runAsGroup: { value: user.gid } }),
    ...(seLinux ? { selinuxOptions: seLinux } : {}),
  }
}

export const resourcesMessage = (resources: LinuxResources) => ({
  cpuShares: resources.cpuShares,
  cpuQuota: resources.cpuQuota ?? 0,
  cpuPeriod: resources.cpuPeriod ?? 0,
  memoryLimitInBytes: resources.memoryLimitBytes ?? 0,
  oomScoreAdj: resources.oomScoreAdj ?? 0,
  hugepageLimits: Object.entries(resources.hugepages).map(([pageSize, limit]) => ({ pageSize, limit })),
})

export const profileMessage = ({ type, localhostProfile }: SecurityProfile) => ({
  profileType:
    type === 'RuntimeDefault'
      ? profileType.runtimeDefault
      : type === 'Unconfined'
        ? profileType.unconfined
        : profileType.localhost,
  localhostRef: type === 'Localhost' ? localhostProfile : '',
})

/** The same in the deprecated text form, for older runtimes. */
export const profilePath = ({ type, localhostProfile }: SecurityProfile): string =>
  type === 'RuntimeDefault' ? 'runtime/default' : type === 'Unconfined' ? 'unconfined' : `localhost/${localhostProfile}`
