import { leavingClaim, missingClaims, ownClaims } from './claims.ts'
import { identityLabels, newPod, podNameAt, startOrdinal } from './identity.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'
import { isBrokenRollout } from './recovery.ts'

/** How many pods one plan makes at most. */
const burst = 500

/**
 * Gives every place its pod. In order, each place waits for the ones before it. Claims are looked after before a pod goes
 * that they may belong to.
 */
export function fillReplicas(look: Look): Stage {
  return look.isOrdered ? fillInOrder(look) : fillAtOnce(look)
}

function fillAtOnce(look: Look): Stage {
  const { places } = look
  const mends: Action[] = []
  const deletes: Action[] = []
  const creates: Action[] = []
  for (const member of needyOf(look)) {
    mends.push(...mendsOf(look, member))
    deletes.push(...removeEnded(member))
  }
  if (places.missing > 0) {
    for (const ordinal of places.missingOrdinals()) {
      if (creates.length >= burst) break
      if (!leavingClaim(look.seen.set, look.seen.claimOf, ordinal)) creates.push(createAt(look, ordinal))
    }
  }
  return { actions: [...mends, ...deletes, ...creates] }
}

/** Nothing is done beyond the first replica that is not available. */
function fillInOrder(look: Look): Stage {
  const { places, seen: { set, claimOf } } = look
  const { firstMissing = Infinity } = places
  const firstUnavailable = places.unavailable.peek()
  const first = Math.min(firstMissing, firstUnavailable?.ordinal ?? Infinity)
  const actions = needyOf(look).flatMap((member) => (member.ordinal <= first ? mendsOf(look, member) : []))
  if (first === Infinity) return { actions }
  if (!firstUnavailable || first < firstUnavailable.ordinal) {
    const leaving = leavingClaim(set, claimOf, first)
    const name = podNameAt(set, first)
    if (leaving) return { actions, wait: `claim ${leaving} is to go before pod ${name} is made` }
    return { actions: [...actions, createAt(look, first)], wait: `pod ${name} is being made` }
  }
  const { pod } = firstUnavailable
  const ended = removeEnded(firstUnavailable)
  const broken: Action[] = ended.length === 0 && isBrokenRollout(look, firstUnavailable) ? [{ kind: 'DeletePod', pod, ifUnchanged: true }] : []
  return { actions: [...actions, ...ended, ...broken], wait: `pod ${pod.metadata.name} is not available yet` }
}

/** Replicas for which there is something to do, the lowest first. */
const needyOf = ({ places }: Look): Member[] => [...places.needy.replica.values()].sort((a, b) => a.ordinal - b.ordinal)

const removeEnded = ({ pod, isFinished, isTerminating }: Member): Action[] => (isFinished && !isTerminating ? [{ kind: 'DeletePod', pod }] : [])

/** A pod below the partition comes back as it was; all others are of the new revision. */
function createAt(look: Look, ordinal: number): Action {
  const { set, claimOf } = look.seen
  const { current, update } = look.revisions
  const isKept = set.spec.updateStrategy.type === 'RollingUpdate' && ordinal < startOrdinal(set) + look.partition
  const revision = isKept ? current : update
  return { kind: 'CreatePod', pod: newPod(set, revision.template, revision.name, ordinal), claims: missingClaims(set, claimOf, ordinal) }
}

/** Gives a pod what it lacks: the owners its claims should have; claims, while it waits for them; its name as a label. */
function mendsOf({ seen: { set, claimOf } }: Look, { pod, ordinal, isFinished, isTerminating, isPending, isNamed }: Member): Action[] {
  const actions = ownClaims(set, claimOf, pod, ordinal, false)
  if (isFinished || isTerminating) return actions
  const claims = isPending ? missingClaims(set, claimOf, ordinal) : []
  if (claims.length > 0) actions.push({ kind: 'CreateClaims', pod, claims })
  if (!isNamed) actions.push({ kind: 'LabelPod', pod, labels: identityLabels(pod.metadata.name!, ordinal) })
  return actions
}
