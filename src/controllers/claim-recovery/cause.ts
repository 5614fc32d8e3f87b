import type { PersistentVolumeClaim } from '../../api/generated/types.ts'
import { blamesClaim, sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'
import type { Member, MemberClaim } from './observe.ts'

/**
 * The claims of a pod that keep its sandbox from getting ready, and how that is known. A claim without a volume says so
 * itself. Otherwise the node must say it in the pod's condition, which names one volume. Where a config map is missing,
 * or there is no network, the condition has another reason. What a lost node has said may be over.
 */
export function volumeTroubles({ pod, claims, isNodeLost }: Member): (MemberClaim & { cause: string })[] {
  const condition = isNodeLost ? undefined : sandboxConditionOf(pod)
  return claims.flatMap((one) => {
    const told = blamesClaim(condition, one.volume) ? `${condition?.reason}: ${condition?.message}` : undefined
    const cause = unbound(one.claim) ?? told
    return cause === undefined ? [] : [{ ...one, cause }]
  })
}

function unbound({ metadata: { name }, status }: PersistentVolumeClaim): string | undefined {
  if (status?.phase === 'Lost') return `claim ${name} has lost its volume`
  return status?.phase === 'Bound' ? undefined : `claim ${name} is not bound`
}
