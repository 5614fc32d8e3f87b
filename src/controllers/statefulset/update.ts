import { startOrdinal } from './identity.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'

/**
 * Replaces outdated pods from the highest ordinal down to the partition, so that no more than maxUnavailable are
 * unavailable by our hand.
 */
export function rollOut(look: Look): Stage {
  const { seen, places, partition, maxUnavailable, unavailable } = look
  if (seen.set.spec.updateStrategy.type === 'OnDelete') return { actions: [] }
  const outdated = places.outdatedReady.size + places.outdatedUnready.size
  if (outdated === 0) return { actions: [] }
  const broken = brokenOf(look)
  // More than there is to update acts as all of that: what is kept by the partition may not make up for it.
  const most = Math.min(maxUnavailable, Math.max(1, places.wanted - partition))
  // A pod that is ready serves users, even if it is not available yet: it goes within the budget.
  const serving = places.outdatedReady.first(Math.max(0, most - unavailable))
  // A pod that was seen to be broken may have recovered since: then it goes within the budget, or not at all.
  const actions: Action[] = [
    ...broken.map(({ pod }): Action => ({ kind: 'DeletePod', pod, ifUnchanged: true })),
    ...serving.map(({ pod }): Action => ({ kind: 'DeletePod', pod })),
  ]
  const isStuck = outdated > actions.length && actions.length === 0
  return isStuck ? { actions, wait: `${unavailable} pods are unavailable, of ${most} that may be` } : { actions }
}

/**
 * The outdated pods that are replaced whatever the budget: in parallel, those that are not ready. That costs no
 * availability, and otherwise they would keep themselves from being mended. While the gate is off they go one by one.
 * A pod that has ended goes anyway.
 */
function brokenOf(look: Look): readonly Member[] {
  if (look.isOrdered) return []
  const { seen, places } = look
  const broken = [...places.outdatedUnready.values()].filter(({ isFinished }) => !isFinished).sort((a, b) => b.ordinal - a.ordinal)
  if (seen.honoursMaxUnavailable || broken.length === 0) return broken
  return isOneUnderWay(look) ? [] : broken.slice(0, 1)
}

/** True if a replica is missing, going, or new and not available yet. Where pods go one by one, the next waits for it. */
function isOneUnderWay({ seen: { set }, places, partition }: Look): boolean {
  if (places.tally.underWay > 0) return true
  const first = startOrdinal(set) + partition
  return places.missing > 0 && [...places.missingOrdinals()].some((ordinal) => ordinal >= first)
}
