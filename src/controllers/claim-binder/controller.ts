import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts'
import { isDefaultStorageClass, storageClassOf } from '../../api/kinds/volumes/storage-classes.ts'
import { claimKeysOf } from '../../api/kinds/volumes/volume-references.ts'
import { claimKeyOf } from '../../api/kinds/volumes/volume-binding.ts'
import { whyUnfit } from '../../api/kinds/volumes/volume-matching.ts'
import { keyOf, nodes, persistentvolumeclaims, persistentvolumes, pods, storageclasses } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { isPodActive, podsByClaim } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { type Observed, claimIndexes, claimsNaming, claimsWaiting, isUnbound, observe } from './observe.ts'
import { type Action, plan, textOf } from './plan.ts'

/** Binds claims to volumes, or requests their provisioning. */
export const claimBinder = defineController<PersistentVolumeClaim, Observed, Action>({
  name: 'persistentvolume',
  owner: persistentvolumeclaims,
  sources: {
    watches: [
      watching(persistentvolumes, claimsOfVolume),
      watching(storageclasses, claimsOfClass),
      watching(
        pods,
        claimsOfPod,
        (before: Pod, after: Pod) =>
          before.spec.nodeName !== after.spec.nodeName || isPodActive(before) !== isPodActive(after),
      ),
    ],
    reads: [nodes],
    indexes: [...claimIndexes, podsByClaim],
  },
  // A claim that is still used by pods keeps its volume.
  deletion: { isPlanned: true },
  observe,
  plan,
  apply,
  // The last event is remembered until another one is emitted.
  remember: ({ told }, { done }) => {
    const said = done.find((action) => action.kind === 'Tell')
    return said ? textOf(said.told) : told
  },
})

/**
 * The claim that the volume is reserved for, claims that name it and, for an available volume, pending claims that
 * match it.
 */
function* claimsOfVolume(volume: PersistentVolume, caches: Caches): Generator<string> {
  const key = claimKeyOf(volume)
  if (key !== undefined) yield key
  yield* claimsNaming(caches, volume.metadata.name!)
  if (key !== undefined || volume.status?.phase !== 'Available') return
  for (const claim of claimsWaiting(caches, storageClassOf(volume))) if (!whyUnfit(volume, claim)) yield keyOf(claim)
}

function* claimsOfClass(storageClass: StorageClass, caches: Caches): Generator<string> {
  for (const claim of claimsWaiting(caches, storageClass.metadata.name!)) yield keyOf(claim)
  if (!isDefaultStorageClass(storageClass)) return
  for (const claim of claimsWaiting(caches, '')) yield keyOf(claim)
}

/** Claims that wait for their first consumer. */
function* claimsOfPod(pod: Pod, caches: Caches): Generator<string> {
  for (const key of claimKeysOf(pod)) {
    const claim = caches.of(persistentvolumeclaims).get(key)
    if (claim && isUnbound(claim)) yield key
  }
}
