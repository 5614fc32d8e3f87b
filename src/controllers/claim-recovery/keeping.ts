import type { Node, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimUsed, isMarkingNode, neverUsed, newClaimsOf } from '../../api/kinds/claim-recovery.ts'
import { controllerOf, pods, refersTo, statefulsets } from '../../client/index.ts'
import { type Storage, whyNotItsOwn } from './provenance.ts'
import { sandboxHistory } from './sandbox.ts'

/** All that is known of a claim when it is decided whether it may be deleted. */
export interface Case {
  /** The pod that cannot start with it. */
  pod: Pod
  claim: PersistentVolumeClaim
  /** The other pods that name it. */
  others: readonly Pod[]
  storage: Storage
  nodes: readonly Node[]
  /** True if the set allows volumes to be left behind that have the policy Retain. */
  allowsRetained: boolean
}

/**
 * Why a claim must not be deleted; undefined if it may. Each rule needs a proof, and what is not known counts as a
 * reason to keep the claim. The proofs are: no node has marked it, all nodes would have, it was made together with the
 * pod, that pod never had a sandbox, and its volume was provisioned for it and for nothing else.
 */
export function whyKept({ pod, claim, others, storage, nodes, allowsRetained }: Case): string | undefined {
  return (
    whyUsed(claim) ??
    whyOwned(claim) ??
    whyOlder(pod, claim) ??
    whyStarted(pod) ??
    whyShared(others) ??
    whyUnmarked(pod, nodes) ??
    whyNotItsOwn(claim, storage, allowsRetained)
  )
}

function whyUsed({ metadata: { annotations } }: PersistentVolumeClaim): string | undefined {
  const used = annotations?.[claimUsed]
  if (used === undefined) return `nobody vouches that it was never used: it has no annotation ${claimUsed}`
  return used === neverUsed ? undefined : `it was used since ${used}`
}

function whyOwned(claim: PersistentVolumeClaim): string | undefined {
  const owner = controllerOf(claim)
  return owner && !refersTo(owner, statefulsets) && !refersTo(owner, pods) ? `it belongs to ${owner.kind} ${owner.name}` : undefined
}

const whyOlder = (pod: Pod, { metadata: { uid = '' } }: PersistentVolumeClaim): string | undefined =>
  newClaimsOf(pod).includes(uid) ? undefined : `it was not made together with pod ${pod.metadata.name}, and an earlier one may have used it`

function whyStarted(pod: Pod): string | undefined {
  const history = sandboxHistory(pod)
  if (history === 'ready') return `pod ${pod.metadata.name} has had a ready sandbox with it`
  return history === 'unknown' ? `it is not known whether pod ${pod.metadata.name} ever had a ready sandbox` : undefined
}

const whyShared = ([other]: readonly Pod[]): string | undefined => other && `it is used by pod ${other.metadata.name}, too`

/** On a node that does not mark claims, any pod may have used this one and be gone. */
function whyUnmarked({ spec }: Pod, nodes: readonly Node[]): string | undefined {
  if (spec?.nodeName && !nodes.some(({ metadata }) => metadata.name === spec.nodeName)) return `node ${spec.nodeName} is gone`
  const silent = nodes.find((node) => !isMarkingNode(node))
  return silent && `node ${silent.metadata.name} does not mark claims, and a pod may have used it there`
}
