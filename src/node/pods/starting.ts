import type { ConfigMap, Pod, Secret } from '../../api/generated/types.ts'
import { configmaps, secrets } from '../../client/index.ts'
import { ConfigError } from '../env/environment.ts'
import type { Place } from '../env/field-values.ts'
import { printDuration } from '../../base/duration.ts'
import { type PodState, findContainer } from '../runtime/pod-view.ts'
import type { SandboxStatus } from '../runtime/runtime.ts'
import { type ContainerSurroundings, containerConfig } from './container-config.ts'
import type { PodContainer } from './containers.ts'
import { ensureImage } from './images.ts'
import type { NodeContext } from './node-context.ts'
import { pullCredentials } from './pull-credentials.ts'
import { StartError } from './start-error.ts'
import { runHook, stopContainer } from './stopping.ts'

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** How often a container of this pod was started before. The runtime knows; where it has forgotten, the API does. */
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

/** The start after an end, which has its turn in the back-off of this container with this image; undefined for a first one. */
function restartOf(pod: Pod, state: PodState, { spec }: PodContainer): Restart | undefined {
  const last = findContainer(state, spec.name)
  return last?.state === 'exited' ? { key: `${pod.metadata.uid}_${spec.name}_${spec.image}`, endedMs: last.finishedAtMs } : undefined
}

/** Why a container that has ended is not started yet; undefined if it may be. */
function crashBackOff(context: NodeContext, pod: Pod, container: PodContainer, { key, endedMs }: Restart): StartError | undefined {
  const leftMs = context.crashes.leftMs(key, endedMs)
  if (leftMs === 0) return undefined
  const { name, namespace, uid } = pod.metadata
  context.event(pod, 'Warning', 'BackOff', `Back-off restarting failed container ${container.spec.name} in pod ${name}_${namespace}(${uid})`, container)
  const wait = printDuration(context.crashes.delayMs(key))
  return new StartError('CrashLoopBackOff', `back-off ${wait} restarting failed container=${container.spec.name} pod=${name}_${namespace}(${uid})`, leftMs)
}

export interface StartedPod {
  pod: Pod
  sandbox: SandboxStatus
  volumes: ReadonlyMap<string, string>
}

/** Starts one container: its turn, its image, its configuration, itself, its postStart hook. Throws a StartError. */
export async function startContainer(context: NodeContext, { pod, sandbox, volumes }: StartedPod, container: PodContainer, signal: AbortSignal): Promise<void> {
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
    await ensureImage(context, pod, container, await pullCredentials(context, pod, signal), signal)
  } catch (e) {
    if (e instanceof StartError) context.event(pod, 'Warning', 'Failed', `Error: ${e.reason}`, container)
    throw e
  }
  // The image may have taken long: in a sandbox that is gone nothing is tried.
  signal.throwIfAborted()
  // Only now: an image that is not there has a back-off of its own, and is no crash.
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
  const locate: ContainerSurroundings['locate'] = (root, below, isHostPath) => context.volumes.locate(root, below, isHostPath)
  const config = await containerConfig(pod, container, attempt, { env, place, volumes, note, podUser, locate }).catch((e: unknown) => {
    throw e instanceof ConfigError ? failed('CreateContainerConfigError', e) : e
  })
  const id = await stages.run('container', pod, signal, () => runtime.createContainer(sandbox.id, config), container.spec.name).catch((e: unknown) => {
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

async function afterStart(context: NodeContext, pod: Pod, container: PodContainer, sandbox: SandboxStatus, id: string, signal: AbortSignal): Promise<void> {
  const hook = container.spec.lifecycle?.postStart
  const status = context.view.state(pod.metadata.uid!).containers.find((c) => c.id === id)
  if (!hook || !status) return
  const failure = await runHook(context, hook, { pod, spec: container.spec, container: status, podIp: sandbox.ips[0] ?? '' }, 60, signal)
  if (failure === undefined) return
  context.event(pod, 'Warning', 'FailedPostStartHook', `PostStartHook failed: ${failure}`, container)
  await stopContainer(context, pod, container, status, 0, 'FailedPostStartHook')
  throw new StartError('PostStartHookError', failure)
}

/** Of those that have ended, only the last is kept: for its state and its log. Sandboxes go with the last of their containers. */
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
