import type { Deployment } from '../../api/generated/types.ts'
import { percentOf } from '../../api/numbers/int-or-string.ts'

/** The limits of a rollout, in pods. */
export interface Bounds {
  /** The desired number of pods. */
  replicas: number
  /** The number of pods that may exist in addition. */
  maxSurge: number
  /** The number of pods that may be unavailable. */
  maxUnavailable: number
}

export const isRollingUpdate = ({ spec }: Deployment): boolean => spec.strategy?.type !== 'Recreate'

export const replicasOf = (object: { spec?: { replicas?: number } }): number => object.spec?.replicas ?? 1

/**
 * The limits of a Deployment in pods. The surge percentage is rounded up, the unavailable percentage down. If both are
 * zero, one pod may be unavailable, otherwise no rollout would be possible. A Recreate has neither. Without replicas no
 * pod can be unavailable.
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

/** The sizes of a ReplicaSet. */
export interface Sized {
  name: string
  /** The desired number of pods. */
  replicas: number
  /** The reported number of available pods. */
  available: number
}

/** A ReplicaSet and its target size. */
export interface Target {
  name: string
  replicas: number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** A status from before a scale-down also counts pods that are about to be deleted. */
const trusted = (set: Sized): Sized => ({ ...set, available: Math.min(set.available, set.replicas) })

/**
 * The size of the new ReplicaSet beside the old ones: the desired replicas, limited by the surge, and not below its
 * current size.
 */
export function grown({ replicas, maxSurge }: Bounds, current: number, others: number): number {
  const room = replicas + maxSurge - current - others
  return room <= 0 ? current : current + Math.min(room, replicas - current)
}

/**
 * One step of a rolling update: ReplicaSets to shrink, then those to grow. `oldSets` are sorted by age. Kubernetes
 * scales up, down and up again in three reconciles. Only the controller decides between them, so they are one step
 * here. Scale-downs come first, so that there are never too many pods.
 */
export function rollingTargets(bounds: Bounds, newSet: Sized, oldSets: readonly Sized[]): Target[] {
  const { replicas } = bounds
  if (newSet.replicas > replicas) return [{ name: newSet.name, replicas }]
  const shrunk = shrinkOld(bounds, trusted(newSet), oldSets.map(trusted))
  const size = grown(bounds, newSet.replicas, sum(shrunk.map((set) => set.replicas)))
  return [
    ...shrunk
      .filter((set, i) => set.replicas !== oldSets[i]!.replicas)
      .map(({ name, replicas: to }) => ({ name, replicas: to })),
    ...(size === newSet.replicas ? [] : [{ name: newSet.name, replicas: size }]),
  ]
}

/**
 * The old pods that may be deleted. Unavailable pods of the new revision count as missing already. For example 10
 * replicas with maxUnavailable 2, 8 old and 5 new pods that crash: 13 - 8 - 5 leaves none, even if an old pod fails as
 * well.
 */
function shrinkOld({ replicas, maxUnavailable }: Bounds, newSet: Sized, oldSets: readonly Sized[]): Sized[] {
  const minAvailable = replicas - maxUnavailable
  const total = newSet.replicas + sum(oldSets.map((set) => set.replicas))
  const surplus = total - minAvailable - (newSet.replicas - newSet.available)
  if (surplus <= 0) return [...oldSets]
  const healthy = takeAway(oldSets, surplus, (set) => set.replicas - set.available)
  const available = newSet.available + sum(healthy.map((set) => set.available))
  return takeAway(healthy, available - minAvailable, (set) => set.replicas)
}

/** Shrinks ReplicaSets, oldest first, by `count` in total, each by the number that it can spare. */
function takeAway(sets: readonly Sized[], count: number, spares: (set: Sized) => number): Sized[] {
  let left = Math.max(0, count)
  return sets.map((set) => {
    const taken = Math.min(left, spares(set))
    left -= taken
    return { ...set, replicas: set.replicas - taken }
  })
}
