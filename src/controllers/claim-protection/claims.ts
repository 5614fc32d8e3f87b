import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimKeysOf } from '../../api/kinds/pod-claims.ts'
import { keyOf, pathOf, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type ApplyContext, type Caches, defineController, watching } from '../kit/index.ts'
import { podsByClaim, podsOfClaim } from '../kit/workload/index.ts'
import { type Action, type Observed, isCacheCurrent, isConcerned, planProtection, protectionAppliers } from './protection.ts'

const finalizer = 'kubernetes.io/pvc-protection'

/** A node is done with the pod, or somebody has given the pod up. */
const isShutDown = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0

/** Whether a pod has a claim's volume mounted, or is about to. Without a node it has not: nodes do not mount claims that are being deleted. */
export function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec?.nodeName) return false
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName === claim.metadata.name
    if (!volume.ephemeral || isShutDown(pod)) return false
    return `${pod.metadata.name}-${volume.name}` === claim.metadata.name && claim.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid)
  })
}

async function isUsed({ ask, owner }: ApplyContext<PersistentVolumeClaim>): Promise<boolean> {
  const { items } = await ask<{ items: Pod[] }>(pathOf(pods, owner.metadata.namespace ?? ''))
  return items.some((pod) => uses(pod, owner))
}

/** Keeps claims from being deleted while pods use them. */
export const claimProtector = defineController<PersistentVolumeClaim, Observed<PersistentVolumeClaim>, Action>({
  name: 'pvc-protection',
  owner: persistentvolumeclaims,
  looksAt: (claim) => isConcerned(claim, finalizer),
  watches: [watching(pods, claimsLeft)],
  indexes: [podsByClaim],
  plansDeletion: true,
  observe: ({ caches }, claim) => ({
    object: claim,
    users: podsOfClaim(caches, keyOf(claim)).filter((pod) => uses(pod, claim)).map(({ metadata }) => metadata.name!).toSorted(),
    isCacheCurrent: isCacheCurrent(caches, pods, claim),
  }),
  plan: planProtection(finalizer),
  apply: protectionAppliers(persistentvolumeclaims, finalizer, isUsed),
})

/** Claims that are being deleted and that the pod may have been the last to use. */
function* claimsLeft(pod: Pod, caches: Caches): Generator<string> {
  for (const key of claimKeysOf(pod)) if (caches.of(persistentvolumeclaims).get(key)?.metadata.deletionTimestamp) yield key
}
