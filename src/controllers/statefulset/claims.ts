import type { Pod } from '../../api/generated/types.ts'
import { claimNameAt } from './identity.ts'
import type { Look } from './look.ts'
import type { Action } from './plan.ts'
import { ownersDue } from './retention.ts'

/** Makes a pod's claims belong to whom the retention policy says. */
export function ownClaims({ seen: { set, claims } }: Look, pod: Pod, ordinal: number, isCondemned: boolean): Action[] {
  const actions: Action[] = []
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = claims.get(claimNameAt(set, template, ordinal))
    const owners = claim && ownersDue(set, pod, isCondemned, claim)
    if (owners) actions.push({ kind: 'OwnClaim', claim, owners })
  }
  return actions
}
