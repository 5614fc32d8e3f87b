import type { CloneSet, Pod } from '../../api/generated/types.ts'
import { graceAnnotation, inPlaceUpdateReady } from '../../api/kinds/in-place-update.ts'
import { isPodAvailable, isPodReady, revisionHashLabel } from '../kit/workload/index.ts'
import { type LifecycleState, lifecycleStateOf } from '../../api/kinds/lifecycle-hooks.ts'
import { hashOfName } from './revision.ts'

export const instanceIdLabel = 'apps.kruise.io/cloneset-instance-id'
export const specifiedDeleteLabel = 'apps.kruise.io/specified-delete'
/** The gate that hooks shut which take a pod out of service while they hold it. */
export const kruisePodReady = 'KruisePodReady'

/** A pod of a set that neither has ended nor is going, with what the set goes by. */
export interface Member {
  pod: Pod
  /** What tells it from its like; '' for a pod that was made by somebody else. */
  id: string
  /** The hash of the revision that it says it is of. */
  hash: string
  state: LifecycleState
  /** Runs, is ready, and neither a hook nor an update holds it. */
  isReady: boolean
  /** The same for long enough. */
  isAvailable: boolean
  /** Whether its labels ask for its deletion; `podsToDelete` may, too. */
  isMarked: boolean
  /** Nothing is due for it by itself, whatever the set says: it is in no state that another follows, and its gates are open. */
  isSettled: boolean
}

/** Reads a pod. */
export function memberOf(set: CloneSet, pod: Pod, nowMs: number): Member {
  const { labels = {} } = pod.metadata
  const state: LifecycleState = lifecycleStateOf(pod)
  const isNormal = state === '' || state === 'Normal'
  const isReady = isNormal && pod.status?.phase === 'Running' && isPodReady(pod) && !isBeingUpdated(pod)
  return {
    pod,
    id: labels[instanceIdLabel] ?? '',
    hash: hashOfName(labels[revisionHashLabel] ?? ''),
    state,
    isReady,
    isAvailable: isReady && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs),
    isMarked: labels[specifiedDeleteLabel] !== undefined,
    isSettled: isNormal && pod.metadata.annotations?.[graceAnnotation] === undefined && hasOpenGates(pod),
  }
}

/** Whether those of its gates that the set opens and shuts are open, and nobody has left a word at them. */
function hasOpenGates({ spec, status }: Pod): boolean {
  for (const { conditionType } of spec.readinessGates ?? []) {
    if (conditionType !== inPlaceUpdateReady && conditionType !== kruisePodReady) continue
    const condition = status?.conditions?.find((c) => c.type === conditionType)
    if (condition?.status !== 'True' || condition.message) return false
  }
  return true
}

function isBeingUpdated({ status }: Pod): boolean {
  const condition = status?.conditions?.find((c) => c.type === inPlaceUpdateReady)
  return condition !== undefined && condition.status !== 'True'
}
