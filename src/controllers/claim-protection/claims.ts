import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimKeysOf } from '../../api/kinds/pod-claims.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { addFinalizer, finalizersPatch, hasFinalizer, keyOf, pathOf, persistentvolumeclaims, pods, removeFinalizer } from '../../client/index.ts'
import { type ApplyContext, type Step, defineController, watching } from '../kit/index.ts'
import { podsByClaim, podsOfClaim } from '../kit/workload/index.ts'

/** Keeps a claim that is deleted for as long as a pod uses it. */
export const claimProtection = 'kubernetes.io/pvc-protection'

export interface Observed {
  claim: PersistentVolumeClaim
  /** Pods that use the claim, by name. */
  users: readonly string[]
  /** Whether the cache of pods is at least as new as the claim: whoever used it when it was deleted is among them. */
  isPodCacheCurrent: boolean
}

export type Action = { kind: 'Protect' } | { kind: 'LetGo'; isSure: boolean }

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

/** A claim that is deleted goes when no pod uses it any more. */
export function plan({ claim, users, isPodCacheCurrent }: Observed): Step<Action> {
  const isProtected = hasFinalizer(claim, claimProtection)
  if (!claim.metadata.deletionTimestamp) return { actions: isProtected ? [] : [{ kind: 'Protect' }] }
  if (!isProtected) return { actions: [] }
  if (users.length > 0) return { actions: [], wait: `used by ${users.join(', ')}` }
  return { actions: [{ kind: 'LetGo', isSure: isPodCacheCurrent }] }
}

type Context = ApplyContext<PersistentVolumeClaim>

/** Asks the server, as a pod that uses the claim may not be in the cache yet. One that is found will be, and is waited for then. */
async function isUsed({ ask, owner }: Context): Promise<boolean> {
  const { items } = await ask<{ items: Pod[] }>(pathOf(pods, owner.metadata.namespace ?? ''))
  return items.some((pod) => uses(pod, owner))
}

/** Keeps claims from being deleted while pods use them. */
export const claimProtector = defineController<PersistentVolumeClaim, Observed, Action>({
  name: 'pvc-protection',
  owner: persistentvolumeclaims,
  looksAt: (claim) => (claim.metadata.deletionTimestamp !== undefined) === hasFinalizer(claim, claimProtection),
  watches: [watching(pods, claimsLeft)],
  indexes: [podsByClaim],
  plansDeletion: true,
  observe: ({ caches }, claim) => ({
    claim,
    users: podsOfClaim(caches, keyOf(claim)).filter((pod) => uses(pod, claim)).map(({ metadata }) => metadata.name!).toSorted(),
    isPodCacheCurrent: compareResourceVersions(caches.of(pods).lastSyncResourceVersion, claim.metadata.resourceVersion ?? '') >= 0,
  }),
  plan,
  apply: {
    Protect: ({ writer, owner }) => writer.patch(persistentvolumeclaims, owner, finalizersPatch(addFinalizer(owner, claimProtection)), { type: 'merge' }),
    async LetGo(ctx, { isSure }) {
      const { writer, owner } = ctx
      if (!isSure && (await isUsed(ctx))) return
      await writer.patch(persistentvolumeclaims, owner, finalizersPatch(removeFinalizer(owner, claimProtection)), { type: 'merge' })
    },
  },
})

/** Claims that are being deleted and that the pod may have been the last to use. */
function* claimsLeft(pod: Pod, caches: Parameters<typeof podsOfClaim>[0]): Generator<string> {
  for (const key of claimKeysOf(pod)) if (caches.of(persistentvolumeclaims).get(key)?.metadata.deletionTimestamp) yield key
}
