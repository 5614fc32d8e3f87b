import type { DaemonSet } from '../../api/generated/types.ts'
import { percentOf } from '../../api/numbers/int-or-string.ts'
import type { Changes, DeletePod } from './apply.ts'
import type { NodeState } from './node-state.ts'
import type { Observed } from './observe.ts'

/** The limits of an update in pods. */
export interface Bounds {
  maxUnavailable: number
  maxSurge: number
}

const rollingUpdateOf = ({ spec: { updateStrategy } }: DaemonSet) =>
  updateStrategy.type === 'RollingUpdate' ? updateStrategy.rollingUpdate : undefined

/**
 * The limits for a number of nodes. Percentages are rounded up. If both are zero, one pod may be unavailable, otherwise
 * no update would be possible.
 */
export function boundsOf(set: DaemonSet, desired: number): Bounds {
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdateOf(set) ?? {}
  const bounds = {
    maxUnavailable: percentOf(maxUnavailable, desired, true),
    maxSurge: percentOf(maxSurge, desired, true),
  }
  return desired > 0 && bounds.maxUnavailable === 0 && bounds.maxSurge === 0 ? { ...bounds, maxUnavailable: 1 } : bounds
}

/** Reports whether a node may run an old and a new pod at the same time. */
export const allowsSurge = (set: DaemonSet): boolean => percentOf(rollingUpdateOf(set)?.maxSurge ?? 0, 1, true) > 0

export interface Rolling extends Changes {
  /** The reason why nothing more may happen yet. */
  wait?: string
}

/**
 * Replaces outdated pods within the limits. Requires that nothing is left to manage: each node has at most one old and
 * one new pod.
 */
export function rollOut(seen: Observed): Rolling {
  const bounds = boundsOf(seen.set, seen.table.counts.desiredNumberScheduled)
  return bounds.maxSurge === 0 ? replace(seen, bounds) : surge(seen, bounds)
}

const deleteOld = ({ node, oldPod }: NodeState): DeletePod => ({ kind: 'DeletePod', pod: oldPod!, node })

/** Deletes old pods, so that new ones can be created. Unavailable pods are deleted first, regardless of the limit. */
function replace({ table: { sorts, tally } }: Observed, { maxUnavailable }: Bounds): Rolling {
  const { broken, replaceable } = sorts
  const healthy = firstOf(replaceable, maxUnavailable - tally.unavailable)
  const deletes = [...broken.values(), ...healthy].map(deleteOld)
  const isHeld = replaceable.size > 0 && deletes.length === 0
  return {
    deletes,
    creates: [],
    ...(isHeld ? { wait: `${tally.unavailable} of ${maxUnavailable} pods that may be unavailable are` } : {}),
  }
}

/** Creates new pods beside old ones, which are deleted when the new ones are available. */
function surge({ table: { sorts, tally, counts } }: Observed, { maxSurge }: Bounds): Rolling {
  const { replaced, unwanted, atOnce, candidates } = sorts
  // A surge needs as many available pods as there are eligible nodes. A pod that may stay is deleted if it exceeds that
  // number.
  const surplus = firstOf(unwanted, tally.available - counts.desiredNumberScheduled)
  const deletes = [...replaced.values(), ...surplus].map(deleteOld)
  const creates = [...atOnce.keys(), ...firstOf(candidates, maxSurge - tally.surging).map(({ node }) => node)]
  const isHeld = candidates.size > 0 && creates.length + deletes.length === 0
  const wait = `${tally.surging} of ${maxSurge} new pods that may be made beside old ones are not available`
  return { deletes, creates, ...(isHeld ? { wait } : {}) }
}

/** The first `count` nodes. */
function firstOf(table: ReadonlyMap<string, NodeState>, count: number): NodeState[] {
  const first: NodeState[] = []
  for (const state of table.values()) {
    if (first.length >= count) break
    first.push(state)
  }
  return first
}
