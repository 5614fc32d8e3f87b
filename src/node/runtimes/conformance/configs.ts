import type { ContainerConfig, SandboxConfig } from '../../runtime/runtime.ts'

/** A sandbox configuration with defaults. */
export function sandboxConfig(name: string, logDirectory: string, rest: Partial<SandboxConfig> = {}): SandboxConfig {
  return {
    metadata: { name, uid: `uid-of-${name}`, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory,
    dns: { servers: [], searches: [], options: [] },
    portMappings: [],
    labels: { 'io.kubernetes.pod.name': name },
    annotations: {},
    hostNetwork: false,
    ...rest,
  }
}

/** The configuration of a container that stays up, with defaults. */
export function containerConfig(name: string, rest: Partial<ContainerConfig> = {}): ContainerConfig {
  return {
    metadata: { name, attempt: 0 },
    image: 'busybox:1.36',
    command: ['sleep', '1000'],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [],
    labels: { 'io.kubernetes.container.name': name },
    annotations: {},
    logPath: `${name}/0.log`,
    stdin: false,
    stdinOnce: false,
    tty: false,
    ports: [],
    resources: {},
    user: { supplementalGroups: [] },
    readOnlyRootFilesystem: false,
    stopSignal: 'SIGTERM',
    ...rest,
  }
}

/** A sandbox and a container that exits by itself, in runtimes with and without processes. */
export function endingConfigs(name: string, logDirectory: string, exitCode: number): [SandboxConfig, ContainerConfig] {
  return [
    sandboxConfig(name, logDirectory, { annotations: { 'coxswain.dev/simulate-exit-code': String(exitCode) } }),
    containerConfig('main', { command: ['sh', '-c', `exit ${exitCode}`] }),
  ]
}
