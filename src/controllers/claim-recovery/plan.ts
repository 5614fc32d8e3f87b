import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { isPodTerminating } from '../kit/workload/index.ts'
import { type Choice, choose } from './choose.ts'
import { type DuePods, duePods } from './due.ts'
import type { Observed } from './observe.ts'
import { type Recovery, hasClaims } from './recovery.ts'
import { sandboxHistory } from './sandbox.ts'
import type { Terms } from './settings.ts'
import { podFinalizer, stageOf } from './stage.ts'

export type Action =
  /** Remembers that the claim may hold data. */
  | { kind: 'MarkClaim'; claim: PersistentVolumeClaim }
  | { kind: 'DeletePod'; pod: Pod; staysForDecision: boolean }
  /** What becomes of the claims of a pod that has ended; then the pod may go. */
  | { kind: 'Decide'; pod: Pod; claims: readonly PersistentVolumeClaim[] }
  | { kind: 'Release'; pod: Pod }

/** How often a pod is looked at that has had its time: nobody tells when its claim is lost, or its node is back. */
const lookAgainMs = 60_000

/** What is under way is finished before another pod has its turn. */
export function plan(seen: Observed): Step<Action> {
  const { settings, recovery } = seen
  if (settings.kind !== 'on' && settings.kind !== 'observe') return { actions: [] }
  const marks = marksDue(seen)
  // A set that only observes never deletes anything: what was under way is not gone on with.
  if (settings.kind === 'observe') return { actions: marks, ...lookAgain(duePods(seen, settings.afterMs)) }
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
  const left = releases(seen)
  if (left.length > 0) return { actions: left }
  const going = seen.members.find(({ pod }) => isPodTerminating(pod))
  if (going) return { actions: [], wait: `pod ${going.pod.metadata.name} is going` }
  return { actions: [], ...lookAgain(duePods(seen, afterMs)) }
}

function lookAgain({ due, nextMs }: DuePods): Pick<Step<Action>, 'requeueAfterMs'> {
  const againMs = due.length > 0 ? Math.min(nextMs ?? lookAgainMs, lookAgainMs) : nextMs
  return againMs === undefined ? {} : { requeueAfterMs: againMs }
}

/** The outlook of a set of which nothing is under way. */
export type Outlook =
  | Choice
  /** A pod would have its turn, and the set has had too many already. */
  | { kind: 'exhausted'; pod: string; why: string; tries: number; limit: number }
  /** A pod that was made anew before has to wait longer. */
  | { kind: 'held back'; pod: string; tries: number; untilMs: number }

/** The recovery to begin: the status tells it before anything is done. None while one is under way, or the set goes. */
export function outlookOf(seen: Observed, { afterMs, limit, allowsRetained }: Terms): Outlook | undefined {
  const { set, members, storage, nodes } = seen
  if (set.metadata.deletionTimestamp) return undefined
  if (members.some(({ pod }) => isPodTerminating(pod) || hasFinalizer(pod, podFinalizer))) return undefined
  const { due, heldBack, tries } = duePods(seen, afterMs)
  const choice = choose(due, { storage, nodes, allowsRetained })
  if (choice?.kind === 'recreate' && tries >= limit) return { kind: 'exhausted', pod: choice.recovery.pod, why: choice.why, tries, limit }
  const [held] = heldBack
  return choice ?? (held && { kind: 'held back', pod: held.member.pod.metadata.name!, tries: held.tries, untilMs: held.untilMs })
}

/** Pods that were kept for a decision that nobody wants any more. */
const releases = ({ members }: Observed): Action[] =>
  members.filter(({ pod }) => hasFinalizer(pod, podFinalizer)).map(({ pod }) => ({ kind: 'Release', pod }))
