import type { CloneSet, LifecycleHook, Pod } from '../../api/generated/types.ts'
import type { New } from '../../client/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import type { LifecycleState, PatchLifecycle, PodPatch } from './actions.ts'
import { gatesFor, gatesPatch, hookGate } from './lifecycle-gates.ts'
import { hookWait, isHeld } from './lifecycle-hooks.ts'
import { type Member, lifecycleStateLabel } from './member.ts'

const timeAnnotation = 'lifecycle.apps.kruise.io/timestamp'

/** The label's value; '' for a pod without it. */
export const lifecycleStateOf = (pod: Pod): LifecycleState => (pod.metadata.labels?.[lifecycleStateLabel] ?? '') as LifecycleState

/** How a pod says that it is in a state, and since when. */
export const stateMetadata = (state: LifecycleState, nowMs: number): { labels: Record<string, string>; annotations: Record<string, string> } => ({
  labels: { [lifecycleStateLabel]: state },
  annotations: { [timeAnnotation]: timestamp(nowMs) },
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

/** The first of these whose hook is waited for, in words; undefined if there is none. */
export function waitForHooks({ spec: { lifecycle } }: CloneSet, members: readonly Pick<Member, 'pod' | 'state'>[]): string | undefined {
  if (!lifecycle) return undefined
  for (const { pod, state } of members) {
    const text = hookWait(lifecycle, pod, state)
    if (text !== undefined) return text
  }
  return undefined
}
