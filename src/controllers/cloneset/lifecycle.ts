import type { CloneSet, CloneSetLifecycle, LifecycleHook, Pod } from '../../api/generated/types.ts'
import {
  type LifecycleState, isHeld, isWhole, lifecycleStateLabel, lifecycleStateOf, lifecycleTimeAnnotation,
} from '../../api/kinds/lifecycle-hooks.ts'
import type { New } from '../../client/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import type { PatchLifecycle, PodPatch } from './actions.ts'
import { gatesFor, gatesPatch, hookGate } from './lifecycle-gates.ts'
import type { Member } from './member.ts'

/** How a pod says that it is in a state, and since when. */
export const stateMetadata = (state: LifecycleState, nowMs: number): { labels: Record<string, string>; annotations: Record<string, string> } => ({
  labels: { [lifecycleStateLabel]: state },
  annotations: { [lifecycleTimeAnnotation]: timestamp(nowMs) },
})

/** A pod to be made, with the readiness gates, the state and its time that it begins with. */
export function preparedPod(set: CloneSet, pod: New<Pod>, nowMs: number): New<Pod> {
  const hooks = set.spec.lifecycle ?? {}
  const { labels, annotations } = stateMetadata(hooks.preNormal ? 'PreparingNormal' : 'Normal', nowMs)
  const gates = pod.spec.readinessGates ?? []
  const missing = gatesFor(set.spec).filter((type) => !gates.some((gate) => gate.conditionType === type))
  const readinessGates = [...gates, ...missing.map((conditionType) => ({ conditionType }))]
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels }, annotations: { ...pod.metadata.annotations, ...annotations } },
    spec: readinessGates.length > 0 ? { ...pod.spec, readinessGates } : pod.spec,
  }
}

/** What takes a pod into a state; empty if it is in it already, with its gate as it should be. */
export function enterState(pod: Pod, state: LifecycleState, hook: LifecycleHook | undefined, nowMs: number): PodPatch {
  const isThere = state === lifecycleStateOf(pod)
  return { ...gatesPatch(pod, hookGate(pod, state, hook), nowMs), ...(isThere ? {} : { pod: { metadata: { uid: pod.metadata.uid, ...stateMetadata(state, nowMs) } } }) }
}

/** What has to happen before a pod may be deleted: undefined if nothing, 'wait' if its hook holds it already, else the change to PreparingDelete. */
export function beforeDeletion(set: CloneSet, { pod }: Pick<Member, 'pod'>, nowMs: number): PatchLifecycle | 'wait' | undefined {
  const hook = set.spec.lifecycle?.preDelete
  if (!isHeld(hook, pod)) return undefined
  const patch = enterState(pod, 'PreparingDelete', hook, nowMs)
  return patch.pod || patch.status ? { kind: 'PatchLifecycle', pod, patch } : 'wait'
}

/** A pod that was prepared for deletion and is wanted again. There is no way back once it may be out of service (markPodNotReady): undefined. */
export function cancelDeletion(set: CloneSet, { pod }: Pick<Member, 'pod'>, nowMs: number): PatchLifecycle | undefined {
  const { preDelete, inPlaceUpdate } = set.spec.lifecycle ?? {}
  if (preDelete?.markPodNotReady || inPlaceUpdate?.markPodNotReady) return undefined
  return { kind: 'PatchLifecycle', pod, patch: enterState(pod, 'PreparingNormal', undefined, nowMs) }
}

/** What a pod's next state depends on, besides its hooks. */
export interface Headway {
  /** It is of the revision that is wanted. */
  isUpdated: boolean
  /** Its containers are what it says they should be. */
  isThrough: boolean
}

/** The state that follows a pod's own once what it waits for has happened; undefined while it waits. */
export function nextState(
  state: LifecycleState, pod: Pod, hooks: CloneSetLifecycle, { isUpdated, isThrough }: Headway,
): LifecycleState | undefined {
  const afterUpdate = isWhole(hooks.inPlaceUpdate, pod) ? 'Normal' : 'Updated'
  switch (state) {
    case 'PreparingNormal':
      return isWhole(hooks.preNormal, pod) ? 'Normal' : undefined
    case 'PreparingUpdate':
      // It was to be updated, and then what it is was wanted again.
      return isUpdated ? afterUpdate : undefined
    case 'Updating':
      return isThrough ? afterUpdate : undefined
    case 'Updated':
      return afterUpdate === 'Normal' ? 'Normal' : undefined
    default:
      return undefined
  }
}
