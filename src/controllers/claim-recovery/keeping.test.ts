import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimUsed } from '../../api/kinds/workloads/claim-recovery.ts'
import { boundByController, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import { type Case, snapshotOf, whyKept } from './keeping.ts'
import { ago, boundClaim, boundVolume, claimSays, markingNode, samplePod } from './sample.ts'

/** A claim that may go: nothing is known against it, and everything that is needed is known. */
const spotless: Case = {
  pod: samplePod(0),
  claim: boundClaim(0),
  others: [],
  storage: { volumes: [boundVolume(0), boundVolume(1)], claims: [boundClaim(0), boundClaim(1)] },
  nodes: [markingNode(), markingNode('n2')],
  allowsRetained: false,
}

const claim = (metadata: object, spec: object = {}, phase = 'Bound'): Partial<Case> => ({ claim: boundClaim(0, metadata, phase, spec) })
const volume = (metadata: object, spec: object = {}): Partial<Case> => ({ storage: { volumes: [boundVolume(0, metadata, spec)], claims: [] } })
const volumes = (...all: PersistentVolume[]): Partial<Case> => ({ storage: { volumes: all, claims: [] } })
const claims = (...all: PersistentVolumeClaim[]): Partial<Case> => ({ storage: { volumes: [boundVolume(0)], claims: all } })
const pod = (over: Parameters<typeof samplePod>[1]): Partial<Case> => ({ pod: samplePod(0, over) })
const ownedBy = (kind: string, apiVersion: string) => ({ ownerReferences: [{ apiVersion, kind, name: 'x', uid: 'x', controller: true }] })
const container = (state: object, more: object = {}) => ({ name: 'main', restartCount: 0, state, lastState: {}, ...more })
const pending = { volumeName: undefined }
const reserved = (over: object = {}) => boundVolume(0, { name: 'restored', annotations: {} }, { claimRef: { namespace: 'default', name: 'data-web-0', ...over } })
const clone = (dataSource: object, metadata: object = {}): PersistentVolumeClaim => boundClaim(2, { name: 'copy', uid: 'copy', ...metadata }, 'Bound', { dataSource })
const csi = (handle: string) => ({ hostPath: undefined, csi: { driver: 'disks', volumeHandle: handle } })
const named = (name: string, spec: object): PersistentVolume => boundVolume(1, { name }, spec)
const unknown = { conditions: [{ type: 'PodReadyToStartContainers', status: 'Unknown', lastTransitionTime: ago(600) }] }

describe('whyKept() lets a claim go', () => {
  it.each<[string, Partial<Case>]>([
    ['that was made with its pod, provisioned for it and never used', {}],
    ['that the set owns', claim(ownedBy('StatefulSet', 'apps/v1'))],
    ['that never had a volume', claim({}, pending, 'Pending')],
    ['whose volume is made and not bound yet', claim({}, pending, 'Pending')],
    ['of a pod that never had a node', { ...pod({ spec: { nodeName: undefined } }), nodes: [] }],
    ['whose volume stays behind, if the set allows that', { ...volume({}, { persistentVolumeReclaimPolicy: 'Retain' }), allowsRetained: true }],
    ['whose volume was made in the same second', volume({ creationTimestamp: ago(601) })],
  ])('%s', (_, more) => {
    expect(whyKept({ ...spotless, ...more })).toBeUndefined()
  })
})

describe('whyKept() keeps a claim', () => {
  it.each<[string, Partial<Case>, string]>([
    // Marks of nodes and controllers.
    ['that is marked', claim(claimSays({ [claimUsed]: '2026' })), 'it was used since 2026'],
    ['with another word for never', claim(claimSays({ [claimUsed]: 'Never' })), 'it was used since Never'],
    ['with an empty mark', claim(claimSays({ [claimUsed]: '' })), 'it was used since '],
    ['without a mark, which a user may have removed', claim(claimSays({ [claimUsed]: undefined })), 'nobody vouches that it was never used'],
    ['without annotations', claim({ annotations: {} }), 'nobody vouches that it was never used'],
    ['of somebody else', claim(ownedBy('Backup', 'example.com/v1')), 'it belongs to Backup x'],
    // Its first pod.
    ['whose pod is not its first', pod({ metadata: { annotations: {} } }), 'it was not made together with pod web-0'],
    ['that has the name of another one', claim({ uid: 'other' }), 'it was not made together with pod web-0'],
    ['whose uid is a part of another one', pod({ metadata: { annotations: { 'coxswain.dev/new-claims': 'uid-data-web-00' } } }), 'it was not made together with pod web-0'],
    // The history of its pod.
    ['whose pod has a sandbox', pod({ sandbox: { status: 'True', since: 600 } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose pod had a sandbox, and lost it', pod({ sandbox: { status: 'False', since: 60 } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose pod runs an init container', pod({ status: { initContainerStatuses: [container({ running: {} })] } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose pod has run a container', pod({ status: { containerStatuses: [container({ terminated: { exitCode: 0 } })] } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose pod ran one before', pod({ status: { containerStatuses: [container({ waiting: {} }, { restartCount: 1 })] } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose pod was looked into', pod({ status: { ephemeralContainerStatuses: [container({ running: {} })] } }), 'pod web-0 has had a ready sandbox with it'],
    ['whose node cannot vouch for the past', pod({ status: unknown }), 'it is not known whether pod web-0 ever had a ready sandbox'],
    ['whose node says nothing', pod({ sandbox: undefined }), 'it is not known whether pod web-0 ever had a ready sandbox'],
    ['whose node does not say since when', pod({ status: { startTime: undefined } }), 'it is not known whether pod web-0 ever had a ready sandbox'],
    // Other users.
    ['that another pod names', { others: [samplePod(5)] }, 'it is used by pod web-5, too'],
    ['that a pod names which has not started', { others: [samplePod(5, { spec: { nodeName: undefined } })] }, 'it is used by pod web-5, too'],
    ['if the node does not mark claims, as a kubelet does not', { nodes: [markingNode('n1', {})] }, 'node n1 does not mark claims'],
    ['if another node does not', { nodes: [markingNode(), markingNode('n2', {})] }, 'node n2 does not mark claims'],
    ['if a node says something else', { nodes: [markingNode('n1', { 'coxswain.dev/marks-claims': 'yes' })] }, 'node n1 does not mark claims'],
    ['if its node is gone', { nodes: [markingNode('n2')] }, 'node n1 is gone'],
    // The source of its volume.
    ['with a data source', claim({}, { dataSource: { kind: 'VolumeSnapshot', name: 's' } }), 'it has a data source, VolumeSnapshot s'],
    ['with a populator', claim({}, { dataSourceRef: { kind: 'Importer', name: 'i' } }), 'it has a data source, Importer i'],
    ['with a data source, also before it has a volume', claim({}, { ...pending, dataSource: { kind: 'VolumeSnapshot', name: 's' } }, 'Pending'), 'it has a data source'],
    ['that was cloned', claims(clone({ kind: 'PersistentVolumeClaim', name: 'data-web-0' })), 'claim copy is a clone of it'],
    ['that is being cloned from another namespace', claims(boundClaim(2, { name: 'copy', uid: 'copy', namespace: 'other' }, 'Pending', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'data-web-0', namespace: 'default' } })), 'claim copy is a clone of it'],
    // Its volume.
    ['whose volume was not provisioned: a restored backup', volume({ annotations: {} }), 'was not provisioned'],
    ['whose volume says nothing of who made it', volume({ annotations: { [provisionedBy]: '' } }), 'was not provisioned'],
    ['whose volume was chosen by the binder', volume({ annotations: { [provisionedBy]: 'x', [boundByController]: 'yes' } }), 'was there before, and was chosen for it'],
    ['whose volume is older', volume({ creationTimestamp: ago(602) }), 'was there before it'],
    ['whose volume does not say when it was made', volume({ creationTimestamp: undefined }), 'was there before it'],
    ['whose volume is of another claim of the same name', volume({}, { claimRef: { namespace: 'default', name: 'data-web-0', uid: 'earlier' } }), 'is not bound to it'],
    ['whose volume has no claim', volume({}, { claimRef: undefined }), 'is not bound to it'],
    ['whose volume is reserved by its name alone', volume({}, { claimRef: { namespace: 'default', name: 'data-web-0' } }), 'is not bound to it'],
    ['whose volume was restored with all annotations', { ...claim({}, { volumeName: 'pvc-old' }), ...volume({ name: 'pvc-old' }) }, 'does not have its uid in its name'],
    ['whose volume a user has chosen', claim(claimSays({ [boundByController]: undefined })), 'it names its volume'],
    ['whose volume is gone', volumes(), 'is gone, and nobody can tell what was on it'],
    ['that has lost its volume', claim({}, {}, 'Lost'), 'it has lost its volume'],
    ['that has had a volume', claim(claimSays({ 'pv.kubernetes.io/bind-completed': 'yes' }), pending, 'Pending'), 'it has had a volume'],
    ['for which a volume was restored', { ...claim({}, pending, 'Pending'), ...volumes(reserved()) }, 'volume restored is reserved for it'],
    ['for which a volume was restored, and is bound just now', { ...claim({}, pending, 'Pending'), ...volumes(reserved({ uid: 'uid-data-web-0' })) }, 'volume restored is reserved for it'],
    // Its deletion.
    ['whose volume stays behind', volume({}, { persistentVolumeReclaimPolicy: 'Retain' }), 'has the reclaim policy Retain'],
    ['whose volume is to be recycled', { ...volume({}, { persistentVolumeReclaimPolicy: 'Recycle' }), allowsRetained: true }, 'has the reclaim policy Recycle'],
    ['whose volume does not say', volume({}, { persistentVolumeReclaimPolicy: undefined }), 'has the reclaim policy undefined'],
    ['whose disk another volume has, too', volumes(boundVolume(0, {}, csi('d')), named('twin', csi('d'))), 'has the same storage as volume twin'],
    ['whose directory another volume has, too', volumes(boundVolume(0), named('twin', { hostPath: { path: '/volumes/0' } })), 'has the same storage as volume twin'],
    ['whose directory another volume writes with a slash', volumes(boundVolume(0), named('twin', { hostPath: { path: '/volumes//0/' } })), 'has the same storage as volume twin'],
    ['whose directory another volume has a part of', volumes(boundVolume(0), named('twin', { hostPath: { path: '/volumes/0/sub' } })), 'has the same storage as volume twin'],
    ['whose directory is a part of another volume', volumes(boundVolume(0), named('twin', { hostPath: { path: '/volumes' } })), 'has the same storage as volume twin'],
    ['whose directory another volume calls local', volumes(boundVolume(0), named('twin', { hostPath: undefined, local: { path: '/volumes/0' } })), 'has the same storage as volume twin'],
  ])('%s', (_, more, why) => {
    expect(whyKept({ ...spotless, ...more })).toContain(why)
  })
})

describe('snapshotOf()', () => {
  const disks = [boundVolume(0, {}, csi('d'))]
  it.each<[string, Parameters<typeof snapshotOf>[2], string | undefined]>([
    ['finds none', [], undefined],
    ['finds that of the claim', [{ snapshot: 's', claim: 'data-web-0' }], 's'],
    ['finds that of the volume', [{ snapshot: 's', driver: 'disks', handle: 'd' }], 's'],
    ['leaves out that of another claim', [{ snapshot: 's', claim: 'data-web-1' }], undefined],
    ['leaves out that of another driver', [{ snapshot: 's', driver: 'others', handle: 'd' }], undefined],
  ])('%s', (_, sources, wanted) => {
    expect(snapshotOf(boundClaim(0), disks, sources)).toBe(wanted)
  })
})

it('a sandbox that came and went in the second of the start is caught by the mark alone', () => {
  const quick: Pod = samplePod(0, { sandbox: { status: 'False', since: 599 } })
  expect(whyKept({ ...spotless, pod: quick })).toBeUndefined()
  expect(whyKept({ ...spotless, pod: quick, ...claim(claimSays({ [claimUsed]: '2026' })) })).toBe('it was used since 2026')
})
