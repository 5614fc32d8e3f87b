import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { desiredReplicasAnnotation, maxReplicasAnnotation, numberIn } from './annotations.ts'
import { type Bounds, isRollingUpdate, replicasOf } from './bounds.ts'
import { activeOf, byAge } from './replica-sets.ts'
import type { Target } from './rolling.ts'

/** Whether a user has scaled since the ReplicaSets were last sized. They remember for which number that was. */
export function isScaled(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return activeOf(sets).some((set) => {
    const desired = numberIn(set, desiredReplicasAnnotation)
    return desired !== undefined && desired !== replicasOf(deployment)
  })
}

/**
 * The sizes that follow from a user's scaling alone. The only ReplicaSet with pods, or the newest, takes it all; in the middle of a rollout each takes a
 * part that is like its part of the pods. Undefined if it does not follow: the rollout itself has to tell.
 */
export function scaledTargets(deployment: Deployment, bounds: Bounds, newSet: ReplicaSet | undefined, oldSets: readonly ReplicaSet[]): Target[] | undefined {
  const only = onlyActiveOrNewest(newSet, oldSets)
  if (only) return [{ name: only.metadata.name!, replicas: bounds.replicas }]
  if (newSet && isSaturated(deployment, newSet)) return activeOf(oldSets).map((set) => ({ name: set.metadata.name!, replicas: 0 }))
  return isRollingUpdate(deployment) ? inProportion(bounds, activeOf([...oldSets, ...(newSet ? [newSet] : [])]), deployment.status?.replicas ?? 0) : undefined
}

function onlyActiveOrNewest(newSet: ReplicaSet | undefined, oldSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const active = activeOf([...oldSets, ...(newSet ? [newSet] : [])])
  if (active.length > 1) return undefined
  return active[0] ?? newSet ?? oldSets.toSorted(byAge).at(-1)
}

/** Whether the new ReplicaSet has all pods of the Deployment already, and each is available. */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const wanted = replicasOf(deployment)
  return [replicasOf(newSet), numberIn(newSet, desiredReplicasAnnotation), newSet.status?.availableReplicas ?? 0].every((n) => n === wanted)
}

/** Spreads what is to come, or to go, over ReplicaSets by their size; what rounding leaves is the largest one's. */
function inProportion(bounds: Bounds, sets: readonly ReplicaSet[], knownReplicas: number): Target[] {
  const allowed = bounds.replicas > 0 ? bounds.replicas + bounds.maxSurge : 0
  const toAdd = allowed - sets.reduce((sum, set) => sum + replicasOf(set), 0)
  // Of two of the same size the newer grows, the older shrinks.
  const inOrder = sets.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  let added = 0
  const targets = inOrder.map((set) => {
    const share = shareOf(set, bounds, toAdd, added, knownReplicas)
    added += share
    return { name: set.metadata.name!, replicas: replicasOf(set) + share }
  })
  // Where the largest is too small to give it all, the next one gives, or there would be too many.
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
  // Annotations of another time must not make one larger while there are too many.
  return toAdd > 0 ? Math.min(fraction, left) : Math.min(0, Math.max(fraction, left))
}

/** By how much a ReplicaSet would change if its part of the whole stayed the same. */
function fractionOf(set: ReplicaSet, { replicas, maxSurge }: Bounds, knownReplicas: number): number {
  const size = replicasOf(set)
  if (replicas === 0) return -size
  // Without the annotation, which anybody can take off, what there is now has to do for the whole.
  const before = numberIn(set, maxReplicasAnnotation) || knownReplicas
  if (before === 0) return 0
  const exact = (size * (replicas + maxSurge)) / before
  return Math.trunc(exact < 0 ? exact - 0.5 : exact + 0.5) - size
}
