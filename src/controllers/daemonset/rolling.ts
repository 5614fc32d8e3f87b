import type { Changes } from './manage.ts'
import type { Observed } from './observe.ts'
import type { Place } from './place.ts'
import type { DeletePod } from './plan.ts'
import { type Bounds, boundsOf } from './strategy.ts'

export interface Rolling extends Changes {
  /** Why nothing more may happen yet. */
  wait?: string
}

/**
 * Replaces outdated pods within the bounds. It expects that nothing is to be managed: at most one old and one new pod are
 * on each node.
 */
export function rollOut(seen: Observed): Rolling {
  const bounds = boundsOf(seen.set, seen.places.counts.desiredNumberScheduled)
  return bounds.maxSurge === 0 ? replace(seen, bounds) : surge(seen, bounds)
}

const deleteOld = ({ node, oldPod }: Place): DeletePod => ({ kind: 'DeletePod', pod: oldPod!, node })

/** Takes old pods away, so that there is room for new ones. One that is not available costs nothing and goes first. */
function replace({ places: { sorts, tally } }: Observed, { maxUnavailable }: Bounds): Rolling {
  const { broken, replaceable } = sorts
  const healthy = firstOf(replaceable, maxUnavailable - tally.unavailable)
  const deletes = [...broken.values(), ...healthy].map(deleteOld)
  const isHeld = replaceable.size > 0 && deletes.length === 0
  return { deletes, creates: [], ...(isHeld ? { wait: `${tally.unavailable} of ${maxUnavailable} pods that may be unavailable are` } : {}) }
}

/** Makes new pods beside old ones, which go when these are available. */
function surge({ places: { sorts, tally, counts } }: Observed, { maxSurge }: Bounds): Rolling {
  const { replaced, unwanted, atOnce, candidates } = sorts
  // Who surges wants as many available as there are nodes: a pod that may stay where it is goes when it is one too many.
  const surplus = firstOf(unwanted, tally.available - counts.desiredNumberScheduled)
  const deletes = [...replaced.values(), ...surplus].map(deleteOld)
  const creates = [...atOnce.keys(), ...firstOf(candidates, maxSurge - tally.surging).map(({ node }) => node)]
  const isHeld = candidates.size > 0 && creates.length + deletes.length === 0
  const wait = `${tally.surging} of ${maxSurge} new pods that may be made beside old ones are not available`
  return { deletes, creates, ...(isHeld ? { wait } : {}) }
}

/** The first so many, if the number is not negative. */
function firstOf(places: ReadonlyMap<string, Place>, count: number): Place[] {
  const first: Place[] = []
  for (const place of places.values()) {
    if (first.length >= count) break
    first.push(place)
  }
  return first
}
