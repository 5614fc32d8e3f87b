import { describe, expect, it } from 'vitest'
import type { Node, PersistentVolume, StorageClass } from '../../api/generated/types.ts'
import {
  localPathFinalizer, localPathNode, localPathProvisioner, removesLocalPaths,
} from '../../api/kinds/volumes/storage-classes.ts'
import { sampleClaim, sampleClass, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import { provisionedBy, storageProvisioners } from '../../api/kinds/volumes/volume-binding.ts'
import { type Observed, plan } from './provision.ts'
import { plan as planRemoval } from './remove.ts'
import { isStandardMissing } from './standard-class.ts'

const ours = (more: Partial<StorageClass> = {}) => sampleClass('slow', { provisioner: localPathProvisioner, ...more })
const annotations = { [storageProvisioners[1]]: localPathProvisioner }
const asking = (spec: object = {}) => sampleClaim('c', { metadata: { name: 'c', namespace: 'default', uid: 'u', annotations }, spec })
const place = { root: '/volumes/', node: 'n1', nodeObject: undefined }

function words(what: Partial<Observed>): string {
  const { actions, wait = '' } = plan({ claim: asking(), storageClass: ours(), isMade: false, place, refused: undefined, ...what })
  return [...actions.map((action) => (action.kind === 'Make' ? `Make ${action.volume.spec?.hostPath?.path}` : action.kind)), wait].filter((part) => part).join(': ')
}

const possible = 'ReadWriteOnce and ReadWriteOncePod are possible'
const madePath = 'Make /volumes/pvc-u_default_c'

describe('plan() of a claim', () => {
  const nowhere = { ...place, node: undefined }
  it.each<[string, Partial<Observed>, string]>([
    ['a volume is made', {}, madePath],
    ['not for a claim that asks somebody else', { claim: sampleClaim('c') }, ''],
    ['not for a claim that has one', { claim: asking({ volumeName: 'v' }) }, ''],
    ['not twice', { isMade: true }, ''],
    ['not for a class of somebody else', { storageClass: sampleClass('slow') }, ''],
    ['not before there is a consumer', { storageClass: ours({ volumeBindingMode: 'WaitForFirstConsumer' }), place: nowhere }, 'no pod that uses the claim is scheduled yet'],
    ['without a consumer where none is waited for', { place: nowhere }, madePath],
    ['not for many nodes', { claim: asking({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }) }, `Refuse: a local path is on one node: ${possible}, ReadOnlyMany is not`],
    ['for one pod', { claim: asking({ accessModes: ['ReadWriteOncePod'] }) }, madePath],
    ['not as a device', { claim: asking({ volumeMode: 'Block' }) }, 'Refuse: a local path is a directory, not a block device'],
    ['not from a snapshot', { claim: asking({ dataSource: { kind: 'PersistentVolumeClaim', name: 'd' } }) }, 'Refuse: a local path cannot be created from a data source'],
    ['not to be selected', { claim: asking({ selector: {} }) }, 'Refuse: a dynamically provisioned volume does not support a selector'],
    ['not with mount options', { storageClass: ours({ mountOptions: ['ro'] }) }, 'Refuse: a local path has no mount options'],
    ['not with parameters', { storageClass: ours({ parameters: { a: 'b' } }) }, 'Refuse: unknown parameter "a": local paths have no parameters'],
    ['and that is said once', { storageClass: ours({ mountOptions: ['ro'] }), refused: 'a local path has no mount options' }, 'a local path has no mount options'],
  ])('%s', (_, what, actions) => {
    expect(words(what)).toBe(actions)
  })

  it.each([
    ['has a directory to be removed', 'Delete', 'n1', [localPathFinalizer]],
    ['has none if it is kept', 'Retain', 'n1', undefined],
    ['has none if nobody knows where', 'Delete', undefined, undefined],
  ])('the volume %s', (_, reclaimPolicy, node, finalizers) => {
    const { actions } = plan({ claim: asking(), storageClass: ours({ reclaimPolicy }), isMade: false, place: { ...place, node }, refused: undefined })
    expect(actions).toMatchObject([{ kind: 'Make', volume: { spec: { persistentVolumeReclaimPolicy: reclaimPolicy } } }])
    expect(actions[0]?.kind === 'Make' && actions[0].volume.metadata.finalizers).toEqual(finalizers)
  })
})

describe('plan() of a volume', () => {
  const volume = (phase: string, metadata: object = {}, policy = 'Delete') =>
    sampleVolume('v', {
      metadata: { name: 'v', annotations: { [provisionedBy]: localPathProvisioner, [localPathNode]: 'n1' }, finalizers: [localPathFinalizer], ...metadata },
      spec: { persistentVolumeReclaimPolicy: policy },
      status: { phase },
    })
  const going = { deletionTimestamp: 'now' }
  const node = (removes: boolean) => ({ metadata: { name: 'n1', annotations: removes ? { [removesLocalPaths]: 'true' } : {} } }) as Node
  it.each<[string, PersistentVolume, Node | undefined, string[], string?]>([
    ['one in use stays', volume('Bound'), undefined, []],
    ['a released one is deleted', volume('Released'), undefined, ['Delete']],
    ['a released one that is to be kept stays', volume('Released', {}, 'Retain'), undefined, []],
    ['that of others is theirs', volume('Released', { annotations: {} }), undefined, []],
    ['one in use that somebody deletes waits for its claim', volume('Bound', going), undefined, []],
    ['a deleted one goes if its node is gone', volume('Released', going), undefined, ['LetGo']],
    ['a deleted one goes if its node removes no directories', volume('Released', going), node(false), ['LetGo']],
    ['a deleted one waits for a node that does', volume('Released', going), node(true), [], 'node n1 removes the directory /d'],
    ['one that waits for others only is theirs', volume('Released', { ...going, finalizers: ['x'] }), node(false), []],
  ])('%s', (_, given, at, kinds, wait) => {
    const step = planRemoval({ volume: given, node: at })
    expect([step.actions.map((action) => action.kind), step.wait]).toEqual([kinds, wait])
  })
})

describe('isStandardMissing()', () => {
  const asDefault = { metadata: { name: 'mine', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }
  it.each([
    ['there is no class', [], true],
    ['there is one, and it is not the default', [sampleClass('mine')], true],
    ['somebody has made a default', [sampleClass('mine', asDefault)], false],
    ['somebody has one of that name, default or not', [sampleClass('standard')], false],
  ])('%s', (_, classes, is) => {
    expect(isStandardMissing(classes)).toBe(is)
  })
})
