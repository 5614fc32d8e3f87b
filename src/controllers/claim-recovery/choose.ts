import type { CoreV1Event } from '../../api/generated/types.ts'
import { volumeTroubles } from './cause.ts'
import type { Trouble } from './due.ts'
import { whyKept } from './keeping.ts'
import type { Member } from './observe.ts'
import type { Recovery } from './recovery.ts'

/** A pod that has been in trouble for too long. */
export interface Due {
  member: Member
  trouble: Trouble
}

export type Choice =
  | { kind: 'recreate'; recovery: Recovery; why: string }
  /** Its claim is the cause, and must not go. */
  | { kind: 'keep'; pod: string; claim: string; why: string; cause: string }

/** The first pod for which something can be done; if there is none, the first whose claim is in its way and must stay. `events` are those about pods. */
export function choose(due: readonly Due[], events: readonly CoreV1Event[], nowMs: number): Choice | undefined {
  let kept: Choice | undefined
  for (const one of due) {
    const choice = one.trouble.what === 'readiness' ? podAlone(one) : withClaims(one, events, nowMs)
    if (choice?.kind === 'recreate') return choice
    kept ??= choice
  }
  return kept
}

const recoveryOf = ({ member: { pod }, trouble: { since } }: Due, claims: Recovery['claims']): Recovery => ({ pod: pod.metadata.name!, uid: pod.metadata.uid!, since, claims })

const podAlone = (due: Due): Choice => ({ kind: 'recreate', recovery: recoveryOf(due, {}), why: `it has a sandbox since ${due.trouble.since} and has not become ready` })

function withClaims(due: Due, events: readonly CoreV1Event[], nowMs: number): Choice | undefined {
  const { pod, claims } = due.member
  const about = events.filter(({ involvedObject }) => involvedObject.uid === pod.metadata.uid)
  const causes = volumeTroubles(claims, about, nowMs)
  for (const { claim, users, cause } of causes) {
    // Without all of them the pod could not start, and the others would go for nothing.
    const why = whyKept(pod, claim, users.filter((user) => user.metadata.uid !== pod.metadata.uid))
    if (why !== undefined) return { kind: 'keep', pod: pod.metadata.name!, claim: claim.metadata.name!, why, cause }
  }
  const [first] = causes
  if (!first) return undefined
  const uids = Object.fromEntries(causes.map(({ claim: { metadata } }) => [metadata.name!, metadata.uid!]))
  return { kind: 'recreate', recovery: recoveryOf(due, uids), why: `it has had no sandbox since ${due.trouble.since}: ${first.cause}` }
}
