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

type Phase = 'Available' | 'Bound' | 'Released' | 'Failed'

/** What a volume is now, by its claim; undefined where the claim's side of the binding is not done yet. */
function standing({ volume, claim }: VolumeSeen): Phase | 'elsewhere' | undefined {
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
function whyNotReclaimed({ metadata, spec: { persistentVolumeReclaimPolicy, csi, hostPath } }: PersistentVolume): Told | undefined {
  switch (persistentVolumeReclaimPolicy) {
    case 'Retain':
      return undefined
    case 'Recycle':
      return { reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' }
    case 'Delete': {
      const maker = metadata.annotations?.[provisionedBy] ?? ''
      if (maker.startsWith('kubernetes.io/')) return { reason: 'VolumeFailedDelete', message: `no deletable volume plugin matched name: ${maker}` }
      if (maker !== '' || csi) return undefined
      const message = hostPath ? `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}` : 'no deletable volume plugin matched'
      return { reason: 'VolumeFailedDelete', message: hostPath ? message : `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: ${message}` }
    }
    default:
      return { reason: 'VolumeUnknownReclaimPolicy', message: 'Volume has unrecognized PersistentVolumeReclaimPolicy' }
  }
}

/** The phase that is true now. */
export function volumeStatus(seen: VolumeSeen, { done, answers }: Outcome<VolumeAction>): PersistentVolumeStatus {
  const { status } = seen.volume
  const failed = done.find((action) => action.kind === 'Fail')
  if (failed) return { ...status, phase: 'Failed', message: failed.told.message }
  const released = done.find((action) => action.kind === 'Release')
  if (released) return answers?.get(released) === true ? { ...status, phase: 'Released', message: '' } : status
  const phase = standing(seen)
  return phase === 'Available' || phase === 'Bound' ? inPhase(status, phase) : status
}

const inPhase = (status: PersistentVolumeStatus, phase: Phase): PersistentVolumeStatus => (status.phase === phase ? status : { ...status, phase, message: '' })
