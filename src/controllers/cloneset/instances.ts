import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { isConditionTrue, isPodTerminating } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { instanceIdLabel, podPrefix } from './identity.ts'
import type { Observed } from './observe.ts'

/** The claims of a set by instance ID. */
export interface Instances {
  claimsOf(id: string): readonly PersistentVolumeClaim[]
  /** IDs with claims and without a pod. The next pods get them. */
  free: readonly string[]
  /** IDs whose pods are being deleted by another user. The next pods wait for their claims. */
  held: readonly string[]
  /** The actions that delete claims which are not reused. */
  actions: readonly Action[]
}

/** The ID of the pod that a claim is for. Empty if the label is missing. */
const idOfClaim = ({ metadata }: PersistentVolumeClaim): string => metadata.labels?.[instanceIdLabel] ?? ''

const none: Instances = { claimsOf: () => [], free: [], held: [], actions: [] }

/**
 * Determines which claims are in use, and what happens to the others. It reads all claims, and therefore only when a
 * member is accessed. With disablePVCReuse that is in every step.
 */
export function instancesOf(seen: Observed): Instances {
  let read: Instances | undefined
  const instances = (): Instances => (read ??= readInstances(seen))
  return {
    claimsOf: (id) => instances().claimsOf(id),
    get free() {
      return instances().free
    },
    get held() {
      return instances().held
    },
    get actions() {
      return seen.set.spec.scaleStrategy?.disablePVCReuse ? instances().actions : []
    },
  }
}

function readInstances({ set, members, strangerOf, ...seen }: Observed): Instances {
  const claims = seen.claims()
  if (claims.length === 0) return none
  const byId = new Map<string, PersistentVolumeClaim[]>()
  for (const claim of claims) {
    const id = idOfClaim(claim)
    const others = byId.get(id)
    if (others) others.push(claim)
    else byId.set(id, [claim])
  }
  const claimsOf = (id: string) => byId.get(id) ?? []
  const leaving = (id: string): Pod | undefined => strangerOf(podPrefix(set) + id)
  const idle = [...byId.keys()].filter((id) => id !== '' && !members.ofId.has(id))
  if (set.spec.scaleStrategy?.disablePVCReuse) {
    // The claims were created for a rejected pod. If they were deleted, each attempt would create new ones, and their
    // deletion would trigger the next attempt at once.
    const isAwaiting = isConditionTrue(set.status.conditions, 'ReplicaFailure')
    const isUnused = (id: string) =>
      isAwaiting && !leaving(id) && claimsOf(id).every(({ status }) => status?.phase !== 'Bound')
    const used = idle.filter((id) => !isUnused(id))
    return {
      ...none,
      claimsOf,
      free: idle.filter(isUnused).sort(),
      actions: used.flatMap((id) => claimsOf(id).map((claim) => parting(claim, leaving(id)))),
    }
  }
  return {
    claimsOf,
    free: idle.filter((id) => !leaving(id)).sort(),
    // A finished pod may stay for an unknown time, so another pod with its own claims is created.
    held: idle.filter((id) => leaving(id) && isPodTerminating(leaving(id)!)),
    actions: [],
  }
}

const parting = (claim: PersistentVolumeClaim, pod: Pod | undefined): Action =>
  pod ? { kind: 'LeaveClaim', claim, pod } : { kind: 'DeleteClaim', claim }
