import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus } from '../../api/generated/types.ts'
import { annotationOf, provisionedBy } from '../../api/kinds/volume-binding.ts'
import { isSameSort } from '../../api/kinds/volume-matching.ts'
import type { Outcome, Step, Told } from '../kit/index.ts'

export interface VolumeSeen {
  volume: PersistentVolume
  /** The one of the name that the volume refers to. */
  claim: PersistentVolumeClaim | undefined
  /** Whether users were told that the two do not go together. */
  isTold: boolean
}

export type VolumeAction =
  /** The claim is gone, if the server agrees. */
  | { kind: 'Release'; volume: PersistentVolume }
  /** The claim has another volume. */
  | { kind: 'Unbind'; volume: PersistentVolume }
  /** What is to be done with a released volume cannot be done. */
  | { kind: 'Fail'; told: Told }
  | { kind: 'TellMismatch'; claim: PersistentVolumeClaim }

/** What a volume is now, by its claim; undefined where the claim's side of the binding is not done yet. */
function standing({ volume, claim }: VolumeSeen): 'Available' | 'Bound' | 'Released' | 'elsewhere' | undefined {
  const { claimRef } = volume.spec
  if (!claimRef?.uid) return 'Available'
  if (!claim || claim.metadata.uid !== claimRef.uid) return 'Released'
  if (!claim.spec.volumeName) return undefined
  return claim.spec.volumeName === volume.metadata.name ? 'Bound' : 'elsewhere'
}

/** Decides what becomes of a volume. */
export function planVolume(seen: VolumeSeen): Step<VolumeAction> {
  const { volume, claim, isTold } = seen
  switch (standing(seen)) {
    case 'Released':
      return { actions: release(volume) }
    case 'elsewhere':
      // One that was made for the claim is of no use to anybody else.
      return { actions: isMadeFor(volume) ? release(volume) : [{ kind: 'Unbind', volume }] }
    case undefined:
      return { actions: isSameSort(volume, claim!) || isTold ? [] : [{ kind: 'TellMismatch', claim: claim! }] }
    default:
      return { actions: [] }
  }
}

const isMadeFor = (volume: PersistentVolume): boolean => annotationOf(volume, provisionedBy) !== '' && volume.spec.persistentVolumeReclaimPolicy === 'Delete'

/** A volume is Released first, for all to see; then its reclaim policy is followed. */
function release(volume: PersistentVolume): VolumeAction[] {
  const { phase } = volume.status
  if (phase === 'Failed') return []
  if (phase !== 'Released') return [{ kind: 'Release', volume }]
  const told = whyNotReclaimed(volume)
  return told ? [{ kind: 'Fail', told }] : []
}

/** Undefined where there is nothing to do here: the volume is kept, or deleted by whoever made it. */
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
  if (!hostPath) return `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: no deletable volume plugin matched`
  // Kubernetes deletes below /tmp, on the machine that its controllers happen to run on.
  if (/^\/tmp\/.+/.test(hostPath.path)) return `${hostPath.path} is a directory of a node, and only whoever made it can remove it`
  return `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`
}

/** The phase that is true now. That it is Bound is said by who binds it, with the claim: two would get in each other's way. */
export function volumeStatus(seen: VolumeSeen, { done }: Outcome<VolumeAction>): PersistentVolumeStatus {
  const { status } = seen.volume
  const failed = done.find((action) => action.kind === 'Fail')
  if (failed) return { ...status, phase: 'Failed', message: failed.told.message }
  if (done.some((action) => action.kind === 'Release')) return { ...status, phase: 'Released', message: '' }
  return standing(seen) === 'Available' && status.phase !== 'Available' ? { ...status, phase: 'Available', message: '' } : status
}
