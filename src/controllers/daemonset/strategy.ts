import type { DaemonSet } from '../../api/generated/types.ts'
import { percentOf } from '../../api/int-or-string.ts'

/** How many pods may be too few and too many during an update. */
export interface Bounds {
  maxUnavailable: number
  maxSurge: number
}

const rollingUpdateOf = ({ spec: { updateStrategy } }: DaemonSet) => (updateStrategy.type === 'RollingUpdate' ? updateStrategy.rollingUpdate : undefined)

/** The bounds for so many nodes. Shares are rounded up; where nothing may be too few or too many, one pod may be missing, or nothing would ever happen. */
export function boundsOf(set: DaemonSet, desired: number): Bounds {
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdateOf(set) ?? {}
  const bounds = { maxUnavailable: percentOf(maxUnavailable, desired, true), maxSurge: percentOf(maxSurge, desired, true) }
  return desired > 0 && bounds.maxUnavailable === 0 && bounds.maxSurge === 0 ? { ...bounds, maxUnavailable: 1 } : bounds
}

/** Whether a node may have an old pod and a new one. */
export const allowsSurge = (set: DaemonSet): boolean => percentOf(rollingUpdateOf(set)?.maxSurge ?? 0, 1, true) > 0
