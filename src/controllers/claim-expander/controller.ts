import type { PersistentVolumeClaim } from '../../api/generated/types.ts'
import { claimKeyOf } from '../../api/kinds/volumes/volume-binding.ts'
import { persistentvolumeclaims, persistentvolumes } from '../../client/index.ts'
import { defineController, watching } from '../kit/index.ts'
import { type Action, type Observed, grown, grownStatus, plan, wantsMore } from './plan.ts'

/** Expands local volumes for claims that request more storage. */
export const claimExpander = defineController<PersistentVolumeClaim, Observed, Action>({
  name: 'persistentvolume-expander',
  owner: persistentvolumeclaims,
  sources: {
    looksAt: wantsMore,
    watches: [
      watching(
        persistentvolumes,
        (volume) => [claimKeyOf(volume)].filter((key) => key !== undefined),
        (before, after) => before.spec.claimRef?.uid !== after.spec.claimRef?.uid,
      ),
    ],
  },
  observe: ({ caches, remembered }, claim) => ({
    claim,
    volume: claim.spec.volumeName ? caches.get(persistentvolumes, '', claim.spec.volumeName) : undefined,
    told: remembered as string | undefined,
  }),
  plan,
  apply: {
    async Grow({ writer, owner, event }, { volume, size }) {
      const wanted = grown(volume, size)
      if (wanted !== volume) await writer.update(persistentvolumes, wanted)
      await writer.updateStatus(persistentvolumeclaims, { ...owner, status: grownStatus(owner, size) })
      event('Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded')
    },
    async LeaveToOthers({ event }, { isDriver }) {
      const message =
        "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC."
      event(isDriver ? 'Normal' : 'Warning', 'ExternalExpanding', message)
    },
  },
  remember: ({ told }, { done }) => done.find((action) => action.kind === 'LeaveToOthers')?.size ?? told,
})
