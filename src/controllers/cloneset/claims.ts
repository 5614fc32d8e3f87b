import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { isConditionTrue, isPodTerminating } from '../kit/workload/index.ts'
import type { Action } from './actions.ts'
import { idOfClaim, podPrefix } from './identity.ts'
import type { Observed } from './observe.ts'

/** Claims of a set by whose they are. */
export interface Instances {
  claimsOf(id: string): readonly PersistentVolumeClaim[]
  /** Ids that have claims and no pod: the next pods get them. */
  free: readonly string[]
  /** Ids whose pods are on their way out, by somebody else's hand. Their claims are waited for. */
  held: readonly string[]
  /** What there is to do so that claims that nobody is to use again go. */
  actions: readonly Action[]
}

const none: Instances = { claimsOf: () => [], free: [], held: [], actions: [] }

/**
 * Tells which claims are in use, and what becomes of the others. All claims are read for it, so that is done when
 * something is asked; where claims are not used again, that is in every step.
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
    // Claims were made for a pod that was refused. Without them each attempt would make others, whose end would cause the next attempt at once.
    const isAwaiting = isConditionTrue(set.status.conditions, 'ReplicaFailure')
    const isUnused = (id: string) => isAwaiting && !leaving(id) && claimsOf(id).every(({ status }) => status?.phase !== 'Bound')
    const used = idle.filter((id) => !isUnused(id))
    return { ...none, claimsOf, free: idle.filter(isUnused).sort(), actions: used.flatMap((id) => claimsOf(id).map((claim) => parting(claim, leaving(id)))) }
  }
  return {
    claimsOf,
    free: idle.filter((id) => !leaving(id)).sort(),
    // One that has ended stays for who knows how long: another pod comes with claims of its own.
    held: idle.filter((id) => leaving(id) && isPodTerminating(leaving(id)!)),
    actions: [],
  }
}

const parting = (claim: PersistentVolumeClaim, pod: Pod | undefined): Action => (pod ? { kind: 'LeaveClaim', claim, pod } : { kind: 'DeleteClaim', claim })
