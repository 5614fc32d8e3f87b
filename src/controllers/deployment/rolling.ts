import type { Bounds } from './bounds.ts'

/** A ReplicaSet as far as sizes go. */
export interface Sized {
  name: string
  /** Pods that it is to have. */
  replicas: number
  /** Pods of it that are available, as far as it has told. */
  available: number
}

/** A ReplicaSet and the size it is to have. */
export interface Target {
  name: string
  replicas: number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** What was told before a ReplicaSet was made smaller counts those, too, that are about to go. */
const trusted = (set: Sized): Sized => ({ ...set, available: Math.min(set.available, set.replicas) })

/** How large the new ReplicaSet may be beside the old ones: as large as wanted, as far as the surge goes, and never smaller than it is on that account. */
export function grown({ replicas, maxSurge }: Bounds, current: number, others: number): number {
  const room = replicas + maxSurge - current - others
  return room <= 0 ? current : current + Math.min(room, replicas - current)
}

/**
 * One step of a rolling update: who becomes smaller, then who becomes larger. `oldSets` are in the order of their age. Kubernetes takes a step up, one
 * down and one up again, each in a turn of its own; nobody has a say between them, so they are one here. Those who shrink come first, so that there are never
 * too many.
 */
export function rollingTargets(bounds: Bounds, newSet: Sized, oldSets: readonly Sized[]): Target[] {
  const { replicas } = bounds
  if (newSet.replicas > replicas) return [{ name: newSet.name, replicas }]
  const shrunk = shrinkOld(bounds, trusted(newSet), oldSets.map(trusted))
  const size = grown(bounds, newSet.replicas, sum(shrunk.map((set) => set.replicas)))
  return [
    ...shrunk.filter((set, i) => set.replicas !== oldSets[i]!.replicas).map(({ name, replicas: to }) => ({ name, replicas: to })),
    ...(size === newSet.replicas ? [] : [{ name: newSet.name, replicas: size }]),
  ]
}

/**
 * Old pods that may go. Pods of the new revision that are not available count as missing already: 10 wanted, 2 may be missing, 8 old and 5 new ones that
 * crash make 13; 13 - 8 - 5 leaves none, even if an old one is lost, too.
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

/** Makes the oldest smaller first, up to `count` in all and each by what it can spare. */
function takeAway(sets: readonly Sized[], count: number, spares: (set: Sized) => number): Sized[] {
  let left = Math.max(0, count)
  return sets.map((set) => {
    const taken = Math.min(left, spares(set))
    left -= taken
    return { ...set, replicas: set.replicas - taken }
  })
}
