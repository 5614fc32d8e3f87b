import { knowingLatest } from '../kit/workload/index.ts'
import { type Bounds, boundsOf } from './bounds.ts'
import { type Counts, countMembers } from './counts.ts'
import { type Goal, goalOf } from './goal.ts'
import type { Member } from './member.ts'
import type { Observed } from './observe.ts'
import { type Revisions, revisionsOf } from './revision.ts'
import { type Tally, tallyAfter, tallyOf } from './tally.ts'

/** What follows at once from what was observed: every stage starts from here. */
export interface Look {
  seen: Observed
  revisions: Revisions
  bounds: Bounds
  tally: Tally
  goal: Goal
  counts: Counts
  /** Whether just this pod is to go: somebody wants it, or it cannot come to anything. */
  isAsked(member: Member): boolean
}

/** The same for the observation that was asked about last. */
export const lookAt = knowingLatest(lookAnew)

function lookAnew(seen: Observed): Look {
  const { set, members } = seen
  const revisions = revisionsOf(set, seen.history, members)
  const bounds = boundsOf(set)
  const named = new Set(set.spec.scaleStrategy?.podsToDelete)
  for (const name of seen.forsaken) named.add(name)
  const isAsked = (member: Member): boolean => member.isMarked || (named.size > 0 && named.has(member.pod.metadata.name!))
  const { hash } = revisions.update
  const tally = tallyOf(members, hash, isAsked)
  return { seen, revisions, bounds, tally, goal: goalOf(tally, bounds, countsPreparing(seen)), counts: countMembers(members, hash), isAsked }
}

/** What there is to do once these have gone, and those are updated as they run. */
export function goalAfter(look: Look, gone: readonly Member[], changed: readonly Member[]): Goal {
  if (gone.length + changed.length === 0) return look.goal
  return goalOf(tallyAfter(look.tally, gone, changed, look.revisions.update.hash, look.isAsked), look.bounds, countsPreparing(look.seen))
}

const excludeLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete'

/** Whether pods that wait to be deleted keep their places until they are gone. */
const countsPreparing = ({ set: { metadata, spec } }: Observed): boolean =>
  !spec.scaleStrategy?.excludePreparingDelete && metadata.labels?.[excludeLabel] !== 'true'
