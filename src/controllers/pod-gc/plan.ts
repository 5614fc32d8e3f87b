import type { Node, Pod } from '../../api/generated/types.ts'
import { isConditionTrue, isPodFinished, isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'

/** The reason of a deletion, also used as a metrics label. */
export type Reason =
  | 'terminated'
  | 'orphaned'
  | 'terminating-on-out-of-service-node'
  | 'terminating-unscheduled'
  | 'half-removed'

/** Reports whether an administrator has tainted a node as out of service. */
export const isOutOfService = (node: Node): boolean =>
  !isConditionTrue(node.status?.conditions, 'Ready') &&
  (node.spec?.taints ?? []).some((taint) => taint.key === 'node.kubernetes.io/out-of-service')

/** Reports whether a pod only waits for its finalizers. */
export const isLeftToFinalizers = (pod: Pod): boolean =>
  isPodTerminating(pod) &&
  isPodFinished(pod) &&
  !pod.metadata.deletionGracePeriodSeconds &&
  (pod.metadata.finalizers?.length ?? 0) > 0

/** The reason why a terminating pod does not end by itself. Undefined if its node ends it. */
export function whyStuck(pod: Pod, node: Node | undefined): Reason | undefined {
  if (!isPodTerminating(pod) || isLeftToFinalizers(pod)) return undefined
  if (!pod.spec?.nodeName) return 'terminating-unscheduled'
  if (node && isOutOfService(node)) return 'terminating-on-out-of-service-node'
  const { deletionGracePeriodSeconds, finalizers } = pod.metadata
  // A server that was not interrupted deletes such a pod immediately.
  return deletionGracePeriodSeconds === 0 && !finalizers?.length ? 'half-removed' : undefined
}

const isEvicted = ({ status }: Pod) => status?.phase === 'Failed' && status.reason === 'Evicted'

/** The finished pods beyond the limit: evicted ones first, then the oldest. */
export function surplus(finished: readonly Pod[], threshold: number): Pod[] {
  if (finished.length <= threshold) return []
  const ranked = finished.map((pod) => ({
    pod,
    isEvicted: isEvicted(pod),
    createdMs: millisecondsOf(pod.metadata.creationTimestamp) || 0,
  }))
  ranked.sort(
    (a, b) =>
      Number(b.isEvicted) - Number(a.isEvicted) ||
      a.createdMs - b.createdMs ||
      (a.pod.metadata.name! < b.pod.metadata.name! ? -1 : 1),
  )
  return ranked.slice(0, finished.length - threshold).map(({ pod }) => pod)
}
