import type { Pod } from '../../api/generated/types.ts'
import { containerHashAnnotation } from '../runtime/labels.ts'
import { type PodState, readySandbox } from '../runtime/pod-view.ts'
import type { ContainerStatus, SandboxStatus } from '../runtime/runtime.ts'
import {
  type PodContainer,
  ephemeralContainersOf,
  hashOf,
  initContainersOf,
  regularContainersOf,
  restarts,
} from './containers.ts'

/** The probe results that a plan depends on. */
export interface Verdicts {
  isStarted(container: PodContainer, id: string): boolean
  failedProbe(id: string): 'startup' | 'liveness' | undefined
}

/** The next actions for a pod: create its sandbox, or stop and start containers in the present sandbox. */
type PodPlan =
  | { kind: 'create sandbox'; attempt: number }
  /** All containers that count have ended and none is restarted. */
  | { kind: 'finished' }
  | {
      kind: 'containers'
      stop: readonly { container: PodContainer; status: ContainerStatus; message: string }[]
      start: readonly PodContainer[]
    }

const newestOf = (containers: readonly ContainerStatus[], name: string): ContainerStatus | undefined =>
  containers.find((c) => c.metadata.name === name)

/** Plans the next actions from the spec, the runtime's state and the probe results. */
export function planPod(pod: Pod, state: PodState, verdicts: Verdicts): PodPlan {
  const sandbox = readySandbox(state, pod.spec.hostNetwork === true)
  return sandbox ? inSandbox(pod, state, sandbox, verdicts) : withoutSandbox(pod, state)
}

const isOver = (pod: Pod, container: PodContainer, status: ContainerStatus | undefined): boolean =>
  status?.state === 'exited' && !restarts(pod, container, status.exitCode)

function withoutSandbox(pod: Pod, state: PodState): PodPlan {
  const last = state.sandboxes[0]
  const regular = regularContainersOf(pod)
  // Containers that must not run twice need no new sandbox.
  const hasRun = state.containers.length > 0
  if (last && hasRun && pod.spec.restartPolicy === 'Never') return { kind: 'finished' }
  if (hasRun && regular.every((c) => isOver(pod, c, newestOf(state.containers, c.spec.name))))
    return { kind: 'finished' }
  return { kind: 'create sandbox', attempt: last ? last.metadata.attempt + 1 : 0 }
}

function inSandbox(pod: Pod, state: PodState, sandbox: SandboxStatus, verdicts: Verdicts): PodPlan {
  const here = state.containers.filter((c) => c.sandboxId === sandbox.id)
  const stop: { container: PodContainer; status: ContainerStatus; message: string }[] = []
  const start: PodContainer[] = []
  const check = (container: PodContainer, status: ContainerStatus) => {
    const message = reasonToStop(container, status, verdicts)
    if (message) stop.push({ container, status, message })
  }
  const regular = regularContainersOf(pod)
  const hasBegun = regular.some((c) => newestOf(here, c.spec.name))
  for (const container of initContainersOf(pod)) {
    const status = newestOf(here, container.spec.name)
    if (container.sort === 'sidecar') {
      if (status?.state !== 'running') start.push(container)
      else {
        check(container, status)
        if (verdicts.isStarted(container, status.id)) continue
      }
      if (!hasBegun) return { kind: 'containers', stop, start }
      continue
    }
    if (hasBegun || (status?.state === 'exited' && status.exitCode === 0)) continue
    if (isOver(pod, container, status)) return { kind: 'finished' }
    if (status?.state !== 'running') start.push(container)
    else check(container, status)
    return { kind: 'containers', stop, start }
  }
  let over = 0
  for (const container of regular) {
    const status = newestOf(state.containers, container.spec.name)
    if (status?.state === 'running' && status.sandboxId === sandbox.id) check(container, status)
    else if (isOver(pod, container, status)) over++
    else start.push(container)
  }
  if (over === regular.length) return { kind: 'finished' }
  for (const container of ephemeralContainersOf(pod))
    if (!newestOf(state.containers, container.spec.name)) start.push(container)
  return { kind: 'containers', stop, start }
}

function reasonToStop(container: PodContainer, status: ContainerStatus, verdicts: Verdicts): string | undefined {
  const { name } = container.spec
  const hash = status.annotations[containerHashAnnotation]
  if (hash !== undefined && hash !== hashOf(container.spec))
    return `Container ${name} definition changed, will be restarted`
  const failed = verdicts.failedProbe(status.id)
  return failed ? `Container ${name} failed ${failed} probe, will be restarted` : undefined
}
