import type { LinuxResources, LinuxSandbox, SandboxConfig, SecurityProfile } from '../../runtime/runtime.ts'
import { namespaceMode, profileType, protocols } from './messages/sandbox.ts'

/** The message that describes a sandbox. `owned` are labels by which its node finds it again. */
export function sandboxMessage(config: SandboxConfig, owned: Readonly<Record<string, string>>, cgroupParent: string) {
  const { dns, linux, hostNetwork } = config
  const hasDns = dns.servers.length + dns.searches.length + dns.options.length > 0
  return {
    metadata: config.metadata,
    // A pod with the host's network has the host's name, and runtimes refuse another.
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
    // A group without a user is refused.
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

/** The same for runtimes that know the older, textual field only. */
export const profilePath = ({ type, localhostProfile }: SecurityProfile): string =>
  type === 'RuntimeDefault' ? 'runtime/default' : type === 'Unconfined' ? 'unconfined' : `localhost/${localhostProfile}`
