import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts'
import { isDefaultStorageClass } from '../../api/kinds/default-class.ts'
import { claimKeysOf } from '../../api/kinds/pod-claims.ts'
import { storageClassOf } from '../../api/kinds/storage-class-name.ts'
import { claimKeyOf } from '../../api/kinds/volume-binding.ts'
import { whyUnfit } from '../../api/kinds/volume-matching.ts'
import { keyOf, nodes, persistentvolumeclaims, persistentvolumes, pods, storageclasses } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { isPodActive, podsByClaim } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { claimIndexes, claimsNaming, claimsWaiting, isUnbound } from './indexes.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan, textOf } from './plan.ts'

/** Finds volumes for claims, or asks for them to be made. */
export const claimBinder = defineController<PersistentVolumeClaim, Observed, Action>({
  name: 'persistentvolume',
  owner: persistentvolumeclaims,
  watches: [
    watching(persistentvolumes, claimsOfVolume),
    watching(storageclasses, claimsOfClass),
    watching(pods, claimsOfPod, (before: Pod, after: Pod) => before.spec.nodeName !== after.spec.nodeName || isPodActive(before) !== isPodActive(after)),
  ],
  reads: [nodes],
  indexes: [...claimIndexes, podsByClaim],
  // One that pods still use keeps its volume.
  plansDeletion: true,
  observe,
  plan,
  apply,
  // What was said last stays said until something else is.
  remember: ({ told }, { done }) => {
    const said = done.find((action) => action.kind === 'Tell')
    return said ? textOf(said.told) : told
  },
})

/** The claim that it is meant for, those that name it and, of a volume that anybody may have, those that could use it. */
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

/** Claims that wait for a consumer. */
function* claimsOfPod(pod: Pod, caches: Caches): Generator<string> {
  for (const key of claimKeysOf(pod)) {
    const claim = caches.of(persistentvolumeclaims).get(key)
    if (claim && isUnbound(claim)) yield key
  }
}
