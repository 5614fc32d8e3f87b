import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import type { New } from '../../client/index.ts'
import { claimNameAt, newClaims, podNameAt } from './identity.ts'
import type { ClaimOf } from './member.ts'
import type { Action } from './plan.ts'
import { isLeaving, ownersDue } from './retention.ts'

/** Makes a pod's claims belong to whom the retention policy says. */
export function ownClaims(set: StatefulSet, claimOf: ClaimOf, pod: Pod, ordinal: number, isCondemned: boolean): Action[] {
  const actions: Action[] = []
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = claimOf(claimNameAt(set, template, ordinal))
    const owners = claim && ownersDue(set, pod, isCondemned, claim)
    if (owners) actions.push({ kind: 'OwnClaim', claim, owners })
  }
  return actions
}

/** The claims that the pod with this ordinal lacks. */
export const missingClaims = (set: StatefulSet, claimOf: ClaimOf, ordinal: number): New<PersistentVolumeClaim>[] =>
  newClaims(set, ordinal).filter(({ metadata }) => !claimOf(metadata.name!))

/** The claim that has to be gone before the pod with this ordinal is made. */
export function leavingClaim(set: StatefulSet, claimOf: ClaimOf, ordinal: number): string | undefined {
  const names = (set.spec.volumeClaimTemplates ?? []).map((template) => claimNameAt(set, template, ordinal))
  return names.find((name) => {
    const claim = claimOf(name)
    return claim && isLeaving(set, podNameAt(set, ordinal), claim)
  })
}
