import { describe, expect, it } from 'vitest'
import type { CSIDriver, CSIStorageCapacity } from '../../../api/generated/types.ts'
import { selectedNode } from '../../../api/kinds/volumes/volume-binding.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import type { NodeFilter } from '../plugin.ts'
import { sampleClaim, sampleClass, sampleVolume } from '../sample-volumes.ts'
import { type WorldSketch, rejections, sampleNode, samplePod, sampleWorld } from '../sample-world.ts'
import type { VolumePlan } from './find-volumes.ts'
import { volumeBinding } from './volume-binding.ts'

const plugin = volumeBinding({ bind: () => Promise.resolve() })
const nodes = [sampleNode('a', { labels: { zone: 'x' } }), sampleNode('b')]
const made = sampleClass('made')
const byHand = sampleClass('by-hand', { provisioner: 'kubernetes.io/no-provisioner' })
const atOnce = sampleClass('at-once', { volumeBindingMode: 'Immediate' })
const classes = [made, byHand, atOnce]
const pod = samplePod('web', { claims: ['data'] })

const conflict = 'node(s) had volume node affinity conflict (final)'
const noVolume = "node(s) didn't find available persistent volumes to bind (final)"
const gone = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s) (final)'
const driver = { metadata: { name: 'example.com/disks' }, spec: { storageCapacity: true } } as CSIDriver
const room = (capacity: string, labels: Record<string, string>): CSIStorageCapacity =>
  ({ metadata: { name: 'c', namespace: 'kube-system' }, storageClassName: 'made', capacity, nodeTopology: { matchLabels: labels } }) as CSIStorageCapacity

describe('VolumeBinding', () => {
  it.each<[string, Partial<WorldSketch>, object | string]>([
    ['a claim that is missing', {}, 'persistentvolumeclaim "data" not found (final)'],
    ['a claim that has lost its volume', { claims: [sampleClaim('data', 'made', { volume: 'v', status: { phase: 'Lost' } })] }, 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v" (final)'],
    ['a claim that is going', { claims: [sampleClaim('data', 'made', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })] }, 'persistentvolumeclaim "data" is being deleted (final)'],
    ['a claim that somebody else has to bind', { claims: [sampleClaim('data', 'at-once')] }, 'pod has unbound immediate PersistentVolumeClaims (final)'],
    ['a claim whose class is unknown', { claims: [sampleClaim('data', 'none')] }, 'pod has unbound immediate PersistentVolumeClaims (final)'],
    ['a volume that every node reaches', { claims: [sampleClaim('data', 'made', { volume: 'v' })], volumes: [sampleVolume('v', 'made')] }, {}],
    ['a volume that one node reaches', { claims: [sampleClaim('data', 'made', { volume: 'v' })], volumes: [sampleVolume('v', 'made', { node: 'b' })] }, { a: conflict }],
    ['a volume that is gone', { claims: [sampleClaim('data', 'made', { volume: 'v' })] }, { a: gone, b: gone }],
    ['a volume that will be made', { claims: [sampleClaim('data', 'made')] }, {}],
    ['a volume that is being made for a node', { claims: [sampleClaim('data', 'made', { metadata: { annotations: { [selectedNode]: 'b' } } })] }, { a: noVolume }],
    ['a volume that nobody makes', { claims: [sampleClaim('data', 'by-hand')] }, { a: noVolume, b: noVolume }],
    ['a volume that is free on one node', { claims: [sampleClaim('data', 'by-hand')], volumes: [sampleVolume('v', 'by-hand', { node: 'a' })] }, { b: noVolume }],
    ['a volume that is too small', { claims: [sampleClaim('data', 'by-hand', { size: '2Gi' })], volumes: [sampleVolume('v', 'by-hand')] }, { a: noVolume, b: noVolume }],
    ['a volume that may be made in some places only', { claims: [sampleClaim('data', 'made')], classes: [{ ...made, allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['x'] }] }] }] }, { b: noVolume }],
    ['a driver that has enough space in one place', { claims: [sampleClaim('data', 'made')], drivers: [driver], capacities: [room('5Gi', { zone: 'x' })] }, { b: 'node(s) did not have enough free storage (final)' }],
    ['a driver that has too little space', { claims: [sampleClaim('data', 'made', { size: '6Gi' })], drivers: [driver], capacities: [room('5Gi', {})] }, { a: 'node(s) did not have enough free storage (final)', b: 'node(s) did not have enough free storage (final)' }],
  ])('judges a pod with %s', (_, sketch, expected) => {
    expect(rejections(plugin, pod, sampleWorld({ nodes, classes, ...sketch }))).toEqual(expected)
  })

  it('says who has to make the claim of an ephemeral volume', () => {
    const own = samplePod('web', { spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } })
    expect(rejections(plugin, own, sampleWorld({ nodes }))).toBe('waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch" (final)')
    const foreign = sampleWorld({ nodes, claims: [sampleClaim('web-scratch', 'made')] })
    expect(rejections(plugin, own, foreign)).toBe('PVC default/web-scratch was not created for pod default/web (pod is not owner) (final)')
  })

  it('promises the smallest volume, and the same one to nobody else', () => {
    const claims = [sampleClaim('data', 'by-hand'), sampleClaim('more', 'by-hand')]
    const volumes = [sampleVolume('large', 'by-hand', { size: '9Gi' }), sampleVolume('small', 'by-hand')]
    const world = sampleWorld({ nodes, classes, claims, volumes })
    const plans: VolumePlan[] = []
    const noting = volumeBinding({ bind: async (_pod, _node, plan) => void plans.push(plan) })
    const reserve = (name: string) => (noting.filter(new PodInfo(samplePod(`pod-of-${name}`, { claims: [name] })), world) as NodeFilter).reserve!(world.cluster.node('a')!)!
    const [first, second] = [reserve('data'), reserve('more')]
    expect([world.volumePlans.claimOf('small'), world.volumePlans.claimOf('large')]).toEqual(['default/data', 'default/more'])
    first.undo()
    expect(world.volumePlans.claimOf('small')).toBeUndefined()
    void second.settle(new AbortController().signal)
    expect(plans[0]!.bind.map(({ volume }) => volume.metadata.name)).toEqual(['large'])
  })

  it('keeps two claims of one pod apart', () => {
    const both = samplePod('web', { claims: ['data', 'more'] })
    const claims = [sampleClaim('data', 'by-hand'), sampleClaim('more', 'by-hand')]
    expect(rejections(plugin, both, sampleWorld({ nodes, classes, claims, volumes: [sampleVolume('v', 'by-hand')] }))).toEqual({ a: noVolume, b: noVolume })
  })

  it.each([
    ['its claim changes', { kind: 'PersistentVolumeClaim', claim: sampleClaim('data', 'made') }, true],
    ['another claim changes', { kind: 'PersistentVolumeClaim', claim: sampleClaim('x', 'made') }, false],
    ['a volume comes', { kind: 'PersistentVolume', volume: sampleVolume('v', 'made') }, true],
    ['a class comes', { kind: 'StorageClass', storageClass: made }, true],
    ['a class stays as it is', { kind: 'StorageClass', before: made, storageClass: made }, false],
    ['a node tells how it is', { kind: 'NodeUpdate', before: nodes[0]!, node: nodes[0]! }, false],
  ] as const)('knows whether it helps when %s', (_, event, expected) => {
    expect(plugin.helps(event, new PodInfo(pod), sampleWorld())).toBe(expected)
  })
})
