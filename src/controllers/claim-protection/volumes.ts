import type { PersistentVolume } from '../../api/generated/types.ts'
import { claimKeyOf } from '../../api/kinds/volume-binding.ts'
import { persistentvolumes } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'

/** Keeps a volume that is deleted for as long as a claim has it. */
export const volumeProtection = 'kubernetes.io/pv-protection'

/** A volume goes when no claim has it any more. */
export const planVolume = (volume: PersistentVolume): Step<never> =>
  volume.metadata.deletionTimestamp && volume.status.phase === 'Bound' ? { actions: [], wait: `bound to claim ${claimKeyOf(volume)}` } : { actions: [] }

/** Keeps volumes from being deleted while claims have them. */
export const volumeProtector = defineController<PersistentVolume, PersistentVolume, never>({
  name: 'pv-protection',
  owner: persistentvolumes,
  finalizer: volumeProtection,
  observe: (_ctx, volume) => volume,
  plan: planVolume,
  apply: {} as never,
})
