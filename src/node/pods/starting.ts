import type { ConfigMap, Pod, Secret } from '../../api/generated/types.ts'
import { quantityToNumber } from '../../api/numbers/quantity.ts'
import { configmaps, secrets } from '../../client/index.ts'
import { ConfigError } from '../env/environment.ts'
import type { Place } from '../env/field-values.ts'
import { printDuration } from '../../base/duration.ts'
import { type PodState, findContainer } from '../runtime/pod-view.ts'
import type { ContainerConfig, SandboxStatus } from '../runtime/runtime.ts'
import { type ContainerSurroundings, containerConfig } from './config/container-config.ts'
import { type PodContainer, StartError } from './containers.ts'
import { hostsFile, hostsOfNode } from './config/hosts-file.ts'
import { ensureImage } from './images/images.ts'
import { linuxContainer } from './config/linux-security.ts'
import type { NodeContext } from './node-context.ts'
import { checkNonRoot } from './config/non-root.ts'
import { pullCredentials } from './images/pull-credentials.ts'
import { hostnameOf, sandboxConfig } from './config/sandbox-config.ts'
import { runHook, stopContainer } from './stopping.ts'

const hostsPath = '/etc/hosts'

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/**
 * The restart count of a container. It comes from the runtime, or from the API if the runtime has lost the container.
 */
function nextAttempt(pod: Pod, state: PodState, container: PodContainer): number {
  const last = findContainer(state, container.spec.name)
  if (last) return last.metadata.attempt + 1
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  const told = [...containerStatuses, ...initContainerStatuses].find((s) => s.name === container.spec.name)
  return told && (told.containerID || told.lastState.terminated) ? told.restartCount + 1 : 0
}

interface Restart {
  key: string
  endedMs: number
}

/** The back-off key and end time of a restart; undefined for the first start. */
function restartOf(pod: Pod, state: PodState, { spec }: PodContainer): Restart | undefined {
  const last = findContainer(state, spec.name)
  return last?.state === 'exited'
    ? { key: `${pod.metadata.uid}_${spec.name}_${spec.image}`, endedMs: last.finishedAtMs }
    : undefined
}

/** The reason why an ended container must wait before it is started again; undefined if it may start now. */
function crashBackOff(
  context: NodeContext,
  pod: Pod,
  container: PodContainer,
  { key, endedMs }: Restart,
): StartError | undefined {
  const leftMs = context.crashes.leftMs(key, endedMs)
  if (leftMs === 0) return undefined
  const { name, namespace, uid } = pod.metadata
  context.event(
    pod,
    'Warning',
    'BackOff',
    `Back-off restarting failed container ${container.spec.name} in pod ${name}_${namespace}(${uid})`,
    container,
  )
  const wait = printDuration(context.crashes.delayMs(key))
  return new StartError(
    'CrashLoopBackOff',
    `back-off ${wait} restarting failed container=${container.spec.name} pod=${name}_${namespace}(${uid})`,
    leftMs,
  )
}

interface StartedPod {
  pod: Pod
  sandbox: SandboxStatus
  volumes: ReadonlyMap<string, string>
}

/**
 * Starts one container: waits for its back-off, pulls its image, creates and starts it, and runs its postStart hook.
 * Throws a StartError.
 */
export async function startContainer(
  context: NodeContext,
  { pod, sandbox, volumes }: StartedPod,
  container: PodContainer,
  signal: AbortSignal,
): Promise<void> {
  const { runtime, view, objects, stages } = context
  const uid = pod.metadata.uid!
  const namespace = pod.metadata.namespace ?? ''
  const state = view.state(uid)
  const restart = restartOf(pod, state, container)
  const waiting = restart && crashBackOff(context, pod, container, restart)
  if (waiting) throw waiting
  const failed = (reason: string, e: unknown): StartError => {
    const message = messageOf(e)
    context.event(pod, 'Warning', 'Failed', `Error: ${message}`, container)
    return new StartError(reason, message)
  }
  try {
    await ensureImage(
      context,
      pod,
      container,
      await pullCredentials(context, pod, container.spec.image ?? '', signal),
      signal,
    )
  } catch (e) {
    if (e instanceof StartError) context.event(pod, 'Warning', 'Failed', `Error: ${e.reason}`, container)
    throw e
  }
  // The pull may have taken long. Nothing is started in a sandbox that was lost meanwhile.
  signal.throwIfAborted()
  // The crash back-off advances only after the pull, because a failed pull has its own back-off.
  if (restart) context.crashes.next(restart.key, restart.endedMs)
  const { hostIps, allocatable } = context.place()
  const place: Place = { hostIps, allocatable, podIps: sandbox.ips.length > 0 ? sandbox.ips : hostIps }
  const env = {
    configMap: (name: string) => objects.get<ConfigMap>(configmaps, namespace, name, signal),
    secret: (name: string) => objects.get<Secret>(secrets, namespace, name, signal),
    services: context.services(),
  }
  const attempt = nextAttempt(pod, state, container)
  const note = await context.volumes.makeNote(uid, container.spec.name, attempt)
  const podUser = await context.volumes.userOf(pod)
  const locate: ContainerSurroundings['locate'] = (root, below, isHostPath) =>
    context.volumes.locate(root, below, isHostPath)
  const { hasFiles } = context.volumes
  const configure = async () => {
    if (runtime.hasContainers) await checkNonRoot(runtime, pod, container)
    const config = await containerConfig(pod, container, attempt, {
      env,
      place,
      volumes,
      note,
      podUser,
      locate,
      hasFiles,
    })
    return runtime.hasContainers ? asContainer(context, { pod, sandbox, volumes }, container, config) : config
  }
  const config = await configure().catch((e: unknown) => {
    throw e instanceof ConfigError ? failed('CreateContainerConfigError', e) : e
  })
  const ofSandbox = sandboxConfig(context, pod, sandbox.metadata.attempt)
  const id = await stages
    .run('container', pod, signal, () => runtime.createContainer(sandbox.id, config, ofSandbox), container.spec.name)
    .catch((e: unknown) => {
      if (signal.aborted) throw e
      throw failed('CreateContainerError', e)
    })
  context.event(pod, 'Normal', 'Created', 'Container created', container)
  try {
    await runtime.startContainer(id)
  } catch (e) {
    await view.refresh(sandbox.id, id)
    if (signal.aborted) throw e
    throw failed('RunContainerError', e)
  }
  context.event(pod, 'Normal', 'Started', 'Container started', container)
  await view.refresh(sandbox.id, id)
  await forgetOlder(context, uid, container.spec.name)
  await afterStart(context, pod, container, sandbox, id, signal)
}

/** The Linux part of a container's configuration, for runtimes with their own file systems, namespaces and cgroups. */
async function asContainer(
  context: NodeContext,
  { pod, sandbox, volumes }: StartedPod,
  container: PodContainer,
  config: ContainerConfig,
): Promise<ContainerConfig> {
  const { dns, view, place } = context
  const uid = pod.metadata.uid!
  const nodeMemoryBytes = quantityToNumber(place().allocatable['memory'] ?? '0')
  const linux = linuxContainer(pod, container, { nodeMemoryBytes, volumes, containers: view.state(uid).containers })
  if (config.mounts.some(({ containerPath }) => containerPath === hostsPath)) return { ...config, linux }
  const text = hostsFile(pod, hostnameOf(pod), sandbox.ips, dns.domain, pod.spec.hostNetwork ? await hostsOfNode() : '')
  const hosts = {
    containerPath: hostsPath,
    hostPath: await context.volumes.makeHosts(uid, text),
    readOnly: false,
    propagation: 'private' as const,
  }
  return { ...config, linux, mounts: [...config.mounts, hosts] }
}

async function afterStart(
  context: NodeContext,
  pod: Pod,
  container: PodContainer,
  sandbox: SandboxStatus,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const hook = container.spec.lifecycle?.postStart
  const status = context.view.state(pod.metadata.uid!).containers.find((c) => c.id === id)
  if (!hook || !status) return
  const failure = await runHook(
    context,
    hook,
    { pod, spec: container.spec, container: status, podIp: sandbox.ips[0] ?? '' },
    60,
    signal,
  )
  if (failure === undefined) return
  context.event(pod, 'Warning', 'FailedPostStartHook', `PostStartHook failed: ${failure}`, container)
  await stopContainer(context, pod, container, status, 0, 'FailedPostStartHook')
  throw new StartError('PostStartHookError', failure)
}

/**
 * Removes ended containers except the newest, which provides the last state and the log, and sandboxes that have no
 * containers left.
 */
async function forgetOlder(context: NodeContext, uid: string, name: string): Promise<void> {
  const ended = context.view.state(uid).containers.filter((c) => c.metadata.name === name && c.state !== 'running')
  for (const { id, sandboxId } of ended.slice(1)) {
    await context.runtime.removeContainer(id)
    await context.view.refresh(sandboxId, id)
  }
  const { sandboxes, containers } = context.view.state(uid)
  for (const { id } of sandboxes.slice(1)) {
    if (containers.some((c) => c.sandboxId === id)) continue
    await context.runtime.removePodSandbox(id)
    await context.view.refresh(id)
  }
}
