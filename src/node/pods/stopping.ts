import type { LifecycleHandler, Pod } from '../../api/generated/types.ts'
import { isConflict, isNotFound, pods, waitFor } from '../../client/index.ts'
import type { Target } from '../probes/prober.ts'
import { type PodState, readySandbox } from '../runtime/pod-view.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'
import { type PodContainer, containersOf } from './containers.ts'
import type { NodeContext } from './node-context.ts'

/** A container gets at least this long after its stop signal, even if its preStop hook has used up the grace period. */
const minGraceSeconds = 2

/** The delay between attempts to delete a pod: 200 ms at first, then twice as long, up to 10 s. */
const deleteRetryMinMs = 200
const deleteRetryMaxMs = 10_000

export const gracePeriodOf = (pod: Pod): number =>
  Number(pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30)

/** Runs a lifecycle hook with a timeout. Resolves with the error message, or undefined on success. */
export async function runHook(
  context: NodeContext,
  handler: LifecycleHandler,
  target: Target,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (handler.sleep) {
    await waitFor(context.clock, Math.min(Number(handler.sleep.seconds), timeoutSeconds) * 1000, signal)
    return undefined
  }
  const over = new AbortController()
  const limit = waitFor(context.clock, timeoutSeconds * 1000, over.signal).then(
    () => 'it did not end in time',
    () => undefined,
  )
  const run = context.prober
    .run(handler, target, timeoutSeconds)
    .then(({ isSuccess, output }) => (isSuccess ? undefined : output))
  const result = await Promise.race([run, limit])
  over.abort(new Error('the hook has ended'))
  return result
}

/** Stops one container: runs its preStop hook, sends its stop signal, and kills it after the grace period. */
export async function stopContainer(
  context: NodeContext,
  pod: Pod,
  container: PodContainer,
  status: ContainerStatus,
  graceSeconds: number,
  message: string,
): Promise<void> {
  const { clock, runtime } = context
  const { name } = container.spec
  const untilMs = clock.now() + graceSeconds * 1000
  context.event(pod, 'Normal', 'Killing', message, container)
  const hook = container.spec.lifecycle?.preStop
  if (hook && graceSeconds > 0 && status.state === 'running') {
    const podIp = readySandbox(context.view.state(pod.metadata.uid!), true)?.ips[0] ?? context.place().hostIps[0] ?? ''
    const failure = await runHook(
      context,
      hook,
      { pod, spec: container.spec, container: status, podIp },
      graceSeconds,
      new AbortController().signal,
    )
    if (failure !== undefined)
      context.event(pod, 'Warning', 'FailedPreStopHook', `PreStopHook failed: ${failure}`, container)
  }
  const leftSeconds = graceSeconds <= 0 ? 0 : Math.max(minGraceSeconds, Math.ceil((untilMs - clock.now()) / 1000))
  await runtime.stopContainer(status.id, leftSeconds)
  await context.view.refresh(status.sandboxId, status.id)
  context.logger.debug('a container was stopped', { pod: pod.metadata.name, container: name })
}

/** Stops all containers of a pod. Sidecars stop after all other containers, in reverse order. */
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

/** Stops all sandboxes of a pod and their networks. */
export async function stopSandboxes(context: NodeContext, state: PodState): Promise<void> {
  for (const sandbox of state.sandboxes) {
    // A sandbox that is not ready may still have its network.
    await context.runtime.stopPodSandbox(sandbox.id)
    await context.view.refresh(sandbox.id)
  }
}

/** Removes all containers and sandboxes of a pod. */
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

/** Deletes a terminated pod, by its uid, from the API. Retries until it succeeds or is aborted. */
export async function deletePod({ client, clock, logger }: NodeContext, pod: Pod, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata
  for (let waitMs = deleteRetryMinMs; ; waitMs = Math.min(deleteRetryMaxMs, waitMs * 2)) {
    try {
      await client.delete(pods, namespace, name, { gracePeriodSeconds: 0, ...(uid ? { uid } : {}), signal })
      return
    } catch (error) {
      // A conflict: another pod has the name by now.
      if (isNotFound(error) || isConflict(error)) return
      signal.throwIfAborted()
      logger.warn('failed to delete a terminated pod', { pod: `${namespace}/${name}`, error })
    }
    await waitFor(clock, waitMs, signal)
  }
}
