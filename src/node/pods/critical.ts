import type { Pod } from '../../api/generated/types.ts'

/** The priority of system-cluster-critical. */
const criticalPriority = 2_000_000_000

/** The priority of system-node-critical. */
const nodeCriticalPriority = 2_000_001_000

/** True if the node needs the pod: the kernel kills other processes first when memory runs out. */
export const isNodeCritical = ({ spec }: Pod): boolean => (spec.priority ?? 0) >= nodeCriticalPriority

/** True if the cluster needs the pod: it is never evicted, and ends last when the node shuts down. */
export const isCritical = ({ spec }: Pod): boolean => (spec.priority ?? 0) >= criticalPriority
