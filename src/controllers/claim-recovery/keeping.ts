import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { newClaimsOf } from '../../api/kinds/claim-recovery.ts'
import { controllerOf, pods, refersTo, statefulsets } from '../../client/index.ts'
import { sandboxHistory } from './sandbox.ts'

/** On a claim: since when it is known that a pod had a ready sandbox with it. */
export const usedAnnotation = 'coxswain.dev/claim-used'

/**
 * Why a claim must not be deleted for the sake of this pod; undefined if it may. `others` are the other pods that name it. What is not known counts as a reason:
 * a claim may go only if it was made together with the pod, and neither that pod nor any other was ever seen to have a sandbox with it.
 */
export function whyKept(pod: Pod, claim: PersistentVolumeClaim, others: readonly Pod[]): string | undefined {
  const { uid = '', annotations } = claim.metadata
  const usedSince = annotations?.[usedAnnotation]
  if (usedSince !== undefined) return `it was used since ${usedSince}`
  const owner = controllerOf(claim)
  if (owner && !refersTo(owner, statefulsets) && !refersTo(owner, pods)) return `it belongs to ${owner.kind} ${owner.name}`
  if (!newClaimsOf(pod).includes(uid)) return `it was not made together with pod ${pod.metadata.name}, and an earlier one may have used it`
  const history = sandboxHistory(pod)
  if (history === 'ready') return `pod ${pod.metadata.name} has had a ready sandbox with it`
  if (history === 'unknown') return `it is not known whether pod ${pod.metadata.name} ever had a ready sandbox`
  return others.length > 0 ? `it is used by pod ${others[0]!.metadata.name}, too` : undefined
}
