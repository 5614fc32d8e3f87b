import type { CloneSet } from '../../api/generated/types.ts'
import { type IntOrString, percentOf } from '../../api/numbers/int-or-string.ts'
import type { ActiveMember } from './member.ts'
import { type Counts, type Tally, tallyAfter, totalOf, unavailableOf } from './members.ts'
import type { Observed } from './observe.ts'

/** The limits of a set's strategies in pods. */
export interface Bounds {
  replicas: number
  /** The number of pods that keep the old revision when the template changes. */
  partition: number
  /** The number of additional pods during an update. */
  maxSurge: number
  /** The number of pods that the controller may make unavailable. */
  maxUnavailable: number
  /** The number of unavailable pods from which no more pods are created. */
  maxUnavailableOfScale: number
  /** False while the rollout is paused. */
  isUpdating: boolean
}

export function boundsOf({ spec }: Pick<CloneSet, 'spec'>): Bounds {
  const { replicas = 1, updateStrategy = {}, scaleStrategy = {} } = spec
  const maxSurge = percentOf(updateStrategy.maxSurge ?? 0, replicas, true)
  return {
    replicas,
    partition: partitionOf(updateStrategy.partition ?? 0, replicas),
    maxSurge,
    // Rounded up unless there is a surge, so that the update can always proceed.
    maxUnavailable: percentOf(updateStrategy.maxUnavailable ?? '20%', replicas, maxSurge === 0),
    maxUnavailableOfScale:
      scaleStrategy.maxUnavailable === undefined
        ? Number.POSITIVE_INFINITY
        : percentOf(scaleStrategy.maxUnavailable, replicas, true),
    isUpdating: !updateStrategy.paused,
  }
}

/**
 * A percentage is rounded up, so that more than 0 % keeps at least one pod. With two or more replicas, less than 100 %
 * updates at least one.
 */
function partitionOf(partition: IntOrString, replicas: number): number {
  const kept = Math.max(0, Math.min(percentOf(partition, replicas, true), replicas))
  const isAllByRounding = typeof partition === 'string' && partition !== '100%' && replicas > 1 && kept === replicas
  return isAllByRounding ? replicas - 1 : kept
}

/** The number of pods to create, delete and update, relative to the existing ones. */
export interface Goal {
  /** The missing pods, and how many of them get the current revision. */
  missing: number
  missingCurrent: number
  /** The number of missing pods that may be created now. */
  mayCreate: number
  /** The redundant pods, and how many of them should be outdated. Pods whose deletion is requested are not included. */
  surplus: number
  surplusOutdated: number
  /** The number of ready pods that may be deleted now. */
  mayDeleteReady: number
  /** Outdated pods to update. */
  toUpdate: number
  /** The number of pods that may be unavailable during the update, including pods beyond the replicas. */
  mayBeUnavailable: number
}

/**
 * Scaling and updating use the same numbers: `partition` pods keep older revisions, all others get the new one. A surge
 * allows more pods for a while, so that pods are replaced before they are deleted.
 */
function goalOf(tally: Tally, bounds: Bounds, countsPreparing: boolean): Goal {
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
    mayDeleteReady: Math.max(
      0,
      maxUnavailable + total - replicas - unavailable - updated.askedUnavailable - outdated.askedUnavailable,
    ),
    toUpdate,
    mayBeUnavailable: maxUnavailable + total - replicas,
  }
}

/** The surge: for pods that are updated, or for requested deletions beyond the allowed unavailability. */
function surgeOf(
  tally: Tally,
  { maxSurge, maxUnavailable }: Bounds,
  forUpdate: number,
): { total: number; outdated: number } {
  if (maxSurge === 0) return { total: 0, outdated: 0 }
  const { updated, outdated } = tally
  const asked = updated.asked + outdated.asked
  const forAsked = Math.min(asked, Math.max(0, unavailableOf(tally) + asked - maxUnavailable))
  if (forAsked < forUpdate) return { total: Math.min(maxSurge, forUpdate), outdated: 0 }
  const total = Math.min(maxSurge, forAsked)
  return { total, outdated: Math.min(total, Math.max(0, forAsked - updated.asked)) }
}

/** An observation together with what several stages need of it. */
export interface Derived extends Observed {
  bounds: Bounds
  tally: Tally
  goal: Goal
  counts: Counts
}

export function derive(seen: Observed): Derived {
  const { tally, counts } = seen.members
  const bounds = boundsOf(seen.set)
  return { ...seen, bounds, tally, goal: goalOf(tally, bounds, countsPreparing(seen)), counts }
}

/** The goal after `gone` have been deleted and `changed` are being updated in place. */
export function goalAfter(seen: Derived, gone: readonly ActiveMember[], changed: readonly ActiveMember[]): Goal {
  if (gone.length + changed.length === 0) return seen.goal
  return goalOf(tallyAfter(seen.tally, gone, changed), seen.bounds, countsPreparing(seen))
}

const excludeLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete'

/** Reports whether pods that wait for their deletion count as replicas until they are gone. */
const countsPreparing = ({ set: { metadata, spec } }: Observed): boolean =>
  !spec.scaleStrategy?.excludePreparingDelete && metadata.labels?.[excludeLabel] !== 'true'

/** The time until a pod needs an action or changes the status without an event. */
export function wakesInMs({ members, nowMs }: Pick<Observed, 'members' | 'nowMs'>): number | undefined {
  const atMs = members.wakes.peek()
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs)
}
