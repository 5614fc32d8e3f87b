import type { ContainerStatus, Pod, PodCondition } from '../../api/generated/types.ts'
import { type SandboxFailure, sandboxConditionType } from '../../api/kinds/pods/sandbox-condition.ts'
import { initContainersOf } from '../pods/containers.ts'

/** A node that has nothing pending removes this condition. */
export const resizePendingType = 'PodResizePending'

/** A condition without its timestamps. */
export interface Saying {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
}

/** Formats a list of names as Go prints it. */
const names = (list: readonly string[]): string => `[${list.join(' ')}]`

interface Statuses {
  init: readonly ContainerStatus[]
  regular: readonly ContainerStatus[]
}

function unready(unknown: readonly string[], unfinished: readonly string[], word: string): string {
  return [
    ...(unknown.length > 0 ? [`containers with unknown status: ${names(unknown)}`] : []),
    ...(unfinished.length > 0 ? [`containers with ${word} status: ${names(unfinished)}`] : []),
  ].join(', ')
}

/**
 * The condition PodReadyToStartContainers: True if the pod has its volumes, sandbox and network. `failure` is the
 * reason if it has not. Unknown if it may have had them before.
 */
export const readyToStartContainers = (status: Saying['status'], failure: SandboxFailure | undefined): Saying => ({
  type: sandboxConditionType,
  status,
  ...(status === 'True' ? {} : failure),
})

export function containersReady(pod: Pod, { init, regular }: Statuses, phase: string): Saying {
  const type = 'ContainersReady'
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' }
  const statuses = [...init, ...regular]
  const wanted = [
    ...initContainersOf(pod)
      .filter((c) => c.sort === 'sidecar')
      .map((c) => c.spec.name),
    ...pod.spec.containers.map((c) => c.name),
  ]
  const unknown = wanted.filter((name) => !statuses.some((s) => s.name === name))
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'False', reason: 'PodCompleted' }
  const message = unready(
    unknown,
    wanted.filter((name) => statuses.some((s) => s.name === name && !s.ready)),
    'unready',
  )
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotReady', message }
}

/**
 * The condition Ready: ContainersReady and all readiness gates. `conditions` are those that other clients have written;
 * the first of each type counts.
 */
export function podReady(
  pod: Pod,
  containers: Saying,
  conditions: readonly Pick<PodCondition, 'type' | 'status'>[],
): Saying {
  const type = 'Ready'
  if (containers.status !== 'True') return { ...containers, type }
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditions.find((c) => c.type === conditionType)
    if (!found) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    return found.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`]
  })
  return messages.length === 0
    ? { type, status: 'True' }
    : { type, status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}

/** The condition of a pod whose resources were changed. A node applies them when it starts a container. */
export const resizePending = (containers: readonly string[]): Saying => ({
  type: resizePendingType,
  status: 'True',
  reason: 'Infeasible',
  message: `this node does not resize running containers: ${names(containers)} will have the new resources after a restart`,
})

export function initialized(pod: Pod, { init, regular }: Statuses, phase: string): Saying {
  const type = 'Initialized'
  const all = initContainersOf(pod)
  const unknown = all.filter(({ spec }) => !init.some((s) => s.name === spec.name)).map(({ spec }) => spec.name)
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' }
  // A restart of a sidecar does not make the pod uninitialized.
  if (regular.some((s) => s.started || s.state.running || s.state.terminated || s.lastState.terminated))
    return { type, status: 'True' }
  const incomplete = all
    .filter(({ sort, spec }) => {
      const status = init.find((s) => s.name === spec.name)
      return status !== undefined && !(sort === 'sidecar' ? status.started : status.ready)
    })
    .map(({ spec }) => spec.name)
  const message = unready(unknown, incomplete, 'incomplete')
  return message === ''
    ? { type, status: 'True' }
    : { type, status: 'False', reason: 'ContainersNotInitialized', message }
}
