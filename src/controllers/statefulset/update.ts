import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'
import type { Slot } from './slots.ts'

/** Replaces outdated pods from the highest ordinal down to the partition, so that no more than maxUnavailable are unavailable by our hand. */
export function rollOut(look: Look): Stage {
  const { seen, replicas, partition, maxUnavailable, unavailable } = look
  if (seen.set.spec.updateStrategy.type === 'OnDelete') return { actions: [] }
  const outdated = replicas.slice(partition).filter((slot): slot is Member => isOutdated(look, slot)).toReversed()
  if (outdated.length === 0) return { actions: [] }
  const broken = brokenOf(look, outdated)
  // More than there is to update acts as all of that: what is kept by the partition may not make up for it.
  const most = Math.min(maxUnavailable, Math.max(1, replicas.length - partition))
  // A pod that is ready serves users, even if it is not available yet: it goes within the budget.
  const serving = outdated.filter((member) => member.isReady).slice(0, Math.max(0, most - unavailable))
  // A pod that was seen to be broken may have recovered since: then it goes within the budget, or not at all.
  const actions: Action[] = [
    ...broken.map(({ pod }): Action => ({ kind: 'DeletePod', pod, ifUnchanged: true })),
    ...serving.map(({ pod }): Action => ({ kind: 'DeletePod', pod })),
  ]
  const left = outdated.length - actions.length
  return left > 0 && actions.length === 0 ? { actions, wait: `${unavailable} pods are unavailable, of ${most} that may be` } : { actions }
}

/**
 * The outdated pods that are replaced whatever the budget: in parallel, those that are not ready. That costs no
 * availability, and otherwise they would keep themselves from being mended. While the gate is off they go one by one.
 * A pod that has ended goes anyway.
 */
function brokenOf(look: Look, outdated: readonly Member[]): readonly Member[] {
  if (look.isOrdered) return []
  const broken = outdated.filter((member) => !member.isReady && !member.isFinished)
  if (look.seen.honoursMaxUnavailable) return broken
  return look.replicas.slice(look.partition).some((slot) => isUnderWay(look, slot)) ? [] : broken.slice(0, 1)
}

/**
 * Whether a replica is missing, going, or new and not available yet. Where pods go one by one, the next waits for it.
 */
const isUnderWay = (look: Look, slot: Slot): boolean =>
  slot.isUnavailable && (!isOutdated(look, slot) || (slot as Member).isFinished)

/** Whether there is a pod that is to stay and is not of the new revision. */
export const isOutdated = ({ revisions }: Look, slot: Slot): boolean => slot.pod !== undefined && !slot.isTerminating && slot.revision !== revisions.update.name
