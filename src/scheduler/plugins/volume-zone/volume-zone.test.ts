import { describe, expect, it } from 'vitest'
import { sampleClaim, sampleVolume } from '../sample-volumes.ts'
import { rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import { volumeZone } from './volume-zone.ts'

const zone = 'topology.kubernetes.io/zone'
const betaZone = 'failure-domain.beta.kubernetes.io/zone'
const nodes = [sampleNode('a', { labels: { [zone]: 'a' } }), sampleNode('b', { labels: { [zone]: 'b' } }), sampleNode('anywhere')]
const refused = 'node(s) had no available volume zone (final)'

describe('VolumeZone', () => {
  it.each([
    ['in no zone', {}, {}],
    ['in a zone', { [zone]: 'a' }, { b: refused }],
    ['in two zones', { [zone]: 'a__b' }, {}],
    ['in a zone by its old name', { [betaZone]: 'b' }, { a: refused }],
  ])('judges a pod whose volume is %s', (_, labels, expected) => {
    const claims = [sampleClaim('data', 'made', { volume: 'v' })]
    const volumes = [sampleVolume('v', 'made', { metadata: { labels } })]
    expect(rejections(volumeZone, samplePod('web', { claims: ['data'] }), sampleWorld({ nodes, claims, volumes }))).toEqual(expected)
  })
})
