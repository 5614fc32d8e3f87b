import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { isPodReady, isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'
import { ordinalOf } from '../statefulset/identity.ts'
import { whyKept } from './keeping.ts'
import { type Member, type Observed, isWanted } from './observe.ts'
import { type Recovery, type Terms, hasClaims } from './settings.ts'
import { type Due, type DuePods, duePods, endOf, sandboxHistory, troubleOf, volumeTroubles } from './trouble.ts'

/** The finalizer of a pod that is deleted together with claims. It is kept until the final report about its sandbox. */
export const podFinalizer = 'coxswain.dev/claim-recovery'

/** The progress of a recovery. */
export type Stage =
  | { kind: 'to be deleted'; member: Member }
  /** The pod no longer needs the recovery. */
  | { kind: 'recovered'; member: Member }
  | { kind: 'ending'; member: Member }
  /** The pod has finished, and its claims are to be decided about. */
  | { kind: 'ended'; member: Member }
  /** The ordinal waits for a ready pod, up to a time if there is one. */
  | { kind: 'replaced'; untilMs: number | undefined }
  | { kind: 'over' }

export function stageOf(seen: Observed, recovery: Recovery, afterMs: number): Stage {
  const member = seen.members.find(({ pod }) => pod.metadata.uid === recovery.uid)
  if (!member) return replacement(seen, recovery, afterMs)
  const { pod } = member
  if (!isPodTerminating(pod)) return { kind: isStillSo(member, recovery) ? 'to be deleted' : 'recovered', member }
  return { kind: hasFinalizer(pod, podFinalizer) && endOf(pod) !== 'not yet' ? 'ended' : 'ending', member }
}

function isStillSo({ pod }: Member, recovery: Recovery): boolean {
  const trouble = troubleOf(pod)
  if (trouble?.since !== recovery.since) return false
  return hasClaims(recovery)
    ? trouble.what === 'sandbox' && sandboxHistory(pod) === 'never'
    : trouble.what === 'readiness'
}

/** The next pod has the same time to become ready. After that, other pods are handled. */
function replacement(seen: Observed, recovery: Recovery, afterMs: number): Stage {
  const { set, members, nowMs } = seen
  const ordinal = ordinalOf(set, recovery.pod)
  if (ordinal === undefined || !isWanted(set, ordinal)) return { kind: 'over' }
  const next = members.find((m) => m.ordinal === ordinal)?.pod
  // With ordered pods, no pod is created before the lower ones are ready, so those must not wait for this recovery.
  if (!next) return isHeldUp(seen, ordinal) ? { kind: 'over' } : { kind: 'replaced', untilMs: undefined }
  if (isPodTerminating(next)) return { kind: 'replaced', untilMs: undefined }
  const untilMs = millisecondsOf(next.metadata.creationTimestamp) + afterMs
  return isPodReady(next) || untilMs <= nowMs ? { kind: 'over' } : { kind: 'replaced', untilMs }
}

const isHeldUp = ({ set, members }: Observed, ordinal: number): boolean =>
  set.spec.podManagementPolicy !== 'Parallel' &&
  members.some((m) => m.ordinal < ordinal && isWanted(set, m.ordinal) && !isPodReady(m.pod))

export type Choice =
  | { kind: 'recreate'; recovery: Recovery; why: string; tries: number }
  /** The claim is the cause and must be kept. */
  | { kind: 'keep'; pod: string; claim: string; why: string; cause: string }

/** The environment of a claim. */
export type Around = Pick<Observed, 'storage' | 'nodes'> & { allowsRetained: boolean }

/** The first pod that can be recovered, else the first whose claim is the cause and must be kept. */
export function choose(due: readonly Due[], around: Around): Choice | undefined {
  let kept: Choice | undefined
  for (const one of due) {
    const choice = one.trouble.what === 'readiness' ? podAlone(one) : withClaims(one, around)
    if (choice?.kind === 'recreate') return choice
    kept ??= choice
  }
  return kept
}

const recoveryOf = ({ member: { pod }, trouble: { since } }: Due, claims: Recovery['claims']): Recovery => ({
  pod: pod.metadata.name!,
  uid: pod.metadata.uid!,
  since,
  claims,
})

const podAlone = (due: Due): Choice => ({
  kind: 'recreate',
  recovery: recoveryOf(due, {}),
  why: `it has a sandbox since ${due.trouble.since} and has not become ready`,
  tries: due.tries,
})

function withClaims(due: Due, { storage, nodes, allowsRetained }: Around): Choice | undefined {
  const { pod } = due.member
  const causes = volumeTroubles(due.member)
  for (const { claim, users, cause } of causes) {
    // The pod needs all of its claims. If one must be kept, deleting the others does not help.
    const others = users.filter((user) => user.metadata.uid !== pod.metadata.uid)
    const why = whyKept({ pod, claim, others, storage: storage(), nodes: nodes(), allowsRetained })
    if (why !== undefined) return { kind: 'keep', pod: pod.metadata.name!, claim: claim.metadata.name!, why, cause }
  }
  const [first] = causes
  if (!first) return undefined
  const uids = Object.fromEntries(causes.map(({ claim: { metadata } }) => [metadata.name!, metadata.uid!]))
  return {
    kind: 'recreate',
    recovery: recoveryOf(due, uids),
    why: `it has had no sandbox since ${due.trouble.since}: ${first.cause}`,
    tries: due.tries,
  }
}

export type Action =
  /** Records that the claim may contain data. */
  | { kind: 'MarkClaim'; claim: PersistentVolumeClaim }
  | { kind: 'DeletePod'; pod: Pod; staysForDecision: boolean }
  /** Decides about the claims of a finished pod, then releases it. */
  | { kind: 'Decide'; pod: Pod; claims: readonly PersistentVolumeClaim[] }
  | { kind: 'Release'; pod: Pod }

/** The interval of checks for a pod that is due. A lost claim, or a recovered node, causes no event. */
const lookAgainMs = 60_000

/** A recovery in progress is finished before another pod is handled. */
export function plan(seen: Observed): Step<Action> {
  const { settings, recovery } = seen
  if (settings.kind !== 'on' && settings.kind !== 'observe') return { actions: [] }
  const marks = marksDue(seen)
  // In observe mode nothing is deleted, and a recovery in progress is not continued.
  if (settings.kind === 'observe') return { actions: marks, ...lookAgain(duePods(seen, settings.afterMs)) }
  const { actions, ...rest } = recovery ? goOn(seen, recovery, settings.afterMs) : begin(seen, settings.afterMs)
  return { actions: [...marks, ...actions], ...rest }
}

/** Claims with which a pod of any set has, or had, a ready sandbox. */
function marksDue({ members }: Observed): Action[] {
  return members.flatMap(({ claims }) =>
    claims.flatMap(({ claim, isUsed, users }): Action[] =>
      !isUsed && users.some((pod) => sandboxHistory(pod) === 'ready') ? [{ kind: 'MarkClaim', claim }] : [],
    ),
  )
}

function goOn(seen: Observed, recovery: Recovery, afterMs: number): Step<Action> {
  const stage = stageOf(seen, recovery, afterMs)
  switch (stage.kind) {
    case 'to be deleted':
      return { actions: [{ kind: 'DeletePod', pod: stage.member.pod, staysForDecision: hasClaims(recovery) }] }
    case 'ended': {
      const claims = stage.member.claims
        .map(({ claim }) => claim)
        .filter(({ metadata }) => recovery.claims[metadata.name!] === metadata.uid)
      return { actions: [{ kind: 'Decide', pod: stage.member.pod, claims }] }
    }
    case 'recovered':
      return { actions: releases(seen) }
    case 'ending':
      return { actions: [], wait: `pod ${recovery.pod} is to end` }
    case 'replaced':
      return {
        actions: [],
        wait: `pod ${recovery.pod} is to be made anew and to become ready`,
        ...(stage.untilMs === undefined ? {} : { requeueAfterMs: stage.untilMs - seen.nowMs }),
      }
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

/** The next recovery of a set without one in progress. */
export type Outlook =
  | Choice
  /** A pod is due, but the set has reached its limit. */
  | { kind: 'exhausted'; pod: string; why: string; tries: number; limit: number }
  /** A pod that was recreated before has to wait longer. */
  | { kind: 'held back'; pod: string; tries: number; untilMs: number }

/**
 * The recovery to begin, which the status records before any action. None while one is in progress, or the set is being
 * deleted.
 */
export function outlookOf(seen: Observed, { afterMs, limit, allowsRetained }: Terms): Outlook | undefined {
  const { set, members, storage, nodes } = seen
  if (set.metadata.deletionTimestamp) return undefined
  if (members.some(({ pod }) => isPodTerminating(pod) || hasFinalizer(pod, podFinalizer))) return undefined
  const { due, heldBack, tries } = duePods(seen, afterMs)
  const choice = choose(due, { storage, nodes, allowsRetained })
  if (choice?.kind === 'recreate' && tries >= limit) {
    return { kind: 'exhausted', pod: choice.recovery.pod, why: choice.why, tries, limit }
  }
  const [held] = heldBack
  return (
    choice ??
    (held && { kind: 'held back', pod: held.member.pod.metadata.name!, tries: held.tries, untilMs: held.untilMs })
  )
}

/** Pods that were kept for a decision that is no longer needed. */
const releases = ({ members }: Observed): Action[] =>
  members.filter(({ pod }) => hasFinalizer(pod, podFinalizer)).map(({ pod }) => ({ kind: 'Release', pod }))
