import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../../api/generated/types.ts'
import { sampleClaim, sampleClass, sampleCsiNode, sampleVolume } from '../sample-volumes.ts'
import { rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import { nodeVolumeLimits } from './node-volume-limits.ts'

const driver = 'example.com/disks'
const disk = (name: string): PersistentVolume => sampleVolume(name, 'made', { spec: { csi: { driver, volumeHandle: name } } })
const claims = ['one', 'two', 'three'].map((name) => sampleClaim(name, 'made', { volume: name }))
const world = (limit: number | undefined, ...used: string[]) =>
  sampleWorld({
    nodes: [sampleNode('node')],
    pods: used.map((name) => samplePod(`user-of-${name}`, { node: 'node', claims: [name] })),
    claims: [...claims, sampleClaim('new', 'made')],
    volumes: ['one', 'two', 'three'].map(disk),
    classes: [sampleClass('made', { provisioner: driver })],
    csiNodes: limit === undefined ? [] : [sampleCsiNode('node', driver, limit)],
  })
const refused = { node: 'node(s) exceed max volume count' }

describe('NodeVolumeLimits', () => {
  it.each([
    ['one more than there may be', world(2, 'one', 'two'), ['three'], refused],
    ['as many as there may be', world(2, 'one'), ['three'], {}],
    ['one that is attached already', world(2, 'one', 'two'), ['two'], {}],
    ['one that is still to be made', world(2, 'one', 'two'), ['new'], refused],
    ['two at once', world(2, 'one'), ['two', 'three'], refused],
    ['any number where there is no limit', world(undefined, 'one', 'two'), ['three'], {}],
    ['none', world(0), [], {}],
  ])('judges a pod with %s', (_, sketch, wanted, expected) => {
    expect(rejections(nodeVolumeLimits, samplePod('web', { claims: wanted }), sketch)).toEqual(expected)
  })
})
