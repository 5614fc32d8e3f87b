import type { CloneSet } from '../../api/generated/types.ts'
import { type IntOrString, percentOf } from '../../api/int-or-string.ts'

/** What the strategies of a set allow, in numbers of pods. */
export interface Bounds {
  replicas: number
  /** How many pods stay as they are when the template changes. */
  partition: number
  /** How many more there may be for a while, so that others can go. */
  maxSurge: number
  /** How many may be unavailable by our hand. */
  maxUnavailable: number
  /** How many may be unavailable for more to be made. */
  maxUnavailableOfScale: number
  /** Whether pods are changed or replaced at all for now. */
  isUpdating: boolean
}

export function boundsOf({ spec }: Pick<CloneSet, 'spec'>): Bounds {
  const { replicas = 1, updateStrategy = {}, scaleStrategy = {} } = spec
  const maxSurge = percentOf(updateStrategy.maxSurge ?? 0, replicas, true)
  return {
    replicas,
    partition: partitionOf(updateStrategy.partition ?? 0, replicas),
    maxSurge,
    // Rounded so that something may always happen, and no more than that.
    maxUnavailable: percentOf(updateStrategy.maxUnavailable ?? '20%', replicas, maxSurge === 0),
    maxUnavailableOfScale: scaleStrategy.maxUnavailable === undefined ? Number.POSITIVE_INFINITY : percentOf(scaleStrategy.maxUnavailable, replicas, true),
    isUpdating: !updateStrategy.paused,
  }
}

/** A share is rounded up, so that more than 0 % keeps a pod; but less than 100 % updates one where there are two or more. */
function partitionOf(partition: IntOrString, replicas: number): number {
  const kept = Math.max(0, Math.min(percentOf(partition, replicas, true), replicas))
  const isAllByRounding = typeof partition === 'string' && partition !== '100%' && replicas > 1 && kept === replicas
  return isAllByRounding ? replicas - 1 : kept
}
