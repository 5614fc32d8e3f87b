import type { PriorityClass } from '../../../api/generated/types.ts'

const systemClass = (name: string, value: number, description: string): PriorityClass => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  description,
  preemptionPolicy: 'PreemptLowerPriority',
})

/** The system's classes, created at startup and protected from deletion. */
export const systemPriorityClasses: readonly PriorityClass[] = [
  systemClass(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
  systemClass(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
]
