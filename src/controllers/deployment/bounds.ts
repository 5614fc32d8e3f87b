import type { Deployment } from '../../api/generated/types.ts'
import { percentOf } from '../../api/int-or-string.ts'

/** How far a rollout may go. */
export interface Bounds {
  /** Pods that are wanted in the end. */
  replicas: number
  /** Pods that there may be beyond that. */
  maxSurge: number
  /** Pods that may be missing of them. */
  maxUnavailable: number
}

export const isRollingUpdate = ({ spec }: Deployment): boolean => spec.strategy?.type !== 'Recreate'

export const replicasOf = (object: { spec?: { replicas?: number } }): number => object.spec?.replicas ?? 1

/**
 * The bounds of a Deployment in pods. Percentages of surge are rounded up, those of unavailability down; where both come to nothing, one pod may be
 * missing, or nothing could ever move. A Recreate has no room either way, and of no pods none can be missing.
 */
export function boundsOf(deployment: Deployment): Bounds {
  const replicas = replicasOf(deployment)
  if (!isRollingUpdate(deployment)) return { replicas, maxSurge: 0, maxUnavailable: 0 }
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = deployment.spec.strategy?.rollingUpdate ?? {}
  const maxSurge = percentOf(surge, replicas, true)
  const missing = percentOf(unavailable, replicas, false)
  const maxUnavailable = maxSurge === 0 && missing === 0 ? 1 : missing
  return { replicas, maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) }
}
