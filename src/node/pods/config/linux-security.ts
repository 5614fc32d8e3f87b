import type { Pod, SELinuxOptions } from '../../../api/generated/types.ts'
import { computeQosClass } from '../../../api/kinds/pods/qos.ts'
import type {
  ContainerStatus,
  LinuxContainer,
  LinuxSandbox,
  SeLinuxLabels,
  SecurityProfile,
} from '../../runtime/runtime.ts'
import type { PodContainer } from '../containers.ts'
import { containersOf } from '../containers.ts'
import { containerResources, overheadResources, podResources } from './linux-resources.ts'

interface Profile {
  type: string
  localhostProfile?: string
}

const profileOf = ({ type, localhostProfile = '' }: Profile): SecurityProfile => ({
  type: type as SecurityProfile['type'],
  localhostProfile,
})

const labelsOf = (options: SELinuxOptions | undefined): { seLinux: SeLinuxLabels } | object =>
  options
    ? {
        seLinux: {
          user: options.user ?? '',
          role: options.role ?? '',
          type: options.type ?? '',
          level: options.level ?? '',
        },
      }
    : {}

const pidOf = ({ hostPID, shareProcessNamespace }: Pod['spec']): LinuxSandbox['pid'] =>
  hostPID ? 'node' : shareProcessNamespace ? 'pod' : 'container'

const ipcOf = ({ hostIPC }: Pod['spec']): LinuxSandbox['ipc'] => (hostIPC ? 'node' : 'pod')

/** The supplemental groups of the pod's processes. */
function groupsOf({ spec }: Pod): number[] {
  const { supplementalGroups = [], fsGroup } = spec.securityContext ?? {}
  return [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])].map(Number)
}

/** The Linux part of the sandbox's configuration. */
export function linuxSandbox(pod: Pod): LinuxSandbox {
  const { spec } = pod
  const context = spec.securityContext ?? {}
  return {
    pid: pidOf(spec),
    ipc: ipcOf(spec),
    user: {
      ...(context.runAsUser === undefined ? {} : { uid: Number(context.runAsUser) }),
      ...(context.runAsGroup === undefined ? {} : { gid: Number(context.runAsGroup) }),
      supplementalGroups: groupsOf(pod),
    },
    privileged: containersOf(pod).some(({ spec: container }) => container.securityContext?.privileged === true),
    // The pause process needs no privileges, whatever the containers have.
    seccomp: { type: 'RuntimeDefault', localhostProfile: '' },
    ...labelsOf(context.seLinuxOptions),
    // A sysctl name may use slashes instead of dots.
    sysctls: Object.fromEntries((context.sysctls ?? []).map(({ name, value }) => [name.replaceAll('/', '.'), value])),
    qosClass: computeQosClass(spec),
    resources: podResources(pod),
    ...(spec.overhead ? { overhead: overheadResources(spec.overhead as Record<string, string>) } : {}),
  }
}

interface LinuxSurroundings {
  nodeMemoryBytes: number
  /** The path of each volume of the pod, by name. */
  volumes: ReadonlyMap<string, string>
  /** The containers of the pod: an ephemeral container may share the processes of another one. */
  containers: readonly ContainerStatus[]
}

/** The security settings of a container. */
export function linuxContainer(pod: Pod, container: PodContainer, around: LinuxSurroundings): LinuxContainer {
  const { spec } = container
  const ofPod = pod.spec.securityContext ?? {}
  const own = spec.securityContext ?? {}
  const privileged = own.privileged === true
  const seccomp = own.seccompProfile ?? ofPod.seccompProfile
  const appArmor = own.appArmorProfile ?? ofPod.appArmorProfile
  return {
    privileged,
    capabilities: { add: own.capabilities?.add ?? [], drop: own.capabilities?.drop ?? [] },
    allowPrivilegeEscalation: own.allowPrivilegeEscalation !== false,
    // A privileged container is unconfined unless it requests a profile.
    seccomp: seccomp ? profileOf(seccomp) : { type: 'Unconfined', localhostProfile: '' },
    ...(appArmor ? { appArmor: profileOf(appArmor) } : {}),
    ...labelsOf(own.seLinuxOptions ?? ofPod.seLinuxOptions),
    masksProc: !privileged && own.procMount !== 'Unmasked',
    strictGroups: ofPod.supplementalGroupsPolicy === 'Strict',
    pid: targetOf(pod, container, around.containers) ?? pidOf(pod.spec),
    ipc: ipcOf(pod.spec),
    resources: containerResources(pod, container, around.nodeMemoryBytes),
    devices: (spec.volumeDevices ?? []).flatMap(({ name, devicePath }) => {
      const hostPath = around.volumes.get(name)
      const readOnly = pod.spec.volumes?.find((v) => v.name === name)?.persistentVolumeClaim?.readOnly === true
      return hostPath === undefined ? [] : [{ containerPath: devicePath, hostPath, readOnly }]
    }),
  }
}

/** The target container, whose process namespace an ephemeral container shares. */
function targetOf(
  pod: Pod,
  { sort, spec }: PodContainer,
  containers: readonly ContainerStatus[],
): { targetId: string } | undefined {
  if (sort !== 'ephemeral' || pod.spec.shareProcessNamespace || pod.spec.hostPID) return undefined
  const name = pod.spec.ephemeralContainers?.find((c) => c.name === spec.name)?.targetContainerName
  const target = name ? containers.find((c) => c.metadata.name === name && c.state === 'running') : undefined
  return target && { targetId: target.id }
}
