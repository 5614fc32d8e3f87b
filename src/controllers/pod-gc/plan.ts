import type { Node, Pod } from '../../api/generated/types.ts'
import { isConditionTrue, isPodFinished, isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'

/** Why a pod is taken away; also the label of its count. */
export type Reason = 'terminated' | 'orphaned' | 'terminating-on-out-of-service-node' | 'terminating-unscheduled' | 'half-removed'

/** Whether an administrator has said of a node that is down that it will not come back. */
export const isOutOfService = (node: Node): boolean =>
  !isConditionTrue(node.status?.conditions, 'Ready') && (node.spec?.taints ?? []).some((taint) => taint.key === 'node.kubernetes.io/out-of-service')

/** Whether nothing is left to be done: what has ended, and been told to go at once, waits for its finalizers alone. */
export const isLeftToFinalizers = (pod: Pod): boolean =>
  isPodTerminating(pod) && isPodFinished(pod) && !pod.metadata.deletionGracePeriodSeconds && (pod.metadata.finalizers?.length ?? 0) > 0

/** Why a pod that is being deleted will not go by itself; undefined if its node will see to it. */
export function whyStuck(pod: Pod, node: Node | undefined): Reason | undefined {
  if (!isPodTerminating(pod) || isLeftToFinalizers(pod)) return undefined
  if (!pod.spec?.nodeName) return 'terminating-unscheduled'
  if (node && isOutOfService(node)) return 'terminating-on-out-of-service-node'
  const { deletionGracePeriodSeconds, finalizers } = pod.metadata
  // A server that was not cut off removes such a pod in the same breath in which it marks it.
  return deletionGracePeriodSeconds === 0 && !finalizers?.length ? 'half-removed' : undefined
}

const isEvicted = ({ status }: Pod) => status?.phase === 'Failed' && status.reason === 'Evicted'

/** Of finished pods those that are too many: first the evicted, whom nobody will come back for, then the oldest. */
export function surplus(finished: readonly Pod[], threshold: number): Pod[] {
  if (finished.length <= threshold) return []
  const ranked = finished.map((pod) => ({ pod, isEvicted: isEvicted(pod), createdMs: millisecondsOf(pod.metadata.creationTimestamp) || 0 }))
  ranked.sort((a, b) => Number(b.isEvicted) - Number(a.isEvicted) || a.createdMs - b.createdMs || (a.pod.metadata.name! < b.pod.metadata.name! ? -1 : 1))
  return ranked.slice(0, finished.length - threshold).map(({ pod }) => pod)
}
