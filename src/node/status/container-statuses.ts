import type { ContainerState, ContainerStatus, Pod } from '../../api/generated/types.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import { readJson } from '../../api/json/index.ts'
import { timestamp } from '../../api/object.ts'
import type { PodContainer } from '../pods/containers.ts'
import { restarts } from '../pods/containers.ts'
import { resourcesAnnotation } from '../runtime/labels.ts'
import type { PodState } from '../runtime/pod-view.ts'
import type { ContainerStatus as RuntimeContainer } from '../runtime/runtime.ts'

/** The reason and message of a waiting container. */
export interface WaitingReason {
  reason: string
  message: string
}

/** The probe results of a running container. */
export interface Health {
  isStarted(container: PodContainer, id: string): boolean
  isReady(container: PodContainer, id: string): boolean
}

export interface ContainersSeen {
  pod: Pod
  state: PodState
  runtimeName: string
  /** By container name. */
  waiting: ReadonlyMap<string, WaitingReason>
  health: Health
  /** True if the pod is ending: no container is started any more. */
  isEnding: boolean
}

const time = (ms: number): string | null => (ms > 0 ? timestamp(ms) : null)

function terminated(seen: ContainersSeen, container: RuntimeContainer): ContainerState {
  const { exitCode, reason, message, startedAtMs, finishedAtMs, id } = container
  return {
    terminated: {
      exitCode,
      ...(reason ? { reason } : {}),
      ...(message ? { message } : {}),
      startedAt: time(startedAtMs),
      finishedAt: time(finishedAtMs),
      containerID: `${seen.runtimeName}://${id}`,
    },
  }
}

function stateOf(seen: ContainersSeen, container: RuntimeContainer): ContainerState {
  if (container.state === 'running') return { running: { startedAt: time(container.startedAtMs) } }
  if (container.state === 'exited') return terminated(seen, container)
  return { waiting: { reason: 'ContainerCreating' } }
}

/**
 * The state of a container that the runtime does not have: the node has lost it, or the pod ended before it started.
 */
const lostState: ContainerState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    startedAt: null,
    finishedAt: null,
  },
}

const hasRun = (old: ContainerStatus | undefined): boolean =>
  old?.state.running !== undefined || old?.state.terminated !== undefined

function withoutContainer(
  seen: ContainersSeen,
  container: PodContainer,
  old: ContainerStatus | undefined,
): ContainerStatus {
  const { name, image = '' } = container.spec
  const base = {
    name,
    image,
    imageID: old?.imageID ?? '',
    ready: false,
    started: false,
    restartCount: old?.restartCount ?? 0,
    lastState: old?.lastState ?? {},
  }
  const reason = seen.waiting.get(name)
  if (old && hasRun(old)) {
    const kept = old.state.terminated ? old.state : lostState
    const stays = seen.isEnding || !restarts(seen.pod, container, kept.terminated!.exitCode)
    if (stays)
      return {
        ...base,
        state: kept,
        ...(old.containerID ? { containerID: old.containerID } : {}),
        ready: container.sort === 'init' && kept.terminated!.exitCode === 0,
      }
    return { ...base, lastState: kept, state: { waiting: reason ?? defaultWaiting(seen.pod) } }
  }
  return { ...base, state: { waiting: reason ?? defaultWaiting(seen.pod) } }
}

/** Leaves out an empty message. */
const told = ({ reason, message }: WaitingReason): { reason: string; message?: string } =>
  message ? { reason, message } : { reason }

function defaultWaiting(pod: Pod): { reason: string } {
  return { reason: pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating' }
}

const isReady = (seen: ContainersSeen, container: PodContainer, newest: RuntimeContainer): boolean => {
  if (container.sort === 'init') return newest.state === 'exited' && newest.exitCode === 0
  return newest.state === 'running' && container.sort !== 'ephemeral' && seen.health.isReady(container, newest.id)
}

/**
 * The status of one container, from the runtime, or from the last status if the runtime does not have the container.
 */
function statusOf(seen: ContainersSeen, container: PodContainer, old: ContainerStatus | undefined): ContainerStatus {
  const { name } = container.spec
  const [newest, previous] = seen.state.containers.filter((c) => c.metadata.name === name)
  if (!newest) {
    const status = withoutContainer(seen, container, old)
    return status.state.waiting
      ? { ...status, state: { waiting: told(status.state.waiting as WaitingReason) } }
      : status
  }
  const state = stateOf(seen, newest)
  const reason = seen.waiting.get(name)
  const isWaiting =
    reason !== undefined &&
    newest.state !== 'running' &&
    !seen.isEnding &&
    restarts(seen.pod, container, newest.exitCode)
  const lastState =
    isWaiting && state.terminated
      ? state
      : previous
        ? stateOf(seen, previous)
        : (keptLastState(old, newest, seen.runtimeName) ?? {})
  return {
    name,
    image: newest.image,
    imageID: newest.imageRef,
    containerID: `${seen.runtimeName}://${newest.id}`,
    state: isWaiting ? { waiting: told(reason) } : state,
    lastState,
    ready: isReady(seen, container, newest),
    started: newest.state === 'running' && seen.health.isStarted(container, newest.id),
    restartCount: newest.metadata.attempt,
    ...ifAny(resourcesOf(container, newest)),
  }
}

type Resources = NonNullable<ContainerStatus['resources']>

/** The resources with which a container was created. No runtime changes them while it runs. */
function resourcesOf({ spec }: PodContainer, { annotations }: RuntimeContainer): Resources {
  const created = annotations[resourcesAnnotation]
  const wanted = spec.resources ?? {}
  return created === undefined || created === JSON.stringify(wanted) ? wanted : (readJson(created) as Resources)
}

const ifAny = (resources: Resources): { resources?: Resources } =>
  Object.keys(resources).length > 0 ? { resources } : {}

/** The names of running containers whose resources in the spec are not those with which they were created. */
export const waitForResize = (seen: ContainersSeen, containers: readonly PodContainer[]): string[] =>
  containers.flatMap((container) => {
    const newest = seen.state.containers.find((c) => c.metadata.name === container.spec.name)
    const isChanged =
      newest?.state === 'running' && !semanticEqual(resourcesOf(container, newest), container.spec.resources ?? {})
    return isChanged ? [container.spec.name] : []
  })

/** The last state of a container whose predecessor the runtime has forgotten. It is taken from the last status. */
function keptLastState(
  old: ContainerStatus | undefined,
  newest: RuntimeContainer,
  runtimeName: string,
): ContainerState | undefined {
  if (!old) return undefined
  const isSame = old.containerID === `${runtimeName}://${newest.id}`
  if (isSame) return old.lastState.terminated?.containerID === old.containerID ? undefined : old.lastState
  // The end of the predecessor was never observed.
  return old.state.terminated
    ? old.state
    : old.lastState.terminated
      ? old.lastState
      : old.state.running && newest.metadata.attempt > 0
        ? lostState
        : undefined
}

/**
 * The statuses of containers of one sort, in the order of the spec. Undefined, and thus left out, if there are none.
 */
export function containerStatuses(
  seen: ContainersSeen,
  containers: readonly PodContainer[],
  old: readonly ContainerStatus[] | undefined,
): ContainerStatus[] | undefined {
  if (containers.length === 0) return undefined
  return containers.map((container) =>
    statusOf(
      seen,
      container,
      old?.find((s) => s.name === container.spec.name),
    ),
  )
}

/** The statuses of a pod's containers by sort. */
export interface Statuses {
  init: readonly ContainerStatus[]
  regular: readonly ContainerStatus[]
}

const hasLeftWaiting = ({ state, lastState }: ContainerStatus): boolean =>
  !state.waiting || lastState.terminated !== undefined
const asEnded = (status: ContainerStatus): ContainerStatus =>
  status.state.terminated ? status : { ...status, state: lostState }
const endedWell = ({ state, lastState }: ContainerStatus): boolean =>
  state.terminated?.exitCode === 0 || lastState.terminated?.exitCode === 0

/**
 * The statuses of a pod that has ended. A waiting container never runs and becomes terminated, as in kubelet. With init
 * containers, this applies to those up to the last one that was tried, at least the first, and to regular containers
 * only if initialization was complete.
 */
export function endedStatuses({ init, regular }: Statuses): Statuses {
  const tried = Math.max(init.findLastIndex(hasLeftWaiting), 0)
  const isInitialized = init.length === 0 || regular.some(hasLeftWaiting) || endedWell(init.at(-1)!)
  return {
    init: init.map((status, i) => (i <= tried ? asEnded(status) : status)),
    regular: isInitialized ? regular.map(asEnded) : regular,
  }
}

/** True if the status shows that the container has run. In an ended pod, one that never ran counts as lost, too. */
export const tellsOfRun = ({ state, lastState }: ContainerStatus): boolean =>
  Boolean(
    state?.running ??
    lastState?.terminated ??
    (state?.terminated?.reason !== lostState.terminated!.reason && state?.terminated),
  )
