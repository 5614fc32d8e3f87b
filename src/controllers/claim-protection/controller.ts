import type { PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttributesClass } from '../../api/generated/types.ts'
import { claimKeysOf } from '../../api/kinds/volumes/volume-references.ts'
import { claimKeyOf } from '../../api/kinds/volumes/volume-binding.ts'
import {
  keyOf,
  pathOf,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  volumeattributesclasses,
} from '../../client/index.ts'
import { type ApplyContext, type Caches, type Step, defineController, indexing, watching } from '../kit/index.ts'
import { podsByClaim, podsOfClaim } from '../kit/workload/index.ts'
import {
  type Action,
  type Observed,
  isCacheCurrent,
  isConcerned,
  planProtection,
  protectionAppliers,
} from './protection.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'

/** The node has finished the pod, or the pod was deleted by force. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0

/**
 * Reports whether a pod mounts a claim, or is about to. An unscheduled pod does not, because nodes do not mount claims
 * that are being deleted.
 */
export function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec?.nodeName) return false
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName === claim.metadata.name
    if (!volume.ephemeral || isShutDown(pod)) return false
    return (
      `${pod.metadata.name}-${volume.name}` === claim.metadata.name &&
      claim.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid)
    )
  })
}

async function isClaimUsed({ ask, owner }: ApplyContext<PersistentVolumeClaim>): Promise<boolean> {
  const { items } = await ask<{ items: Pod[] }>(pathOf(pods, owner.metadata.namespace ?? ''))
  return items.some((pod) => uses(pod, owner))
}

/** Prevents the deletion of claims while pods use them. */
export const claimProtector = defineController<PersistentVolumeClaim, Observed<PersistentVolumeClaim>, Action>({
  name: 'pvc-protection',
  owner: persistentvolumeclaims,
  sources: {
    looksAt: (claim) => isConcerned(claim, claimFinalizer),
    watches: [watching(pods, claimsLeft)],
    indexes: [podsByClaim],
  },
  deletion: { isPlanned: true },
  observe: ({ caches }, claim) => ({
    object: claim,
    users: podsOfClaim(caches, keyOf(claim))
      .filter((pod) => uses(pod, claim))
      .map(({ metadata }) => metadata.name!)
      .toSorted(),
    isCacheCurrent: isCacheCurrent(caches, pods, claim),
  }),
  plan: planProtection(claimFinalizer),
  apply: protectionAppliers(persistentvolumeclaims, claimFinalizer, isClaimUsed),
})

/** Claims that are being deleted and whose last user may have been this pod. */
function* claimsLeft(pod: Pod, caches: Caches): Generator<string> {
  for (const key of claimKeysOf(pod))
    if (caches.of(persistentvolumeclaims).get(key)?.metadata.deletionTimestamp) yield key
}

/** The finalizer of volumes that are bound. */
const volumeProtection = 'kubernetes.io/pv-protection'

/** A volume is deleted when no claim is bound to it. */
export const planVolume = (volume: PersistentVolume): Step<never> =>
  volume.metadata.deletionTimestamp && volume.status.phase === 'Bound'
    ? { actions: [], wait: `bound to claim ${claimKeyOf(volume)}` }
    : { actions: [] }

/** Prevents the deletion of volumes while claims are bound to them. */
export const volumeProtector = defineController<PersistentVolume, PersistentVolume, never>({
  name: 'pv-protection',
  owner: persistentvolumes,
  deletion: { finalizer: volumeProtection },
  observe: (_ctx, volume) => volume,
  plan: planVolume,
  apply: {} as never,
})

const classFinalizer = 'kubernetes.io/vac-protection'
const byAttributesClass = 'attributes-class'

const unique = (names: readonly (string | undefined)[]): string[] =>
  [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[]

/** The classes that a claim has, requests, or is being changed to. */
export const classesOfClaim = ({ spec, status }: PersistentVolumeClaim): string[] =>
  unique([
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ])

const classesOfVolume = ({ spec }: PersistentVolume): string[] => unique([spec.volumeAttributesClassName])

async function isClassUsed({ ask, owner }: ApplyContext<VolumeAttributesClass>): Promise<boolean> {
  const { name = '' } = owner.metadata
  const claims = await ask<{ items: PersistentVolumeClaim[] }>(pathOf(persistentvolumeclaims, ''))
  if (claims.items.some((claim) => classesOfClaim(claim).includes(name))) return true
  const volumes = await ask<{ items: PersistentVolume[] }>(pathOf(persistentvolumes, ''))
  return volumes.items.some((volume) => classesOfVolume(volume).includes(name))
}

/** Prevents the deletion of attributes classes while claims or volumes use them. */
export const attributesClassProtector = defineController<
  VolumeAttributesClass,
  Observed<VolumeAttributesClass>,
  Action
>({
  name: 'vac-protection',
  owner: volumeattributesclasses,
  sources: {
    looksAt: (one) => isConcerned(one, classFinalizer),
    watches: [watching(persistentvolumeclaims, classesOfClaim), watching(persistentvolumes, classesOfVolume)],
    indexes: [
      indexing(persistentvolumeclaims, byAttributesClass, classesOfClaim),
      indexing(persistentvolumes, byAttributesClass, classesOfVolume),
    ],
  },
  deletion: { isPlanned: true },
  observe({ caches }, one) {
    const { name = '' } = one.metadata
    const users = [
      ...caches.byIndex(persistentvolumeclaims, byAttributesClass, name),
      ...caches.byIndex(persistentvolumes, byAttributesClass, name),
    ]
    return {
      object: one,
      users: users.map(keyOf).toSorted(),
      isCacheCurrent:
        isCacheCurrent(caches, persistentvolumeclaims, one) && isCacheCurrent(caches, persistentvolumes, one),
    }
  },
  plan: planProtection(classFinalizer),
  apply: protectionAppliers(volumeattributesclasses, classFinalizer, isClassUsed),
})
