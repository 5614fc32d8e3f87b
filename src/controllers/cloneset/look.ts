import { type Bounds, boundsOf } from './bounds.ts'
import { type Counts, countMembers } from './counts.ts'
import { type Goal, goalOf } from './goal.ts'
import type { Member } from './member.ts'
import type { Observed } from './observe.ts'
import { type Revisions, revisionsOf } from './revision.ts'
import { type Tally, tallyOf, tallyWithout } from './tally.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look {
  seen: Observed
  revisions: Revisions
  bounds: Bounds
  tally: Tally
  goal: Goal
  counts: Counts
  /** Whether somebody wants just this pod to go. */
  isAsked(member: Member): boolean
}

let latest: Look | undefined

/** The same for the observation that was asked about last: every stage asks, one after the other. */
export function lookAt(seen: Observed): Look {
  if (latest?.seen !== seen) latest = lookAnew(seen)
  return latest
}

function lookAnew(seen: Observed): Look {
  const { set, members } = seen
  const revisions = revisionsOf(set, seen.history, members)
  const bounds = boundsOf(set)
  const named = new Set(set.spec.scaleStrategy?.podsToDelete)
  const isAsked = (member: Member): boolean => member.isMarked || (named.size > 0 && named.has(member.pod.metadata.name!))
  const { hash } = revisions.update
  const tally = tallyOf(members, hash, isAsked)
  return { seen, revisions, bounds, tally, goal: goalOf(tally, bounds, countsPreparing(seen)), counts: countMembers(members, hash), isAsked }
}

/** What is missing once these have gone. */
export function goalWithout(look: Look, gone: readonly Member[]): Goal {
  if (gone.length === 0) return look.goal
  return goalOf(tallyWithout(look.tally, gone, look.revisions.update.hash, look.isAsked), look.bounds, countsPreparing(look.seen))
}

const excludeLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete'

/** Whether pods that wait to be deleted keep their places until they are gone. */
const countsPreparing = ({ set: { metadata, spec } }: Observed): boolean =>
  !spec.scaleStrategy?.excludePreparingDelete && metadata.labels?.[excludeLabel] !== 'true'
