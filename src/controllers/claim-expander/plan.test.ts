import { describe, expect, it } from 'vitest'
import { localPathProvisioner } from '../../api/kinds/volumes/storage-classes.ts'
import { sampleClaim, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import { boundVolume, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import { type Observed, grown, grownStatus, plan } from './plan.ts'

const claim = (wanted: string, has: string, phase = 'Bound') =>
  sampleClaim('c', { spec: { resources: { requests: { storage: wanted } }, volumeName: 'v' }, status: { phase, capacity: { storage: has } } })
const volume = (provisioner: string) => boundVolume(sampleVolume('v', { metadata: { name: 'v', annotations: { [provisionedBy]: provisioner } } }), claim('1Gi', '1Gi'))
const ours = volume(localPathProvisioner)

describe('plan()', () => {
  it.each<[string, Partial<Observed>, string]>([
    ['a claim that has what it asks for is left alone', { claim: claim('1Gi', '1024Mi') }, ''],
    ['a claim that asks for less than it has is left alone', { claim: claim('1Gi', '2Gi') }, ''],
    ['a claim that asks for more gets it', { claim: claim('2Gi', '1Gi') }, 'Grow 2Gi'],
    ['not before it is bound', { claim: claim('2Gi', '1Gi', 'Pending') }, ''],
    ['not from a volume that another claim has', { claim: claim('2Gi', '1Gi'), volume: boundVolume(sampleVolume('v'), sampleClaim('d')) }, ''],
    ['not from a volume that is not there', { claim: claim('2Gi', '1Gi'), volume: undefined }, ''],
    ['a volume of others is theirs', { claim: claim('2Gi', '1Gi'), volume: volume('example.com/disks') }, 'LeaveToOthers 2Gi'],
    ['which is said once for each size', { claim: claim('2Gi', '1Gi'), volume: volume('example.com/disks'), told: '2Gi' }, ''],
  ])('%s', (_, what, words) => {
    const { actions } = plan({ claim: claim('1Gi', '1Gi'), volume: ours, told: undefined, ...what })
    expect(actions.map(({ kind, size }) => `${kind} ${size}`).join()).toBe(words)
  })
})

it('grown() leaves a volume alone that is large enough', () => {
  expect(grown(ours, '1Gi')).toBe(ours)
  expect(grown(ours, '2Gi').spec.capacity).toEqual({ storage: '2Gi' })
})

it('grownStatus() says that nothing is left to be done', () => {
  const conditions = [
    { type: 'Resizing', status: 'True' },
    { type: 'FileSystemResizePending', status: 'True' },
    { type: 'Mine', status: 'True' },
  ]
  const underWay = { conditions, allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
  const before = { ...claim('2Gi', '1Gi'), status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...underWay } }
  expect(grownStatus(before, '2Gi')).toEqual({ phase: 'Bound', capacity: { storage: '2Gi' }, conditions: [{ type: 'Mine', status: 'True' }] })
})
