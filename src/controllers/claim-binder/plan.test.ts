import { describe, expect, it } from 'vitest'
import type { Node } from '../../api/generated/types.ts'
import { sampleClaim, sampleClass, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import { bindCompleted, boundClaim, boundVolume, selectedNode } from '../../api/kinds/volumes/volume-binding.ts'
import type { Observed } from './observe.ts'
import { type Action, boundStatus, plan } from './plan.ts'

const fresh = sampleClaim('c')
const free = sampleVolume('v')
const bound = boundVolume(sampleVolume('v', { status: { phase: 'Bound' } }), fresh)
const had = boundClaim(fresh, free)
const settled = { ...had, status: boundStatus(had, free) }
const late = sampleClass('slow', { volumeBindingMode: 'WaitForFirstConsumer' })
const chosen = sampleClaim('c', { metadata: { annotations: { [selectedNode]: 'n1' } } })
const asked = { 'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks', 'volume.kubernetes.io/storage-provisioner': 'example.com/disks' }
const classless = sampleClaim('c', { spec: { storageClassName: undefined } })
const plain = sampleClaim('c', { spec: { storageClassName: '' } })
const going = sampleClaim('c', { metadata: { ...fresh.metadata, deletionTimestamp: 'now' } })
const node = { metadata: { name: 'n1' } } as Node

const seen = (what: Partial<Observed>): Observed => ({
  claim: fresh,
  volume: undefined,
  candidates: [],
  storageClass: undefined,
  defaultClass: undefined,
  unscheduled: [],
  consumer: undefined,
  told: undefined,
  ...what,
})

/** `Bind v`, `Tell Normal FailedBinding`. */
function inWords(action: Action): string {
  switch (action.kind) {
    case 'Bind':
      return `Bind ${action.volume.metadata.name}`
    case 'Tell':
      return `Tell ${action.told.reason}`
    case 'Lose':
      return `Lose ${action.told.reason}`
    case 'SetClass':
      return `SetClass ${action.name}`
    default:
      return action.kind
  }
}

const words = (what: Partial<Observed>): string => plan(seen(what)).actions.map(inWords).join(', ')

describe('plan() of a claim that takes any volume', () => {
  it.each<[string, Partial<Observed>, string]>([
    ['takes one that fits', { candidates: [free] }, 'Bind v'],
    ['takes the default class if it names none and nothing fits', { claim: classless, defaultClass: 'std' }, 'SetClass std'],
    ['takes what fits before the default class', { claim: classless, candidates: [sampleVolume('v', { spec: { storageClassName: '' } })], defaultClass: 'std' }, 'Bind v'],
    ['says that there is none', { claim: plain }, 'Tell FailedBinding'],
    ['says so once', { claim: plain, told: 'FailedBinding: no persistent volumes available for this claim and no storage class is set' }, ''],
    ['says that its class is missing', {}, 'Tell ProvisioningFailed'],
    ['says that nobody makes volumes of its class', { storageClass: sampleClass('slow', { provisioner: 'kubernetes.io/no-provisioner' }) }, 'Tell ProvisioningFailed'],
    ['asks who makes volumes of its class', { storageClass: sampleClass('slow') }, 'Tell ExternalProvisioning, Ask'],
    ['asks once', { claim: sampleClaim('c', { metadata: { annotations: asked } }), storageClass: sampleClass('slow') }, 'Tell ExternalProvisioning'],
    ['waits for a consumer', { storageClass: late, candidates: [free] }, 'Tell WaitForFirstConsumer'],
    ['waits for its pods to get a node', { storageClass: late, unscheduled: ['p', 'q'] }, 'Tell WaitForPodScheduled'],
    ['takes what the node of its consumer reaches', { storageClass: late, candidates: [free], consumer: { name: 'n1', node } }, 'Bind v'],
    ['has a volume made there otherwise', { storageClass: late, consumer: { name: 'n1', node: undefined } }, 'Tell ExternalProvisioning, Ask'],
    ['has a volume made where the scheduler says', { claim: chosen, storageClass: late, candidates: [free] }, 'Tell ExternalProvisioning, Ask'],
    ['takes what was made for it, consumer or not', { storageClass: late, candidates: [bound] }, 'Bind v'],
    ['gives back what it says about a volume that it has not', { claim: { ...plain, status: { phase: 'Pending', capacity: { storage: '1Gi' } } } }, 'Tell FailedBinding, Wait'],
    ['gets nothing any more when it is being deleted', { claim: going, candidates: [free] }, ''],
    ['gets what it was promised even then', { claim: going, candidates: [bound] }, 'Bind v'],
  ])('%s', (_, what, actions) => {
    expect(words(what)).toBe(actions)
  })

  it('says on the claim who is to make the volume, and where', () => {
    const { actions } = plan(seen({ storageClass: late, consumer: { name: 'n1', node } }))
    expect(actions.find((action) => action.kind === 'Ask')?.claim.metadata.annotations).toEqual({ ...asked, [selectedNode]: 'n1' })
  })
})

describe('plan() of a claim that names its volume', () => {
  const claim = sampleClaim('c', { spec: { volumeName: 'v' } })
  it.each<[string, Partial<Observed>, string]>([
    ['waits for it', {}, ''],
    ['takes it', { volume: free }, 'Bind v'],
    ['takes it though its phase is not known yet', { volume: sampleVolume('v', { status: { phase: 'Pending' } }) }, 'Bind v'],
    ['takes it if it was meant for it', { volume: bound }, 'Bind v'],
    ['says why it does not fit', { volume: sampleVolume('v', { spec: { capacity: { storage: '1Mi' } } }) }, 'Tell VolumeMismatch'],
    ['says that somebody else has it', { volume: boundVolume(free, sampleClaim('d')) }, 'Tell FailedBinding'],
  ])('%s', (_, what, actions) => {
    expect(words({ claim, ...what })).toBe(actions)
  })
})

describe('plan() of a claim that has had its volume', () => {
  it.each<[string, Partial<Observed>, string]>([
    ['does nothing when all is said', { claim: settled, volume: bound }, ''],
    ['says what is not said yet', { claim: had, volume: bound }, 'Bind v'],
    ['has the volume say so, too', { claim: settled, volume: { ...bound, status: { phase: 'Available' } } }, 'Bind v'],
    ['binds a volume that was freed', { claim: settled, volume: free }, 'Bind v'],
    ['is lost without its volume', { claim: settled }, 'Lose ClaimLost'],
    ['is lost without the name of its volume', { claim: sampleClaim('c', { metadata: { annotations: { [bindCompleted]: 'yes' } } }) }, 'Lose ClaimLost'],
    ['is lost if another claim has its volume', { claim: settled, volume: boundVolume(free, sampleClaim('d')) }, 'Lose ClaimMisbound'],
    ['is lost once', { claim: { ...settled, status: { phase: 'Lost' } } }, ''],
    ['is found again', { claim: { ...settled, status: { phase: 'Lost' } }, volume: bound }, 'Bind v'],
    ['is looked after while it is being deleted', { claim: { ...had, metadata: { ...had.metadata, deletionTimestamp: 'now' } }, volume: bound }, 'Bind v'],
  ])('%s', (_, what, actions) => {
    expect(words(what)).toBe(actions)
  })
})

it('boundStatus() takes the capacity of the volume when it is bound, and leaves it to whoever makes it grow afterwards', () => {
  const large = sampleVolume('v', { spec: { capacity: { storage: '5Gi' } } })
  expect(boundStatus(fresh, large)).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } })
  expect(boundStatus(settled, large).capacity).toEqual({ storage: '1Gi' })
})
