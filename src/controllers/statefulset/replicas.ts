import { recoveryAnnotation } from '../../api/explain/index.ts'
import type { Pod } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { burst, isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { identityLabels, leavingClaim, missingClaims, newPod, ownClaims, podNameAt, startOrdinal } from './identity.ts'
import type { Member } from './member.ts'
import type { Derived } from './observe.ts'

/**
 * Creates a pod for every ordinal. In order, each ordinal waits for the lower ones. Claim ownership is corrected before
 * a pod is deleted that they may belong to.
 */
export function fillReplicas(seen: Derived): Step<Action> {
  return seen.isOrdered ? fillInOrder(seen) : fillAtOnce(seen)
}

function fillAtOnce(seen: Derived): Step<Action> {
  const { ordinals } = seen
  const mends: Action[] = []
  const deletes: Action[] = []
  const creates: Action[] = []
  for (const member of needyOf(seen)) {
    mends.push(...mendsOf(seen, member))
    deletes.push(...removeEnded(member))
  }
  if (ordinals.missing > 0) {
    for (const ordinal of ordinals.missingOrdinals()) {
      if (creates.length >= burst) break
      if (!leavingClaim(seen.set, seen.claimOf, ordinal)) creates.push(createAt(seen, ordinal))
    }
  }
  return { actions: [...mends, ...deletes, ...creates] }
}

/** Does nothing beyond the first replica that is not available. */
function fillInOrder(seen: Derived): Step<Action> {
  const { ordinals, set, claimOf } = seen
  const { firstMissing = Infinity } = ordinals
  const firstUnavailable = ordinals.unavailable.peek()
  const first = Math.min(firstMissing, firstUnavailable?.ordinal ?? Infinity)
  const actions = needyOf(seen).flatMap((member) => (member.ordinal <= first ? mendsOf(seen, member) : []))
  if (first === Infinity) return { actions }
  if (!firstUnavailable || first < firstUnavailable.ordinal) {
    const leaving = leavingClaim(set, claimOf, first)
    const name = podNameAt(set, first)
    if (leaving) return { actions, wait: `claim ${leaving} is to go before pod ${name} is made` }
    return { actions: [...actions, createAt(seen, first)], wait: `pod ${name} is being made` }
  }
  const { pod } = firstUnavailable
  const ended = removeEnded(firstUnavailable)
  const broken: Action[] =
    ended.length === 0 && isBrokenRollout(seen, firstUnavailable) ? [{ kind: 'DeletePod', pod, ifUnchanged: true }] : []
  return { actions: [...actions, ...ended, ...broken], wait: `pod ${pod.metadata.name} is not available yet` }
}

/** The replicas that need an action, the lowest first. */
const needyOf = ({ ordinals }: Derived): Member[] =>
  [...ordinals.needy.replica.values()].sort((a, b) => a.ordinal - b.ordinal)

const removeEnded = ({ pod, isFinished, isTerminating }: Member): Action[] =>
  isFinished && !isTerminating ? [{ kind: 'DeletePod', pod }] : []

/** A pod below the partition is created with the current revision, all others with the update revision. */
function createAt(seen: Derived, ordinal: number): Action {
  const { set, claimOf } = seen
  const { current, update } = seen.revisions
  const isKept = set.spec.updateStrategy.type === 'RollingUpdate' && ordinal < startOrdinal(set) + seen.partition
  const revision = isKept ? current : update
  return {
    kind: 'CreatePod',
    pod: newPod(set, revision.template, revision.name, ordinal),
    claims: missingClaims(set, claimOf, ordinal),
  }
}

/** Adds to a pod what it lacks: the owners of its claims, claims that it waits for, and the label with its name. */
function mendsOf(
  { set, claimOf }: Derived,
  { pod, ordinal, isFinished, isTerminating, isPending, isNamed }: Member,
): Action[] {
  const actions = ownClaims({ set, claimOf }, { pod, ordinal }, false)
  if (isFinished || isTerminating) return actions
  const claims = isPending ? missingClaims(set, claimOf, ordinal) : []
  if (claims.length > 0) actions.push({ kind: 'CreateClaims', pod, claims })
  if (!isNamed) actions.push({ kind: 'LabelPod', pod, labels: identityLabels(pod.metadata.name!, ordinal) })
  return actions
}

/**
 * Deletes pods beyond the replicas, from the highest ordinal. In order, each is deleted when all others are available
 * and the one before it is gone.
 */
export function removeCondemned({ ordinals, isOrdered, set, claimOf }: Derived): Step<Action> {
  const actions: Action[] = fromHighest(ordinals.needy.condemned).flatMap((member) =>
    ownClaims({ set, claimOf }, member, true),
  )
  if (!isOrdered) {
    for (const { pod } of fromHighest(ordinals.condemnedStaying)) actions.push({ kind: 'DeletePod', pod })
    return { actions }
  }
  const highest = ordinals.condemned.peek()
  if (!highest) return { actions }
  const name = highest.pod.metadata.name
  if (highest.isTerminating) return { actions, wait: `pod ${name} is going` }
  // All replicas are available, otherwise this stage would not run. The lowest unavailable pod may be deleted itself,
  // otherwise the set would be stuck. A finished pod is not waited for, because it never becomes available.
  const firstUnavailable = ordinals.condemnedUnavailable.peek()
  if (highest.isUnavailable && !highest.isFinished && highest !== firstUnavailable) {
    return { actions, wait: `pod ${name} goes when pod ${firstUnavailable!.pod.metadata.name} is available` }
  }
  actions.push({ kind: 'DeletePod', pod: highest.pod })
  return { actions, wait: `pod ${name} is going` }
}

const fromHighest = (members: ReadonlyMap<number, Member>): Member[] =>
  [...members.values()].sort((a, b) => b.ordinal - a.ordinal)

const brokenReasons = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'CreateContainerConfigError',
  'CreateContainerError',
])

/** True for an outdated pod that does not work, if the set asks for its immediate replacement. */
function isBrokenRollout(
  { set, revisions, partition }: Derived,
  { pod, ordinal, revision, isTerminating }: Member,
): boolean {
  if (set.metadata.annotations?.[recoveryAnnotation] !== 'true' || set.spec.updateStrategy.type === 'OnDelete') {
    return false
  }
  if (ordinal < startOrdinal(set) + partition || revision === revisions.update.name) return false
  return !isTerminating && !isPodReady(pod) && (hasBrokenContainer(pod) || wasNeverReady(pod))
}

const hasBrokenContainer = ({ status }: Pod): boolean =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(({ state }) =>
    brokenReasons.has(state?.waiting?.reason ?? ''),
  )

/** A pod that was ready before lost its readiness after its initialization. */
function wasNeverReady({ status }: Pod): boolean {
  const timeOf = (type: string) => millisecondsOf(status?.conditions?.find((c) => c.type === type)?.lastTransitionTime)
  const lostAtMs = timeOf('Ready')
  return (
    Number.isNaN(lostAtMs) || lostAtMs <= Math.max(timeOf('Initialized') || 0, millisecondsOf(status?.startTime) || 0)
  )
}
