import { describe, expect, it } from 'vitest'
import { PodInfo } from '../../cluster/pod-info.ts'
import { sampleClaim } from '../sample-volumes.ts'
import { rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import { volumeRestrictions } from './volume-restrictions.ts'

const nodes = [sampleNode('a'), sampleNode('b')]
const refused = 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'
const user = samplePod('other', { node: 'a', claims: ['data'] })
const pod = samplePod('web', { claims: ['data'] })

describe('VolumeRestrictions', () => {
  it.each([
    ['a claim for one pod that is in use', 'ReadWriteOncePod', [user], { a: refused, b: refused }],
    ['a claim for one pod that is free', 'ReadWriteOncePod', [], {}],
    ['a claim for one node that is in use', 'ReadWriteOnce', [user], {}],
  ])('judges %s', (_, mode, pods, expected) => {
    const claims = [sampleClaim('data', 'made', { spec: { accessModes: [mode] } })]
    expect(rejections(volumeRestrictions, pod, sampleWorld({ nodes, pods, claims }))).toEqual(expected)
  })

  it('hears of the user that goes', () => {
    const gone = (claim: string) => ({ kind: 'AssignedPodDelete', pod: new PodInfo(samplePod('other', { node: 'a', claims: [claim] })) }) as const
    expect(volumeRestrictions.helps(gone('data'), new PodInfo(pod), sampleWorld())).toBe(true)
    expect(volumeRestrictions.helps(gone('x'), new PodInfo(pod), sampleWorld())).toBe(false)
  })
})
