import { deepEqual } from '../../api/deep-equal.ts'
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../api/generated/types.ts'
import { storageClassOf } from '../../api/kinds/volumes/storage-classes.ts'
import {
  annotated,
  annotationOf,
  boundClaim,
  boundVolume,
  isBoundTo,
  selectedNode,
  storageProvisioners,
} from '../../api/kinds/volumes/volume-binding.ts'
import { isDelayed, matchingVolume, whyUnfit } from '../../api/kinds/volumes/volume-matching.ts'
import type { Step, Told } from '../kit/index.ts'
import { type Observed, isUnbound } from './observe.ts'

/**
 * The status of a bound claim. Its capacity is taken from the volume when it is bound. They may differ later, for
 * example after a volume has grown and before its file system has.
 */
export function boundStatus(
  { status }: PersistentVolumeClaim,
  { spec }: PersistentVolume,
): PersistentVolumeClaimStatus {
  const { accessModes, capacity, volumeAttributesClassName } = spec
  const taken = { ...status, phase: 'Bound', accessModes }
  if (status.phase === 'Bound') return taken
  return {
    ...taken,
    capacity,
    ...(volumeAttributesClassName ? { currentVolumeAttributesClassName: volumeAttributesClassName } : {}),
  }
}

/** The status of a claim without a volume. */
export function unboundStatus(
  { status }: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
): PersistentVolumeClaimStatus {
  const { accessModes: _modes, capacity: _capacity, ...rest } = status
  return { ...rest, phase }
}

export const saysAlready = ({ status }: PersistentVolumeClaim, next: PersistentVolumeClaimStatus): boolean =>
  deepEqual(status, next)

export type Action =
  | { kind: 'Bind'; volume: PersistentVolume }
  /** Sets the phase Pending. */
  | { kind: 'Wait' }
  /** Sets the phase Lost. `volume` is the name of the missing volume. */
  | { kind: 'Lose'; volume: string | undefined; told: Told }
  | { kind: 'SetClass'; name: string }
  /** Requests provisioning with annotations. */
  | { kind: 'Ask'; claim: PersistentVolumeClaim }
  | { kind: 'Tell'; type: 'Normal' | 'Warning'; told: Told }

/** Decides the actions for a claim. */
export function plan(seen: Observed): Step<Action> {
  const { claim } = seen
  if (!isUnbound(claim)) return { actions: planBound(seen) }
  if (claim.metadata.deletionTimestamp) return { actions: planGoing(seen) }
  return { actions: claim.spec.volumeName ? planNamed(seen) : planSearch(seen) }
}

/** A claim that was bound keeps its volume, or is lost. */
function planBound({ claim, volume }: Observed): Action[] {
  const { volumeName } = claim.spec
  if (!volumeName) {
    return lose(
      claim,
      undefined,
      'ClaimLost',
      'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    )
  }
  if (!volume) {
    return lose(
      claim,
      volumeName,
      'ClaimLost',
      'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    )
  }
  const { claimRef } = volume.spec
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bind(claim, volume)
  return lose(
    claim,
    undefined,
    'ClaimMisbound',
    'Two claims are bound to the same volume, this one is bound incorrectly',
  )
}

/** A claim that is being deleted is bound to the volume reserved for it, so that no other claim gets it before. */
function planGoing({ claim, volume, candidates }: Observed): Action[] {
  const promised = [...candidates, ...(volume ? [volume] : [])].find(
    ({ spec }) => spec.claimRef?.uid === claim.metadata.uid,
  )
  return promised ? bind(claim, promised) : []
}

/** A claim that names a volume gets that volume or none. */
function planNamed(seen: Observed): Action[] {
  const { claim, volume } = seen
  if (!volume) return wait(claim)
  const name = JSON.stringify(volume.metadata.name)
  if (isBoundTo(volume, claim)) return bind(claim, volume)
  if (volume.spec.claimRef) {
    return [
      ...tell(seen, 'Warning', 'FailedBinding', `volume ${name} already bound to a different claim.`),
      ...wait(claim),
    ]
  }
  const reason = whyUnfit(volume, claim)
  return reason
    ? [...tell(seen, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume ${name}: ${reason}`), ...wait(claim)]
    : bind(claim, volume)
}

/** A claim that accepts any volume gets the best match, or is provisioned. */
function planSearch(seen: Observed): Action[] {
  const { claim, storageClass, defaultClass, consumer } = seen
  const onlyReserved = isDelayed(storageClass)
  const found = matchingVolume(claim, seen.candidates, { onlyReserved })
  if (found) return bind(claim, found)
  if (defaultClass !== undefined) return [{ kind: 'SetClass', name: defaultClass }]
  if (onlyReserved && annotationOf(claim, selectedNode) === '') {
    if (!consumer) return [...tell(seen, 'Normal', ...whatIsAwaited(seen)), ...wait(claim)]
    const near = consumer.node && matchingVolume(claim, seen.candidates, { node: consumer.node })
    if (near) return bind(claim, near)
  }
  if (storageClassOf(claim) !== '') return provision(seen)
  return [
    ...tell(
      seen,
      'Normal',
      'FailedBinding',
      'no persistent volumes available for this claim and no storage class is set',
    ),
    ...wait(claim),
  ]
}

function whatIsAwaited({ unscheduled }: Observed): [reason: string, message: string] {
  if (unscheduled.length === 0) {
    return ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding']
  }
  return [
    'WaitForPodScheduled',
    `waiting for pod${unscheduled.length > 1 ? 's' : ''} ${unscheduled.join(',')} to be scheduled`,
  ]
}

/** Annotates the claim with its provisioner and, if a consumer is scheduled, with the node. */
function provision(seen: Observed): Action[] {
  const { claim, storageClass, consumer } = seen
  if (!storageClass) {
    return [
      ...tell(
        seen,
        'Warning',
        'ProvisioningFailed',
        `storageclass.storage.k8s.io ${JSON.stringify(storageClassOf(claim))} not found`,
      ),
      ...wait(claim),
    ]
  }
  const { provisioner } = storageClass
  // Kubernetes has no provisioners of its own any more, and `no-provisioner` means that administrators create the
  // volumes.
  if (provisioner.startsWith('kubernetes.io/')) {
    return [
      ...tell(seen, 'Warning', 'ProvisioningFailed', `no volume plugin matched name: ${provisioner}`),
      ...wait(claim),
    ]
  }
  const marks = Object.fromEntries(storageProvisioners.map((name) => [name, provisioner]))
  const asking = annotated(claim, { ...marks, ...(consumer ? { [selectedNode]: consumer.name } : {}) })
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.'
  return [
    ...tell(seen, 'Normal', 'ExternalProvisioning', message),
    ...(asking === claim ? [] : [{ kind: 'Ask', claim: asking } as const]),
  ]
}

/** No action if everything is written already. */
function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Action[] {
  const isBound =
    boundVolume(volume, claim) === volume && boundClaim(claim, volume) === claim && volume.status?.phase === 'Bound'
  return isBound && saysAlready(claim, boundStatus(claim, volume)) ? [] : [{ kind: 'Bind', volume }]
}

const wait = (claim: PersistentVolumeClaim): Action[] =>
  saysAlready(claim, unboundStatus(claim, 'Pending')) ? [] : [{ kind: 'Wait' }]

const lose = (claim: PersistentVolumeClaim, volume: string | undefined, reason: string, message: string): Action[] =>
  claim.status.phase === 'Lost' ? [] : [{ kind: 'Lose', volume, told: { reason, message } }]

/** The same event is emitted once. */
const tell = ({ told }: Observed, type: 'Normal' | 'Warning', reason: string, message: string): Action[] =>
  told === textOf({ reason, message }) ? [] : [{ kind: 'Tell', type, told: { reason, message } }]

/** Identifies an event. */
export const textOf = ({ reason, message }: Told): string => `${reason}: ${message}`
