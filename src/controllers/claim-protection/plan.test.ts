import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { sampleClaim, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { classesOfClaim, planVolume, uses } from './controller.ts'
import { planProtection } from './protection.ts'

const claimProtection = 'kubernetes.io/pvc-protection'
const plan = planProtection(claimProtection)
const metadata = (more: ObjectMeta = {}): ObjectMeta => ({ name: 'c', namespace: 'default', finalizers: [claimProtection], ...more })
const kept = sampleClaim('c', { metadata: metadata() })
const going = sampleClaim('c', { metadata: metadata({ deletionTimestamp: 'now' }) })
const bare = sampleClaim('c')
const left = sampleClaim('c', { metadata: metadata({ deletionTimestamp: 'now', finalizers: ['example.com/mine'] }) })

describe('planProtection()', () => {
  it.each<[string, PersistentVolumeClaim, string[], object]>([
    ['a claim that is not protected will be', bare, [], { actions: [{ kind: 'Protect' }] }],
    ['a claim that nobody deletes stays', kept, [], { actions: [] }],
    ['a claim that is deleted and not used goes', going, [], { actions: [{ kind: 'LetGo', isSure: true }] }],
    ['a claim that is used waits, and says for whom', going, ['p', 'q'], { actions: [], wait: 'used by p, q' }],
    ['a claim that waits for others is theirs', left, [], { actions: [] }],
  ])('%s', (_, claim, users, step) => {
    expect(plan({ object: claim, users, isCacheCurrent: true })).toEqual(step)
  })

  it('is not sure that nobody uses it while the cache of pods is behind', () => {
    expect(plan({ object: going, users: [], isCacheCurrent: false }).actions).toEqual([{ kind: 'LetGo', isSure: false }])
  })
})

describe('uses()', () => {
  const named = [{ name: 'v', persistentVolumeClaim: { claimName: 'p-v' } }]
  const made = [{ name: 'v', ephemeral: {} }]
  const pod = (spec: object, more: ObjectMeta = {}) =>
    ({ metadata: { name: 'p', namespace: 'default', uid: 'uid-p', ...more }, spec: { containers: [], ...spec }, status: {} }) as unknown as Pod
  const claim = sampleClaim('p-v', { metadata: { name: 'p-v', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }] } })
  const shutDown = { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 }
  it.each<[string, Pod, PersistentVolumeClaim, boolean]>([
    ['a pod on a node does', pod({ volumes: named, nodeName: 'n' }), claim, true],
    ['a pod without a node does not', pod({ volumes: named }), claim, false],
    ['a pod of other claims does not', pod({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'other' } }], nodeName: 'n' }), claim, false],
    ['a pod that is shut down does, while it is there', pod({ volumes: named, nodeName: 'n' }, shutDown), claim, true],
    ['the pod that a claim was made for does', pod({ volumes: made, nodeName: 'n' }), claim, true],
    ['not when it is shut down: each would wait for the other', pod({ volumes: made, nodeName: 'n' }, shutDown), claim, false],
    ['nor does a pod that a claim of that name was not made for', pod({ volumes: made, nodeName: 'n' }), sampleClaim('p-v'), false],
  ])('%s', (_, user, used, is) => {
    expect(uses(user, used)).toBe(is)
  })
})

describe('planVolume()', () => {
  const deleted = { metadata: { name: 'v', deletionTimestamp: 'now' } }
  it.each([
    ['a volume waits for its claim', { ...deleted, status: { phase: 'Bound' }, spec: { claimRef: { namespace: 'ns', name: 'c' } } }, 'bound to claim ns/c'],
    ['a released one does not', { ...deleted, status: { phase: 'Released' } }, undefined],
    ['nor one that nobody deletes', { status: { phase: 'Bound' } }, undefined],
  ])('%s', (_, more, wait) => {
    expect(planVolume(sampleVolume('v', more)).wait).toBe(wait)
  })
})

it('classesOfClaim() names what a claim has, wants and is on its way to, each once', () => {
  const status = { currentVolumeAttributesClassName: 'silver', modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold', status: 'InProgress' } }
  expect(classesOfClaim(sampleClaim('c', { spec: { volumeAttributesClassName: 'gold' }, status }))).toEqual(['gold', 'silver'])
  expect(classesOfClaim(sampleClaim('c'))).toEqual([])
})
