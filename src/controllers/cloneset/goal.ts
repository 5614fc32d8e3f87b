import type { Bounds } from './bounds.ts'
import { type Tally, totalOf, unavailableOf } from './tally.ts'

/** How many pods are to come, to go and to change, as seen from how many there are. */
export interface Goal {
  /** Pods that are missing, and how many of them are to be of the current revision. */
  missing: number
  missingCurrent: number
  /** How many of those may be made now. */
  mayCreate: number
  /** Pods that are too many, and how many of them should be outdated ones. What somebody asks to be deleted comes on top. */
  surplus: number
  surplusOutdated: number
  /** How many pods that are ready may be deleted now. */
  mayDeleteReady: number
  /** Outdated pods that are to be of the update revision. */
  toUpdate: number
  /** How many pods may be unavailable while that is done: those beyond the replicas may, too. */
  mayBeUnavailable: number
}

/**
 * Scaling and updating are two views of the same numbers: `partition` pods are to be of older revisions and the others of the new one, and there may be
 * more for a while, so that what goes is replaced before it is gone.
 */
export function goalOf(tally: Tally, bounds: Bounds, countsPreparing: boolean): Goal {
  const { replicas, partition, maxUnavailable } = bounds
  const { updated, outdated } = tally
  const preparing = updated.preparing + outdated.preparing
  const asked = updated.asked + outdated.asked
  const [total, unavailable] = [totalOf(tally), unavailableOf(tally)]
  const outdatedLeft = Math.max(0, outdated.count - outdated.preparing - partition)
  const updatedMissing = Math.max(0, replicas - partition - (updated.count - updated.preparing))
  const toUpdate = Math.min(outdatedLeft, updatedMissing)
  const surge = surgeOf(tally, bounds, bounds.isUpdating ? toUpdate : 0)
  const wanted = replicas + surge.total
  const wantedOutdated = partition + surge.outdated
  const present = countsPreparing ? total : total - preparing
  const presentOutdated = countsPreparing ? outdated.count : outdated.count - outdated.preparing
  const missing = Math.max(0, wanted - present)
  return {
    missing,
    missingCurrent: Math.min(missing, Math.max(0, wantedOutdated - presentOutdated)),
    mayCreate: Math.min(missing, Math.max(0, bounds.maxUnavailableOfScale - unavailable)),
    surplus: Math.max(0, total - preparing - asked - wanted),
    surplusOutdated: Math.max(0, outdated.count - outdated.preparing - outdated.asked - wantedOutdated),
    mayDeleteReady: Math.max(0, maxUnavailable + total - replicas - unavailable - updated.askedUnavailable - outdated.askedUnavailable),
    toUpdate,
    mayBeUnavailable: maxUnavailable + total - replicas,
  }
}

/** How many more pods there are to be for a while: for those that are updated, or for those that are asked to go beyond what may be unavailable. */
function surgeOf(tally: Tally, { maxSurge, maxUnavailable }: Bounds, forUpdate: number): { total: number; outdated: number } {
  if (maxSurge === 0) return { total: 0, outdated: 0 }
  const { updated, outdated } = tally
  const asked = updated.asked + outdated.asked
  const forAsked = Math.min(asked, Math.max(0, unavailableOf(tally) + asked - maxUnavailable))
  if (forAsked < forUpdate) return { total: Math.min(maxSurge, forUpdate), outdated: 0 }
  const total = Math.min(maxSurge, forAsked)
  return { total, outdated: Math.min(total, Math.max(0, forAsked - updated.asked)) }
}
