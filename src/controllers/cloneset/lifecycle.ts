import type {
  CloneSet,
  CloneSetLifecycle,
  CloneSetSpec,
  LifecycleHook,
  Pod,
  PodCondition,
} from '../../api/generated/types.ts'
import { inPlaceUpdateReady, shutGate } from '../../api/kinds/pods/in-place-update.ts'
import {
  type LifecycleState,
  isHeld,
  isWhole,
  lifecycleStateLabel,
  lifecycleStateOf,
  lifecycleTimeAnnotation,
} from '../../api/kinds/containers/lifecycle-hooks.ts'
import type { New } from '../../client/index.ts'
import { findCondition, timestamp } from '../kit/workload/index.ts'

/** The readiness gate that hooks with markPodNotReady close. */
export const kruisePodReady = 'KruisePodReady'

/** Changes to a running pod, both strategic merges. `status` is sent first, to the status subresource. */
export interface PodPatch {
  status?: object
  pod?: object
}

/** Changes the lifecycle state of a pod. */
export interface PatchLifecycle {
  kind: 'PatchLifecycle'
  pod: Pod
  patch: PodPatch
}

/** The content of a readiness gate's condition. */
export type Gate = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>

/**
 * The readiness gates of new pods, which cannot be added later. A set that replaces pods needs none, so its pods become
 * ready without a controller.
 */
function gatesFor({
  lifecycle = {},
  updateStrategy = {},
}: Pick<CloneSetSpec, 'lifecycle' | 'updateStrategy'>): string[] {
  const marksNotReady = lifecycle.preDelete?.markPodNotReady || lifecycle.inPlaceUpdate?.markPodNotReady
  const isInPlace = updateStrategy.type === 'InPlaceIfPossible' || updateStrategy.type === 'InPlaceOnly'
  return [...(isInPlace ? [inPlaceUpdateReady] : []), ...(marksNotReady ? [kruisePodReady] : [])]
}

const hasGate = (pod: Pod, type: string): boolean =>
  pod.spec.readinessGates?.some((gate) => gate.conditionType === type) === true

export const hasUpdateGate = (pod: Pod): boolean => hasGate(pod, inPlaceUpdateReady)

/** The gate of in-place updates, if the pod has it. */
export const openUpdateGate = (pod: Pod): Gate[] =>
  hasUpdateGate(pod) ? [{ type: inPlaceUpdateReady, status: 'True' }] : []
export const shutUpdateGate = (pod: Pod, revision: string): Gate[] => (hasUpdateGate(pod) ? [shutGate(revision)] : [])

/** The component that closed the gate of hooks, as OpenKruise writes it into the condition's message. */
interface Shutter {
  userAgent: string
  key: string
}

const userAgent = 'Lifecycle'

/**
 * The hook that closes the gate in a state. During an update, the hook has released the pod, but it is out of service.
 */
const keyOfState: Partial<Record<LifecycleState, string>> = {
  PreparingUpdate: 'preUpdateHook',
  Updating: 'preUpdateHook',
  PreparingDelete: 'preDeleteHook',
}

/**
 * The gate of hooks in a state, if the pod has it. It stays closed while another component, or this state, has closed
 * it.
 */
export function hookGate(pod: Pod, state: LifecycleState, hook?: LifecycleHook): Gate[] {
  if (!hasGate(pod, kruisePodReady)) return []
  const before = shuttersOf(pod)
  const key = keyOfState[state]
  const others = before.filter((s) => s.userAgent !== userAgent)
  const isShut =
    key !== undefined &&
    (hook?.markPodNotReady === true || before.some((s) => s.userAgent === userAgent && s.key === key))
  const shutters = isShut ? [...others, { userAgent, key }] : others
  return [
    shutters.length === 0
      ? { type: kruisePodReady, status: 'True' }
      : { type: kruisePodReady, status: 'False', message: JSON.stringify(shutters) },
  ]
}

function shuttersOf(pod: Pod): Shutter[] {
  const condition = findCondition(pod.status?.conditions, kruisePodReady)
  if (condition?.status !== 'False' || !condition.message) return []
  try {
    const list = JSON.parse(condition.message) as unknown
    return Array.isArray(list) ? (list as Shutter[]) : []
  } catch {
    return [] // another format
  }
}

/**
 * The status patch for changed gates. A closed gate takes the pod out of service immediately, before its node reacts.
 */
export function gatesPatch(pod: Pod, gates: readonly Gate[], nowMs: number): Pick<PodPatch, 'status'> {
  const { conditions } = pod.status ?? {}
  const news = gates.filter(({ type, status, message = '' }) => {
    const old = findCondition(conditions, type)
    return old?.status !== status || (old.message ?? '') !== message
  })
  if (news.length === 0) return {}
  const shut = news.find(({ status }) => status !== 'True')
  const isServing = findCondition(conditions, 'Ready')?.status === 'True'
  const patch = news.map((gate) => withTime(pod, gate, nowMs))
  if (shut && isServing) {
    patch.push(
      withTime(
        pod,
        { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: notTrue(shut) },
        nowMs,
      ),
    )
  }
  return { status: { metadata: { uid: pod.metadata.uid }, status: { conditions: patch } } }
}

/** The message that the node will set as well. */
const notTrue = ({ type, status }: Gate): string =>
  `the status of pod readiness gate "${type}" is not "True", but ${status}`

function withTime(pod: Pod, { type, status, reason, message }: Gate, nowMs: number): object {
  const old = findCondition(pod.status?.conditions, type)
  const lastTransitionTime = (old?.status === status && old.lastTransitionTime) || timestamp(nowMs)
  // Null removes the previous value.
  return {
    type,
    status,
    ...(reason || old?.reason ? { reason: reason ?? null } : {}),
    ...(message || old?.message ? { message: message ?? null } : {}),
    lastTransitionTime,
  }
}

/** The metadata that records a lifecycle state and its time. */
export const stateMetadata = (
  state: LifecycleState,
  nowMs: number,
): { labels: Record<string, string>; annotations: Record<string, string> } => ({
  labels: { [lifecycleStateLabel]: state },
  annotations: { [lifecycleTimeAnnotation]: timestamp(nowMs) },
})

/** A new pod with its readiness gates, its initial state and the time. */
export function preparedPod(set: CloneSet, pod: New<Pod>, nowMs: number): New<Pod> {
  const hooks = set.spec.lifecycle ?? {}
  const { labels, annotations } = stateMetadata(hooks.preNormal ? 'PreparingNormal' : 'Normal', nowMs)
  const gates = pod.spec.readinessGates ?? []
  const missing = gatesFor(set.spec).filter((type) => !gates.some((gate) => gate.conditionType === type))
  const readinessGates = [...gates, ...missing.map((conditionType) => ({ conditionType }))]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, ...labels },
      annotations: { ...pod.metadata.annotations, ...annotations },
    },
    spec: readinessGates.length > 0 ? { ...pod.spec, readinessGates } : pod.spec,
  }
}

/** The patch that takes a pod into a state. Empty if it is in the state, with the correct gate. */
export function enterState(pod: Pod, state: LifecycleState, hook: LifecycleHook | undefined, nowMs: number): PodPatch {
  const isThere = state === lifecycleStateOf(pod)
  return {
    ...gatesPatch(pod, hookGate(pod, state, hook), nowMs),
    ...(isThere ? {} : { pod: { metadata: { uid: pod.metadata.uid, ...stateMetadata(state, nowMs) } } }),
  }
}

/**
 * The operation before a pod is deleted: undefined for none, 'wait' while its hook holds it, else the change to
 * PreparingDelete.
 */
export function beforeDeletion(
  set: CloneSet,
  { pod }: { pod: Pod },
  nowMs: number,
): PatchLifecycle | 'wait' | undefined {
  const hook = set.spec.lifecycle?.preDelete
  if (!isHeld(hook, pod)) return undefined
  const patch = enterState(pod, 'PreparingDelete', hook, nowMs)
  return patch.pod || patch.status ? { kind: 'PatchLifecycle', pod, patch } : 'wait'
}

/**
 * Cancels the preparation for deletion of a pod that is needed again. Undefined if the pod may be out of service
 * (markPodNotReady), which cannot be undone.
 */
export function cancelDeletion(set: CloneSet, { pod }: { pod: Pod }, nowMs: number): PatchLifecycle | undefined {
  const { preDelete, inPlaceUpdate } = set.spec.lifecycle ?? {}
  if (preDelete?.markPodNotReady || inPlaceUpdate?.markPodNotReady) return undefined
  return { kind: 'PatchLifecycle', pod, patch: enterState(pod, 'PreparingNormal', undefined, nowMs) }
}

/** The facts that determine the next state, besides hooks. */
export interface Headway {
  /** True if the pod is of the update revision. */
  isUpdated: boolean
  /** True if its containers match its spec. */
  isThrough: boolean
}

/** The next lifecycle state once the pod no longer waits. Undefined while it waits. */
export function nextState(
  state: LifecycleState,
  pod: Pod,
  hooks: CloneSetLifecycle,
  { isUpdated, isThrough }: Headway,
): LifecycleState | undefined {
  const afterUpdate = isWhole(hooks.inPlaceUpdate, pod) ? 'Normal' : 'Updated'
  switch (state) {
    case 'PreparingNormal':
      return isWhole(hooks.preNormal, pod) ? 'Normal' : undefined
    case 'PreparingUpdate':
      // The update was cancelled, because the pod's own revision is the target again.
      return isUpdated ? afterUpdate : undefined
    case 'Updating':
      return isThrough ? afterUpdate : undefined
    case 'Updated':
      return afterUpdate === 'Normal' ? 'Normal' : undefined
    default:
      return undefined
  }
}
