import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus } from '../../api/generated/types.ts'
import { annotationOf, claimKeyOf, provisionedBy, unboundVolume } from '../../api/kinds/volumes/volume-binding.ts'
import { isSameSort } from '../../api/kinds/volumes/volume-matching.ts'
import { keyOf, persistentvolumeclaims, persistentvolumes, splitKey } from '../../client/index.ts'
import { type Appliers, type Outcome, type Step, type Told, defineController, watching } from '../kit/index.ts'
import { live, notCached } from './apply.ts'
import { volumeIndexes, volumesFor } from './observe.ts'

export interface VolumeSeen {
  volume: PersistentVolume
  /** The claim with the name that the volume refers to. */
  claim: PersistentVolumeClaim | undefined
  /** True if users were told that the volume modes do not match. */
  isTold: boolean
}

export type VolumeAction =
  /** The claim is deleted, if the server confirms it. */
  | { kind: 'Release'; volume: PersistentVolume }
  /** The claim is bound to another volume. */
  | { kind: 'Unbind'; volume: PersistentVolume }
  /** The reclaim policy cannot be executed. */
  | { kind: 'Fail'; told: Told }
  | { kind: 'TellMismatch'; claim: PersistentVolumeClaim }

/** The state of a volume according to its claim. Undefined until the claim's side of the binding is written. */
function standing({ volume, claim }: VolumeSeen): 'Available' | 'Bound' | 'Released' | 'elsewhere' | undefined {
  const { claimRef } = volume.spec
  if (!claimRef?.uid) return 'Available'
  if (!claim || claim.metadata.uid !== claimRef.uid) return 'Released'
  if (!claim.spec.volumeName) return undefined
  return claim.spec.volumeName === volume.metadata.name ? 'Bound' : 'elsewhere'
}

/** Decides the actions for a volume. */
export function planVolume(seen: VolumeSeen): Step<VolumeAction> {
  const { volume, claim, isTold } = seen
  switch (standing(seen)) {
    case 'Released':
      return { actions: release(volume) }
    case 'elsewhere':
      // A volume that was provisioned for the claim is not useful for another one.
      return { actions: isMadeFor(volume) ? release(volume) : [{ kind: 'Unbind', volume }] }
    case undefined:
      return { actions: isSameSort(volume, claim!) || isTold ? [] : [{ kind: 'TellMismatch', claim: claim! }] }
    default:
      return { actions: [] }
  }
}

const isMadeFor = (volume: PersistentVolume): boolean =>
  annotationOf(volume, provisionedBy) !== '' && volume.spec.persistentVolumeReclaimPolicy === 'Delete'

/** The volume is Released first, then its reclaim policy is executed. */
function release(volume: PersistentVolume): VolumeAction[] {
  const { phase } = volume.status
  if (phase === 'Failed') return []
  if (phase !== 'Released') return [{ kind: 'Release', volume }]
  const told = whyNotReclaimed(volume)
  return told ? [{ kind: 'Fail', told }] : []
}

/** Undefined if nothing is to be done here: the volume is kept, or its provisioner deletes it. */
function whyNotReclaimed(volume: PersistentVolume): Told | undefined {
  switch (volume.spec.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return undefined
    case 'Recycle':
      return { reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' }
    case 'Delete': {
      const message = whyNotDeleted(volume)
      return message === undefined ? undefined : { reason: 'VolumeFailedDelete', message }
    }
    default:
      return { reason: 'VolumeUnknownReclaimPolicy', message: 'Volume has unrecognized PersistentVolumeReclaimPolicy' }
  }
}

function whyNotDeleted({ metadata, spec: { csi, hostPath } }: PersistentVolume): string | undefined {
  const maker = metadata.annotations?.[provisionedBy] ?? ''
  if (maker.startsWith('kubernetes.io/')) return `no deletable volume plugin matched name: ${maker}`
  if (maker !== '' || csi) return undefined
  if (!hostPath) {
    return `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: no deletable volume plugin matched`
  }
  // Kubernetes deletes directories below /tmp on the machine of the controller manager.
  if (/^\/tmp\/.+/.test(hostPath.path)) {
    return `${hostPath.path} is a directory of a node, and only whoever made it can remove it`
  }
  return `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`
}

/** The current phase. Bound is written only by the binder, together with the claim, to avoid conflicts. */
export function volumeStatus(seen: VolumeSeen, { done }: Outcome<VolumeAction>): PersistentVolumeStatus {
  const { status } = seen.volume
  const failed = done.find((action) => action.kind === 'Fail')
  if (failed) return { ...status, phase: 'Failed', message: failed.told.message }
  if (done.some((action) => action.kind === 'Release')) return { ...status, phase: 'Released', message: '' }
  return standing(seen) === 'Available' && status.phase !== 'Available'
    ? { ...status, phase: 'Available', message: '' }
    : status
}

const apply: Appliers<PersistentVolume, VolumeAction> = {
  // The server is asked, because a claim that the cache lacks must not lose its volume.
  async Release({ ask }, { volume }) {
    const { namespace, name } = splitKey(claimKeyOf(volume)!)
    const claim = await live(ask, persistentvolumeclaims, namespace, name)
    if (claim?.metadata.uid !== volume.spec.claimRef?.uid) return
    if (!claim?.spec.volumeName || claim.spec.volumeName === volume.metadata.name) {
      throw notCached(persistentvolumeclaims, name)
    }
  },
  Unbind: ({ writer }, { volume }) => writer.update(persistentvolumes, unboundVolume(volume)),
  Fail: async ({ event }, { told }) => event('Warning', told.reason, told.message),
  async TellMismatch({ event, owner }, { claim }) {
    const [volume, name] = [owner.metadata.name, claim.metadata.name].map((text) => JSON.stringify(text))
    event(
      'Warning',
      'VolumeMismatch',
      `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${name} due to incompatible volumeMode.`,
    )
    event(
      'Warning',
      'VolumeMismatch',
      `Cannot bind PersistentVolume ${volume} to requested PersistentVolumeClaim due to incompatible volumeMode.`,
      claim,
    )
  },
}

/** Maintains the phase of volumes, and releases them after use. */
export const volumeBinder = defineController<PersistentVolume, VolumeSeen, VolumeAction>({
  name: 'persistentvolume-phase',
  owner: persistentvolumes,
  sources: {
    watches: [
      watching(
        persistentvolumeclaims,
        (claim, caches) => volumesFor(caches, keyOf(claim)).map(keyOf),
        (before, after) =>
          before.metadata.uid !== after.metadata.uid || before.spec.volumeName !== after.spec.volumeName,
      ),
    ],
    indexes: volumeIndexes,
  },
  // A volume that is being deleted must be released, otherwise its protection never ends.
  deletion: { isPlanned: true },
  status: { observesGeneration: false, compute: volumeStatus },
  observe({ caches, remembered }, volume) {
    const key = claimKeyOf(volume)
    return {
      volume,
      claim: key === undefined ? undefined : caches.of(persistentvolumeclaims).get(key),
      isTold: remembered === true,
    }
  },
  plan: planVolume,
  apply,
  remember: ({ isTold }, { done }) => isTold || done.some((action) => action.kind === 'TellMismatch') || undefined,
})
