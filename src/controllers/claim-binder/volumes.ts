import type { PersistentVolume } from '../../api/generated/types.ts'
import { claimKeyOf, unboundVolume } from '../../api/kinds/volume-binding.ts'
import { keyOf, persistentvolumeclaims, persistentvolumes, splitKey } from '../../client/index.ts'
import { type Appliers, defineController, watching } from '../kit/index.ts'
import { live, notCached } from './apply.ts'
import { volumeIndexes, volumesFor } from './indexes.ts'
import { type VolumeAction, type VolumeSeen, planVolume, volumeStatus } from './volume-plan.ts'

const apply: Appliers<PersistentVolume, VolumeAction> = {
  // Only if it is so: a claim that the cache does not have yet is no reason to give up what it has.
  async Release({ ask }, { volume }) {
    const { namespace, name } = splitKey(claimKeyOf(volume)!)
    const claim = await live(ask, persistentvolumeclaims, namespace, name)
    if (claim?.metadata.uid !== volume.spec.claimRef?.uid) return
    if (!claim?.spec.volumeName || claim.spec.volumeName === volume.metadata.name) throw notCached(persistentvolumeclaims, name)
  },
  Unbind: ({ writer }, { volume }) => writer.update(persistentvolumes, unboundVolume(volume)),
  Fail: async ({ event }, { told }) => event('Warning', told.reason, told.message),
  async TellMismatch({ event, owner }, { claim }) {
    const [volume, name] = [owner.metadata.name, claim.metadata.name].map((text) => JSON.stringify(text))
    event('Warning', 'VolumeMismatch', `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${name} due to incompatible volumeMode.`)
    event('Warning', 'VolumeMismatch', `Cannot bind PersistentVolume ${volume} to requested PersistentVolumeClaim due to incompatible volumeMode.`, claim)
  },
}

/** Says of every volume whether it is in use, and what becomes of it afterwards. */
export const volumeBinder = defineController<PersistentVolume, VolumeSeen, VolumeAction>({
  name: 'persistentvolume-phase',
  owner: persistentvolumes,
  watches: [
    watching(
      persistentvolumeclaims,
      (claim, caches) => volumesFor(caches, keyOf(claim)).map(keyOf),
      (before, after) => before.metadata.uid !== after.metadata.uid || before.spec.volumeName !== after.spec.volumeName,
    ),
  ],
  indexes: volumeIndexes,
  // One that is being deleted is released first, or its protection would never end.
  plansDeletion: true,
  observesGeneration: false,
  observe({ caches, remembered }, volume) {
    const key = claimKeyOf(volume)
    return { volume, claim: key === undefined ? undefined : caches.of(persistentvolumeclaims).get(key), isTold: remembered === true }
  },
  plan: planVolume,
  apply,
  status: volumeStatus,
  remember: ({ isTold }, { done }) => isTold || done.some((action) => action.kind === 'TellMismatch') || undefined,
})
