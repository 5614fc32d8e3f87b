import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../api/generated/types.ts'
import { sampleClaim, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import { boundVolume, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import { type VolumeSeen, planVolume, volumeStatus } from './volumes.ts'

const claim = sampleClaim('c', { spec: { volumeName: 'v' } })
const had = (spec: object = {}, phase = 'Bound', annotations: Record<string, string> = {}): PersistentVolume =>
  boundVolume(sampleVolume('v', { metadata: { name: 'v', annotations }, spec, status: { phase } }), claim)
const reserved = sampleVolume('v', { spec: { claimRef: { namespace: 'default', name: 'c' } }, status: { phase: 'Pending' } })
const deletes = { persistentVolumeReclaimPolicy: 'Delete' }
const made = (phase = 'Bound', policy = 'Delete') => had({ persistentVolumeReclaimPolicy: policy }, phase, { [provisionedBy]: 'example.com/disks' })

/** The actions and, if all are done, the phase. */
function outcome(what: Partial<VolumeSeen> & { volume: PersistentVolume }): string {
  const seen: VolumeSeen = { claim: undefined, isTold: false, ...what }
  const { actions } = planVolume(seen)
  const { phase } = volumeStatus(seen, { done: actions, failed: [], skipped: [], wait: undefined })
  const kinds = actions.map((action) => (action.kind === 'Fail' ? `Fail ${action.told.reason}` : action.kind))
  return [...kinds, phase].join(', ')
}

describe('planVolume()', () => {
  it.each<[string, Partial<VolumeSeen> & { volume: PersistentVolume }, string]>([
    ['a new volume is there for all', { volume: sampleVolume('v', { status: { phase: 'Pending' } }) }, 'Available'],
    ['one that waits for a claim of that name, too', { volume: reserved, claim }, 'Available'],
    ['one that its claim has is left alone', { volume: had(), claim }, 'Bound'],
    ['one whose claim is about to get it is left alone', { volume: had({}, 'Pending'), claim: sampleClaim('c') }, 'Pending'],
    ['one of another sort than the claim it was meant for is told about', { volume: had({ volumeMode: 'Block' }, 'Pending'), claim: sampleClaim('c') }, 'TellMismatch, Pending'],
    ['once', { volume: had({ volumeMode: 'Block' }, 'Pending'), claim: sampleClaim('c'), isTold: true }, 'Pending'],
    ['one whose claim is gone is released', { volume: had() }, 'Release, Released'],
    ['one whose claim was made anew is released', { volume: had(), claim: { ...claim, metadata: { ...claim.metadata, uid: 'other' } } }, 'Release, Released'],
    ['a released one is kept', { volume: had({}, 'Released') }, 'Released'],
    ['a released one is not recycled', { volume: had({ persistentVolumeReclaimPolicy: 'Recycle' }, 'Released') }, 'Fail VolumeFailedRecycle, Failed'],
    ['a released one that nobody made is not deleted', { volume: had({ persistentVolumeReclaimPolicy: 'Delete' }, 'Released') }, 'Fail VolumeFailedDelete, Failed'],
    ['a released one is deleted by who made it', { volume: made('Released') }, 'Released'],
    ['a released one of a driver is deleted by the driver', { volume: had({ ...deletes, csi: { driver: 'd', volumeHandle: 'h' } }, 'Released') }, 'Released'],
    ['a failure is final', { volume: had({ persistentVolumeReclaimPolicy: 'Recycle' }, 'Failed') }, 'Failed'],
    ['one whose claim has another is free again', { volume: had(), claim: sampleClaim('c', { spec: { volumeName: 'w' } }) }, 'Unbind, Bound'],
    ['one that was made for a claim which has another is of no use', { volume: made(), claim: sampleClaim('c', { spec: { volumeName: 'w' } }) }, 'Release, Released'],
    ['unless it is to be kept', { volume: made('Bound', 'Retain'), claim: sampleClaim('c', { spec: { volumeName: 'w' } }) }, 'Unbind, Bound'],
  ])('%s', (_, what, words) => {
    expect(outcome(what)).toBe(words)
  })

  it('releases nothing if the server still has the claim', () => {
    const seen = { volume: had(), claim: undefined, isTold: false }
    const { actions } = planVolume(seen)
    const failed = actions.map((action) => ({ action, error: new Error('it is there') }))
    expect(volumeStatus(seen, { done: [], failed, skipped: [], wait: undefined })).toBe(seen.volume.status)
  })
})
