import { describe, expect, it } from 'vitest'
import { sampleClaim, sampleVolume } from './sample-volumes.ts'
import { bindCompleted, boundByController, boundClaim, boundVolume, isBoundTo, unboundVolume } from './volume-binding.ts'

const claim = sampleClaim('c')
const volumeOf = (claimRef: object, annotations?: Record<string, string>) =>
  sampleVolume('v', { spec: { claimRef }, ...(annotations ? { metadata: { name: 'v', annotations } } : {}) })
const named = { namespace: 'default', name: 'c' }
const full = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...named, uid: 'uid-c', resourceVersion: '7' }

describe('isBoundTo()', () => {
  it.each([
    ['by name', named, true],
    ['by name and uid', { ...named, uid: 'uid-c' }, true],
    ['not by the uid of another', { ...named, uid: 'uid-d' }, false],
    ['not in another namespace', { ...named, namespace: 'other' }, false],
  ])('%s', (_, claimRef, is) => {
    expect(isBoundTo(volumeOf(claimRef), claim)).toBe(is)
  })
})

describe('a volume', () => {
  it('is marked as given by the controller, unless a user has chosen the claim', () => {
    const given = boundVolume(sampleVolume('v'), claim)
    expect([given.spec.claimRef, given.metadata.annotations]).toEqual([full, { [boundByController]: 'yes' }])
    const chosen = boundVolume(volumeOf(named), claim)
    expect([chosen.spec.claimRef, chosen.metadata.annotations]).toEqual([full, undefined])
  })

  it('stays what it is if it is bound', () => {
    const bound = volumeOf(full)
    expect(boundVolume(bound, claim)).toBe(bound)
  })

  it('is free again, or as its user made it', () => {
    const freed = unboundVolume(volumeOf(full, { [boundByController]: 'yes', mine: 'x' }))
    expect([freed.spec.claimRef, freed.metadata.annotations]).toEqual([undefined, { mine: 'x' }])
    const { uid: _, ...reserved } = full
    expect(unboundVolume(volumeOf(full)).spec.claimRef).toEqual(reserved)
  })
})

describe('a claim', () => {
  it('is marked as bound, and as given by the controller unless its user has chosen the volume', () => {
    const given = boundClaim(claim, sampleVolume('v'))
    expect([given.spec.volumeName, given.metadata.annotations]).toEqual(['v', { [boundByController]: 'yes', [bindCompleted]: 'yes' }])
    const chosen = boundClaim(sampleClaim('c', { spec: { volumeName: 'v' } }), sampleVolume('v'))
    expect([chosen.spec.volumeName, chosen.metadata.annotations]).toEqual(['v', { [bindCompleted]: 'yes' }])
    expect(boundClaim(given, sampleVolume('v'))).toBe(given)
  })
})
