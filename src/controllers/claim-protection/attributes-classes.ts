import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../api/generated/types.ts'
import { keyOf, pathOf, persistentvolumeclaims, persistentvolumes, volumeattributesclasses } from '../../client/index.ts'
import { type ApplyContext, defineController, indexing, watching } from '../kit/index.ts'
import { type Action, type Observed, isCacheCurrent, isConcerned, planProtection, protectionAppliers } from './protection.ts'

const finalizer = 'kubernetes.io/vac-protection'
const byAttributesClass = 'attributes-class'

const unique = (names: readonly (string | undefined)[]): string[] => [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[]

/** The classes that a claim has, wants, or is on its way to. */
export const classesOfClaim = ({ spec, status }: PersistentVolumeClaim): string[] =>
  unique([spec.volumeAttributesClassName, status?.currentVolumeAttributesClassName, status?.modifyVolumeStatus?.targetVolumeAttributesClassName])

const classesOfVolume = ({ spec }: PersistentVolume): string[] => unique([spec.volumeAttributesClassName])

async function isUsed({ ask, owner }: ApplyContext<VolumeAttributesClass>): Promise<boolean> {
  const { name = '' } = owner.metadata
  const claims = await ask<{ items: PersistentVolumeClaim[] }>(pathOf(persistentvolumeclaims, ''))
  if (claims.items.some((claim) => classesOfClaim(claim).includes(name))) return true
  const volumes = await ask<{ items: PersistentVolume[] }>(pathOf(persistentvolumes, ''))
  return volumes.items.some((volume) => classesOfVolume(volume).includes(name))
}

/** Keeps attributes classes from being deleted while claims or volumes have them. */
export const attributesClassProtector = defineController<VolumeAttributesClass, Observed<VolumeAttributesClass>, Action>({
  name: 'vac-protection',
  owner: volumeattributesclasses,
  looksAt: (one) => isConcerned(one, finalizer),
  watches: [watching(persistentvolumeclaims, classesOfClaim), watching(persistentvolumes, classesOfVolume)],
  indexes: [indexing(persistentvolumeclaims, byAttributesClass, classesOfClaim), indexing(persistentvolumes, byAttributesClass, classesOfVolume)],
  plansDeletion: true,
  observe({ caches }, one) {
    const { name = '' } = one.metadata
    const users = [...caches.byIndex(persistentvolumeclaims, byAttributesClass, name), ...caches.byIndex(persistentvolumes, byAttributesClass, name)]
    return {
      object: one,
      users: users.map(keyOf).toSorted(),
      isCacheCurrent: isCacheCurrent(caches, persistentvolumeclaims, one) && isCacheCurrent(caches, persistentvolumes, one),
    }
  },
  plan: planProtection(finalizer),
  apply: protectionAppliers(volumeattributesclasses, finalizer, isUsed),
})
