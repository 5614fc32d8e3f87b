import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'
import type { Slot } from './slots.ts'

/** Replaces outdated pods from the highest ordinal down to the partition, so that no more than maxUnavailable are unavailable by our hand. */
export function rollOut(look: Look): Stage {
  const { seen, replicas, partition, maxUnavailable, unavailable, isOrdered } = look
  if (seen.set.spec.updateStrategy.type === 'OnDelete') return { actions: [] }
  const outdated = replicas.slice(partition).filter((slot): slot is Member => isOutdated(look, slot)).toReversed()
  if (outdated.length === 0) return { actions: [] }
  // In parallel, an outdated pod that serves nobody is replaced whatever the budget: that costs nothing, and else it could keep itself from being mended.
  // One that has ended goes anyway.
  const broken = isOrdered ? [] : outdated.filter((member) => member.isUnavailable && !member.isFinished)
  // More than there is to update acts as all of that: what is kept by the partition may not make up for it.
  const most = Math.min(maxUnavailable, Math.max(1, replicas.length - partition))
  const healthy = outdated.filter((member) => !member.isUnavailable).slice(0, Math.max(0, most - unavailable))
  // Who was seen to be broken may have recovered since: then it goes within the budget, or not at all.
  const actions: Action[] = [...broken.map(({ pod }): Action => ({ kind: 'DeletePod', pod, ifUnchanged: true })), ...healthy.map(({ pod }): Action => ({ kind: 'DeletePod', pod }))]
  const left = outdated.length - actions.length
  return left > 0 && actions.length === 0 ? { actions, wait: `${unavailable} pods are unavailable, of ${most} that may be` } : { actions }
}

/** Whether there is a pod that is to stay and is not of the new revision. */
export const isOutdated = ({ revisions }: Look, slot: Slot): boolean => slot.pod !== undefined && !slot.isTerminating && slot.revision !== revisions.update.name
