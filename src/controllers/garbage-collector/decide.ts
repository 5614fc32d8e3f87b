import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { type PropagationPolicy, hasFinalizer } from '../../client/index.ts'
import { foregroundFinalizer, orphanFinalizer } from './phase.ts'

/** What is known for sure of an owner: it is there to stay, it is gone for ever, or it is there and waits for its dependents to go first. */
export type OwnerState = 'solid' | 'gone' | 'waiting'

export interface JudgedOwner {
  ref: OwnerReference
  state: OwnerState
}

/** `Disown` keeps the object, for the owners that are left. */
export type Decision = { kind: 'Keep' } | { kind: 'Disown'; refs: readonly OwnerReference[] } | { kind: 'Delete'; policy: PropagationPolicy }

/** What becomes of an object that is not being deleted. One solid owner keeps it; without any owner it is nobody's to collect. */
export function decide(object: KubeObject, owners: readonly JudgedOwner[], hasDependents: boolean): Decision {
  if (owners.length === 0) return { kind: 'Keep' }
  const lost = owners.filter((o) => o.state !== 'solid')
  if (lost.length === 0) return { kind: 'Keep' }
  // An owner that waits must not wait for what others keep.
  if (lost.length < owners.length) return { kind: 'Disown', refs: lost.map((o) => o.ref) }
  if (hasDependents && owners.some((o) => o.state === 'waiting')) return { kind: 'Delete', policy: 'Foreground' }
  return { kind: 'Delete', policy: policyOf(object) }
}

/** What an object says itself about its dependents is honoured. */
function policyOf(object: KubeObject): PropagationPolicy {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan'
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
}
