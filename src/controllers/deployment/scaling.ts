import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import type { Derived } from './derive.ts'
import { activeOf, byAge, desiredReplicasAnnotation, maxReplicasAnnotation, numberIn } from './replica-sets.ts'
import { type Bounds, type Target, isRollingUpdate, replicasOf } from './rolling.ts'

/** True if a user has scaled since the ReplicaSets were sized, according to their annotations. */
export function isScaled(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return activeOf(sets).some((set) => {
    const desired = numberIn(set, desiredReplicasAnnotation)
    return desired !== undefined && desired !== replicasOf(deployment)
  })
}

/**
 * The sizes after a scale by a user. The only ReplicaSet with pods, or the newest, takes all replicas. During a rollout
 * each takes a share that is proportional to its size. Undefined if the rollout has to decide.
 */
export function scaledTargets({ deployment, bounds, sets, newSet, oldSets }: Derived): Target[] | undefined {
  const only = onlyActiveOrNewest(sets, newSet, oldSets)
  if (only) return [{ name: only.metadata.name!, replicas: bounds.replicas }]
  if (newSet && isSaturated(deployment, newSet)) {
    return activeOf(oldSets).map((set) => ({ name: set.metadata.name!, replicas: 0 }))
  }
  return isRollingUpdate(deployment)
    ? inProportion(bounds, activeOf(sets), deployment.status?.replicas ?? 0)
    : undefined
}

function onlyActiveOrNewest(
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): ReplicaSet | undefined {
  const active = activeOf(sets)
  if (active.length > 1) return undefined
  return active[0] ?? newSet ?? oldSets.toSorted(byAge).at(-1)
}

/** True if the new ReplicaSet has all pods of the Deployment, and all are available. */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const wanted = replicasOf(deployment)
  return [replicasOf(newSet), numberIn(newSet, desiredReplicasAnnotation), newSet.status?.availableReplicas ?? 0].every(
    (n) => n === wanted,
  )
}

/** Distributes the difference among ReplicaSets in proportion to their sizes. The largest takes the rounding error. */
function inProportion(bounds: Bounds, sets: readonly ReplicaSet[], knownReplicas: number): Target[] {
  const allowed = bounds.replicas > 0 ? bounds.replicas + bounds.maxSurge : 0
  const toAdd = allowed - sets.reduce((sum, set) => sum + replicasOf(set), 0)
  // If two have the same size, the newer grows, and the older shrinks.
  const inOrder = sets.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  let added = 0
  const targets = inOrder.map((set) => {
    const share = shareOf(set, bounds, toAdd, added, knownReplicas)
    added += share
    return { name: set.metadata.name!, replicas: replicasOf(set) + share }
  })
  // If the largest is too small for the whole error, the next one takes the rest.
  let rest = toAdd - added
  return targets.map(({ name, replicas }) => {
    const size = Math.max(0, replicas + rest)
    rest -= size - replicas
    return { name, replicas: size }
  })
}

function shareOf(set: ReplicaSet, bounds: Bounds, toAdd: number, added: number, knownReplicas: number): number {
  const left = toAdd - added
  if (toAdd === 0 || left === 0) return 0
  const fraction = fractionOf(set, bounds, knownReplicas)
  // Outdated annotations must not make a ReplicaSet larger while there are too many pods.
  return toAdd > 0 ? Math.min(fraction, left) : Math.min(0, Math.max(fraction, left))
}

/** The change of a ReplicaSet that keeps its share of the whole. */
function fractionOf(set: ReplicaSet, { replicas, maxSurge }: Bounds, knownReplicas: number): number {
  const size = replicasOf(set)
  if (replicas === 0) return -size
  // Without the annotation, which any user can remove, the current replicas are the whole.
  const before = numberIn(set, maxReplicasAnnotation) || knownReplicas
  if (before === 0) return 0
  const exact = (size * (replicas + maxSurge)) / before
  return Math.trunc(exact < 0 ? exact - 0.5 : exact + 0.5) - size
}
