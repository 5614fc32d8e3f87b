import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { isPodTerminating } from '../kit/workload/index.ts'
import type { Due } from './choose.ts'
import { dueAtMs, troubleOf } from './due.ts'
import { type Observed, isWanted } from './observe.ts'
import { type Recovery, hasClaims } from './recovery.ts'
import { sandboxHistory } from './sandbox.ts'
import { podFinalizer, stageOf } from './stage.ts'

export type Action =
  /** Remembers that the claim may hold data. */
  | { kind: 'MarkClaim'; claim: PersistentVolumeClaim }
  /** Finds out why these pods do not start, and chooses one: what it answers is for the status to tell. */
  | { kind: 'Examine'; due: readonly Due[] }
  | { kind: 'DeletePod'; pod: Pod; staysForDecision: boolean }
  /** What becomes of the claims of a pod that has ended; then the pod may go. */
  | { kind: 'Decide'; pod: Pod; claims: readonly PersistentVolumeClaim[] }
  | { kind: 'Release'; pod: Pod }

/** How often a pod is looked at whose trouble is not known to be that of a volume. */
const examineAgainMs = 60_000

/** What is under way is finished before another pod has its turn. */
export function plan(seen: Observed): Step<Action> {
  const { settings, recovery } = seen
  if (settings.kind !== 'on') return { actions: [] }
  const marks = marksDue(seen)
  const { actions, ...rest } = recovery ? goOn(seen, recovery, settings.afterMs) : begin(seen, settings.afterMs)
  return { actions: [...marks, ...actions], ...rest }
}

/** Claims with which a pod, of this set or another one, has a ready sandbox or had one. */
function marksDue({ members }: Observed): Action[] {
  return members.flatMap(({ claims }) =>
    claims.flatMap(({ claim, isUsed, users }): Action[] => (!isUsed && users.some((pod) => sandboxHistory(pod) === 'ready') ? [{ kind: 'MarkClaim', claim }] : [])),
  )
}

function goOn(seen: Observed, recovery: Recovery, afterMs: number): Step<Action> {
  const stage = stageOf(seen, recovery, afterMs)
  switch (stage.kind) {
    case 'to be deleted':
      return { actions: [{ kind: 'DeletePod', pod: stage.member.pod, staysForDecision: hasClaims(recovery) }] }
    case 'ended': {
      const claims = stage.member.claims.map(({ claim }) => claim).filter(({ metadata }) => recovery.claims[metadata.name!] === metadata.uid)
      return { actions: [{ kind: 'Decide', pod: stage.member.pod, claims }] }
    }
    case 'recovered':
      return { actions: releases(seen) }
    case 'ending':
      return { actions: [], wait: `pod ${recovery.pod} is to end` }
    case 'replaced':
      return { actions: [], wait: `pod ${recovery.pod} is to be made anew and to become ready`, ...(stage.untilMs === undefined ? {} : { requeueAfterMs: stage.untilMs - seen.nowMs }) }
    case 'over':
      return { actions: [] }
  }
}

function begin(seen: Observed, afterMs: number): Step<Action> {
  const { set, members, nowMs } = seen
  const left = releases(seen)
  if (left.length > 0) return { actions: left }
  const going = members.find(({ pod }) => isPodTerminating(pod))
  if (going) return { actions: [], wait: `pod ${going.pod.metadata.name} is going` }
  const due: Due[] = []
  let nextMs = Number.POSITIVE_INFINITY
  for (const member of members) {
    const trouble = isWanted(set, member.ordinal) ? troubleOf(member.pod) : undefined
    if (!trouble) continue
    const atMs = dueAtMs(trouble, afterMs)
    if (atMs <= nowMs) due.push({ member, trouble })
    else nextMs = Math.min(nextMs, atMs - nowMs)
  }
  if (due.length > 0) nextMs = Math.min(nextMs, examineAgainMs)
  // Who has waited longest is first, so that one that fails again and again keeps nobody from their turn.
  due.sort((a, b) => dueAtMs(a.trouble, 0) - dueAtMs(b.trouble, 0))
  return { actions: due.length > 0 ? [{ kind: 'Examine', due }] : [], ...(nextMs === Number.POSITIVE_INFINITY ? {} : { requeueAfterMs: nextMs }) }
}

/** Pods that were kept for a decision that nobody wants any more. */
const releases = ({ members }: Observed): Action[] =>
  members.filter(({ pod }) => hasFinalizer(pod, podFinalizer)).map(({ pod }) => ({ kind: 'Release', pod }))
