import { hasFinalizer } from '../../client/index.ts'
import { isPodReady, isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'
import { ordinalOf } from '../statefulset/index.ts'
import { troubleOf } from './due.ts'
import { type Member, type Observed, isWanted } from './observe.ts'
import { type Recovery, hasClaims } from './recovery.ts'
import { endOf, sandboxHistory } from './sandbox.ts'

/** On a pod that goes together with claims: it stays until its last word about its sandbox was heard. */
export const podFinalizer = 'coxswain.dev/claim-recovery'

/** How far a recovery is. */
export type Stage =
  | { kind: 'to be deleted'; member: Member }
  /** It does not need it any more. */
  | { kind: 'recovered'; member: Member }
  | { kind: 'ending'; member: Member }
  /** It has ended, and what becomes of its claims is to be decided. */
  | { kind: 'ended'; member: Member }
  /** Its place waits for a pod that becomes ready, until a time if there is one. */
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
  return hasClaims(recovery) ? trouble.what === 'sandbox' && sandboxHistory(pod) === 'never' : trouble.what === 'readiness'
}

/** The next pod has as long as the one before to become ready. Then others have their turn. */
function replacement(seen: Observed, recovery: Recovery, afterMs: number): Stage {
  const { set, members, nowMs } = seen
  const ordinal = ordinalOf(set, recovery.pod)
  if (ordinal === undefined || !isWanted(set, ordinal)) return { kind: 'over' }
  const next = members.find((m) => m.ordinal === ordinal)?.pod
  // In order, nobody makes it before those that come first are ready: they must not wait for it in turn.
  if (!next) return isHeldUp(seen, ordinal) ? { kind: 'over' } : { kind: 'replaced', untilMs: undefined }
  if (isPodTerminating(next)) return { kind: 'replaced', untilMs: undefined }
  const untilMs = millisecondsOf(next.metadata.creationTimestamp) + afterMs
  return isPodReady(next) || untilMs <= nowMs ? { kind: 'over' } : { kind: 'replaced', untilMs }
}

const isHeldUp = ({ set, members }: Observed, ordinal: number): boolean =>
  set.spec.podManagementPolicy !== 'Parallel' && members.some((m) => m.ordinal < ordinal && isWanted(set, m.ordinal) && !isPodReady(m.pod))
