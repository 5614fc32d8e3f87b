import type { ContainerStatus, Pod, PodCondition } from '../../api/generated/types.ts'
import { sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

export const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined => status?.conditions?.find((c) => c.type === type)

/** Start and first condition are written together: with whole seconds, one may be a second later. */
const sameTimeMs = 1000

/**
 * Whether a pod has ever had a ready sandbox, told by the pod alone: a node says False when it takes a pod, and a later False follows a True, whether anybody
 * saw that or not. What does not say enough is `unknown`.
 */
export function sandboxHistory(pod: Pod): 'ready' | 'never' | 'unknown' {
  const condition = sandboxConditionOf(pod)
  if (condition?.status === 'True' || hasRun(pod)) return 'ready'
  // Nodes make sandboxes, and nobody else.
  if (!pod.spec?.nodeName) return 'never'
  const sinceMs = millisecondsOf(condition?.lastTransitionTime)
  const takenMs = millisecondsOf(pod.status?.startTime)
  if (condition?.status !== 'False' || Number.isNaN(sinceMs) || Number.isNaN(takenMs)) return 'unknown'
  return sinceMs <= takenMs + sameTimeMs ? 'never' : 'ready'
}

function hasRun({ status }: Pod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])]
  return all.some(isTraceOfRun)
}

/** A pod that ends before it has begun gets `ContainerStatusUnknown` for containers that never were. */
const isTraceOfRun = ({ state, lastState, restartCount }: ContainerStatus): boolean =>
  restartCount > 0 || Boolean(state?.running || lastState?.terminated || lastState?.running || (state?.terminated && state.terminated.reason !== 'ContainerStatusUnknown'))

/** Whether a pod that is deleted has ended, and whether its node, if it had one, has said so: then its status is the last word about it. */
export function endOf(pod: Pod): 'not yet' | 'told' | 'untold' {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = pod.metadata
  if (!deletionTimestamp || deletionGracePeriodSeconds !== 0) return 'not yet'
  // A deletion is a new generation: who has observed it starts nothing more.
  const isObserved = generation !== undefined && (pod.status?.observedGeneration ?? 0) >= generation
  return !pod.spec?.nodeName || isObserved ? 'told' : 'untold'
}
