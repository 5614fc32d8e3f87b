import type { LifecycleHandler, Pod } from '../../api/generated/types.ts'
import { waitFor } from '../../client/index.ts'
import type { Target } from '../probes/prober.ts'
import { type PodState, readySandbox } from '../runtime/pod-view.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'
import { type PodContainer, containersOf } from './containers.ts'
import type { NodeContext } from './node-context.ts'

/** However late it is, a container is asked before it is killed. */
const leastGraceSeconds = 2

export const gracePeriodOf = (pod: Pod): number => Number(pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30)

/** Runs a hook; resolves with what went wrong, or undefined. Gives up when the time is over. */
export async function runHook(context: NodeContext, handler: LifecycleHandler, target: Target, timeoutSeconds: number, signal: AbortSignal): Promise<string | undefined> {
  if (handler.sleep) {
    await waitFor(context.clock, Math.min(Number(handler.sleep.seconds), timeoutSeconds) * 1000, signal)
    return undefined
  }
  const over = new AbortController()
  const limit = waitFor(context.clock, timeoutSeconds * 1000, over.signal).then(() => 'it did not end in time', () => undefined)
  const run = context.prober.run(handler, target, timeoutSeconds).then(({ isSuccess, output }) => (isSuccess ? undefined : output))
  const result = await Promise.race([run, limit])
  over.abort(new Error('the hook has ended'))
  return result
}

/** Stops one container: its preStop hook, its stop signal, and the end when its time is over. */
export async function stopContainer(context: NodeContext, pod: Pod, container: PodContainer, status: ContainerStatus, graceSeconds: number, message: string): Promise<void> {
  const { clock, runtime } = context
  const { name } = container.spec
  const untilMs = clock.now() + graceSeconds * 1000
  context.event(pod, 'Normal', 'Killing', message, container)
  const hook = container.spec.lifecycle?.preStop
  if (hook && graceSeconds > 0 && status.state === 'running') {
    const podIp = readySandbox(context.view.state(pod.metadata.uid!), true)?.ips[0] ?? context.place().hostIps[0] ?? ''
    const failure = await runHook(context, hook, { pod, spec: container.spec, container: status, podIp }, graceSeconds, new AbortController().signal)
    if (failure !== undefined) context.event(pod, 'Warning', 'FailedPreStopHook', `PreStopHook failed: ${failure}`, container)
  }
  const leftSeconds = graceSeconds <= 0 ? 0 : Math.max(leastGraceSeconds, Math.ceil((untilMs - clock.now()) / 1000))
  await runtime.stopContainer(status.id, leftSeconds)
  await context.view.refresh(status.sandboxId, status.id)
  context.logger.debug('a container was stopped', { pod: pod.metadata.name, container: name })
}

/** Stops all containers of a pod: sidecars once the others have ended, the last one first. */
export async function stopAll(context: NodeContext, pod: Pod, state: PodState, graceSeconds: number): Promise<void> {
  const untilMs = context.clock.now() + graceSeconds * 1000
  const running = containersOf(pod).flatMap((container) => {
    const status = state.containers.find((c) => c.metadata.name === container.spec.name)
    return status && (status.state === 'running' || status.state === 'created') ? [{ container, status }] : []
  })
  const stop = ({ container, status }: (typeof running)[number]) => {
    const leftSeconds = Math.max(0, Math.ceil((untilMs - context.clock.now()) / 1000))
    return stopContainer(context, pod, container, status, leftSeconds, `Stopping container ${container.spec.name}`)
  }
  await Promise.all(running.filter(({ container }) => container.sort !== 'sidecar').map(stop))
  for (const sidecar of running.filter(({ container }) => container.sort === 'sidecar').reverse()) await stop(sidecar)
}

/** Stops every sandbox of a pod, with its network. */
export async function stopSandboxes(context: NodeContext, state: PodState): Promise<void> {
  for (const sandbox of state.sandboxes) {
    if (sandbox.state === 'ready') await context.runtime.stopPodSandbox(sandbox.id)
    await context.view.refresh(sandbox.id)
  }
}

/** Removes all that a runtime has of a pod. */
export async function removeAll(context: NodeContext, state: PodState): Promise<void> {
  for (const { id, sandboxId } of state.containers) {
    await context.runtime.removeContainer(id)
    await context.view.refresh(sandboxId, id)
  }
  for (const { id } of state.sandboxes) {
    await context.runtime.removePodSandbox(id)
    await context.view.refresh(id)
  }
}
