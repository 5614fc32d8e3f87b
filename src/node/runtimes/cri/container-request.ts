import type { ContainerConfig, ImageStatus, LinuxContainer } from '../../runtime/runtime.ts'
import { propagations } from './messages/container.ts'
import { namespaceMode } from './messages/sandbox.ts'
import { profileMessage, profilePath, resourcesMessage } from './sandbox-request.ts'

/**
 * Kubelet's defaults for masked and read-only paths. They do not apply to privileged containers and to those with an
 * unmasked /proc.
 */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

const ownNamespaces: LinuxContainer['pid'] = 'container'

interface ContainerRequestSurroundings {
  hostNetwork: boolean
  /** Labels by which the node finds the container after a restart. */
  owned: Readonly<Record<string, string>>
  image: ImageStatus | undefined
}

/** The CRI message for a container. */
export function containerMessage(config: ContainerConfig, { hostNetwork, owned, image }: ContainerRequestSurroundings) {
  const { linux } = config
  return {
    metadata: config.metadata,
    // The image id, because the name may refer to another image by now.
    image: { image: image?.id ?? config.image, userSpecifiedImage: config.image },
    command: config.command,
    args: config.args,
    workingDir: config.workingDir,
    envs: config.envs,
    mounts: config.mounts.map(({ containerPath, hostPath, readOnly, propagation }) => ({
      containerPath,
      hostPath,
      readonly: readOnly,
      propagation: propagations[propagation],
    })),
    devices: (linux?.devices ?? []).map(({ containerPath, hostPath, readOnly }) => ({
      containerPath,
      hostPath,
      permissions: readOnly ? 'mr' : 'mrw',
    })),
    labels: { ...config.labels, ...owned },
    annotations: config.annotations,
    logPath: config.logPath,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    tty: config.tty,
    linux: {
      resources: linux ? resourcesMessage(linux.resources) : {},
      securityContext: securityContext(config, hostNetwork, linux, image?.user),
    },
  }
}

function securityContext(
  { user, readOnlyRootFilesystem }: ContainerConfig,
  hostNetwork: boolean,
  linux: LinuxContainer | undefined,
  imageUser: ImageStatus['user'],
) {
  const pid = linux?.pid ?? ownNamespaces
  const namespaceOptions = {
    network: hostNetwork ? namespaceMode.node : namespaceMode.pod,
    pid: typeof pid === 'string' ? namespaceMode[pid] : namespaceMode.target,
    targetId: typeof pid === 'string' ? '' : pid.targetId,
    ipc: namespaceMode[linux?.ipc ?? 'pod'],
  }
  return {
    namespaceOptions,
    readonlyRootfs: readOnlyRootFilesystem,
    supplementalGroups: user.supplementalGroups,
    ...userMessage(user, imageUser),
    ...(linux?.masksProc === false ? {} : { maskedPaths, readonlyPaths }),
    ...(linux ? confinement(linux) : {}),
  }
}

/** Runtimes reject a group without a user, so the image's user is named. */
function userMessage({ uid, gid }: ContainerConfig['user'], imageUser: ImageStatus['user']) {
  const runAsGroup = gid === undefined ? {} : { runAsGroup: { value: gid } }
  if (uid !== undefined) return { runAsUser: { value: uid }, ...runAsGroup }
  if (!imageUser) return {}
  return {
    ...('uid' in imageUser ? { runAsUser: { value: imageUser.uid } } : { runAsUsername: imageUser.name }),
    ...runAsGroup,
  }
}

function confinement({
  privileged,
  capabilities,
  allowPrivilegeEscalation,
  seccomp,
  appArmor,
  seLinux,
  strictGroups,
}: LinuxContainer) {
  return {
    privileged,
    capabilities: { addCapabilities: capabilities.add, dropCapabilities: capabilities.drop },
    noNewPrivs: !allowPrivilegeEscalation,
    seccomp: profileMessage(seccomp),
    seccompProfilePath: profilePath(seccomp),
    supplementalGroupsPolicy: strictGroups ? 1 : 0,
    ...(appArmor ? { apparmor: profileMessage(appArmor), apparmorProfile: profilePath(appArmor) } : {}),
    ...(seLinux ? { selinuxOptions: seLinux } : {}),
  }
}
