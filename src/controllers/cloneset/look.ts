import { type Bounds, boundsOf } from './bounds.ts'
import type { Counts } from './counts.ts'
import type { Seat } from './entry.ts'
import { type Goal, goalOf } from './goal.ts'
import type { Observed } from './observe.ts'
import type { Revisions } from './revision.ts'
import { type Tally, tallyAfter } from './tally.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look {
  seen: Observed
  revisions: Revisions
  bounds: Bounds
  tally: Tally
  goal: Goal
  counts: Counts
}

export function lookAt(seen: Observed): Look {
  const { set, revisions, members: { tally, counts } } = seen
  const bounds = boundsOf(set)
  return { seen, revisions, bounds, tally, goal: goalOf(tally, bounds, countsPreparing(seen)), counts }
}

/** What there is to do once these have gone, and those are updated as they run. */
export function goalAfter(look: Look, gone: readonly Seat[], changed: readonly Seat[]): Goal {
  if (gone.length + changed.length === 0) return look.goal
  return goalOf(tallyAfter(look.tally, gone, changed), look.bounds, countsPreparing(look.seen))
}

const excludeLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete'

/** Whether pods that wait to be deleted keep their places until they are gone. */
const countsPreparing = ({ set: { metadata, spec } }: Observed): boolean =>
  !spec.scaleStrategy?.excludePreparingDelete && metadata.labels?.[excludeLabel] !== 'true'

/** The time until there is something to do or to say about a pod though nothing happens to it. */
export function wakesInMs({ members, nowMs }: Pick<Observed, 'members' | 'nowMs'>): number | undefined {
  const atMs = members.wakes.peek()
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs)
}
