import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../../resource-trial.ts'
import { persistentvolumes } from './persistentvolumes.ts'

const trial = new DecodedTrial(persistentvolumes, Date.UTC(2020, 0, 1))

const base = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } }
const affinity = (key: string) => ({ required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] } })
/** A spec without the source of the base. */
const sourced = (source: object) => {
  const { hostPath: _h, ...rest } = base
  return { ...rest, ...source }
}

describe('persistentvolumes', () => {
  it('are filled in', () => {
    const pv = trial.created({ spec: base, status: { phase: 'Bound' } })
    expect(pv.spec).toEqual({ ...base, hostPath: { path: '/d', type: '' }, persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' })
    expect(pv.status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' })
  })

  it('have defaults by source', () => {
    const { azureDisk } = trial.created({ spec: sourced({ azureDisk: { diskName: 'd', diskURI: 'https://a/d.vhd' } }) }).spec
    expect(azureDisk).toMatchObject({ cachingMode: 'ReadWrite', fsType: 'ext4', kind: 'Shared', readOnly: false })
    const { rbd } = trial.created({ spec: sourced({ rbd: { monitors: ['m'], image: 'i' } }) }).spec
    expect(rbd).toMatchObject({ pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })
  })

  it.each<[string, object, string[]]>([
    ['a plain one', base, []],
    ['no spec', {}, [
      'spec.accessModes: Required value', 'spec.capacity: Required value', 'spec.capacity: Unsupported value: null: supported values: "storage"',
      'spec: Required value: must specify a volume type',
    ]],
    ['two sources', { ...base, nfs: { server: 's', path: '/p' } }, ['spec.nfs: Forbidden: may not specify more than 1 volume type']],
    ['an unknown access mode', { ...base, accessModes: ['Often'] }, [
      'spec.accessModes: Unsupported value: "Often": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ]],
    ['a pod’s own mode beside another', { ...base, accessModes: ['ReadWriteOncePod', 'ReadWriteMany'] }, [
      'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
    ]],
    ['a negative capacity', { ...base, capacity: { storage: '-1Gi' } }, [
      'spec.capacity[storage]: Invalid value: -1073741824: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-1Gi": must be greater than zero',
    ]],
    ['a negative capacity of many digits', { ...base, capacity: { storage: '-9007199254740993' } }, [
      'spec.capacity[storage]: Invalid value: -9007199254740993: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-9007199254740993": must be greater than zero',
    ]],
    ['a capacity of something else', { ...base, capacity: { cpu: '1' } }, ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"']],
    ['an unknown reclaim policy', { ...base, persistentVolumeReclaimPolicy: 'Keep' }, [
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
    ]],
    ['Recycle of the root', { ...base, hostPath: { path: '/.' }, persistentVolumeReclaimPolicy: 'Recycle' }, [
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ]],
    ['an unknown mode', { ...base, volumeMode: 'Tape' }, ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
    ['an empty affinity', { ...base, nodeAffinity: { required: { nodeSelectorTerms: [] } } }, [
      'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
    ]],
    ['an affinity without its constraints', { ...base, nodeAffinity: {} }, ['spec.nodeAffinity.required: Required value: must specify required node constraints']],
    ['a local volume anywhere', sourced({ local: { path: '/p' } }), ['spec.nodeAffinity: Required value: Local volume requires node affinity']],
    ['a local volume with steps up', { ...sourced({ local: { path: '/p/..' } }), nodeAffinity: affinity('zone') }, [
      'spec.local.path: Invalid value: "/p/..": must not contain \'..\'',
    ]],
    ['an attributes class without CSI', { ...base, volumeAttributesClassName: '' }, [
      'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
      'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ]],
    ['CSI without its fields', sourced({ csi: { driver: '', volumeHandle: '', nodePublishSecretRef: { name: 's' } } }), [
      'spec.csi.driver: Required value', 'spec.csi.volumeHandle: Required value', 'spec.csi.nodePublishSecretRef.namespace: Required value',
    ]],
    ['NFS without its fields', sourced({ nfs: { server: '', path: 'p' } }), [
      'spec.nfs.server: Required value', 'spec.nfs.path: Invalid value: "p": must be an absolute path',
    ]],
    ['a disk under its other name', sourced({ gcePersistentDisk: { pdName: '' } }), ['spec.persistentDisk.pdName: Required value']],
    ['a file share with an empty namespace', sourced({ azureFile: { secretName: 's', shareName: 'n', secretNamespace: '' } }), [
      'spec.azureFile.secretNamespace: Required value',
    ]],
    ['endpoints in an empty namespace', sourced({ glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: '' } }), [
      'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name',
    ]],
  ])('says of %s', (_, spec, refusals) => {
    expect(trial.refusals({ spec })).toEqual(refusals)
  })

  it.each<[string, object, object, string[]]>([
    ['the reclaim policy may change', base, { ...base, persistentVolumeReclaimPolicy: 'Delete' }, []],
    ['an affinity may be set', base, { ...base, nodeAffinity: affinity('zone') }, []],
    ['an affinity may get the new name of a label', { ...base, nodeAffinity: affinity('failure-domain.beta.kubernetes.io/zone') }, {
      ...base, nodeAffinity: affinity('topology.kubernetes.io/zone'),
    }, []],
    ['an affinity stays', { ...base, nodeAffinity: affinity('a') }, { ...base, nodeAffinity: affinity('b') }, [
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"b","Operator":"In","Values":["a"]}],"MatchFields":null}]}}: field is immutable',
    ]],
    ['the mode stays', base, { ...base, volumeMode: 'Block' }, ['volumeMode: Invalid value: "Block": field is immutable']],
    ['a secret for growing may be added', sourced({ csi: { driver: 'd', volumeHandle: 'h' } }), sourced({
      csi: { driver: 'd', volumeHandle: 'h', controllerExpandSecretRef: { name: 's', namespace: 'n' } },
    }), []],
    ['an attributes class is not taken back', sourced({ csi: { driver: 'd', volumeHandle: 'h' }, volumeAttributesClassName: 'v' }), sourced({
      csi: { driver: 'd', volumeHandle: 'h' },
    }), ['spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden']],
  ])('%s', (_, before, after, refusals) => {
    expect(trial.updateRefusals(trial.created({ spec: before }), { spec: after })).toEqual(refusals)
  })

  it('keep their source, and show how it would change', () => {
    const [refusal] = trial.updateRefusals(trial.created({ spec: base }), { spec: { ...base, hostPath: { path: '/e' } } })
    expect(refusal).toBe(
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/d",\n+  "Path": "/e",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    )
  })

  it.each([
    ['a new phase gets the time', { phase: 'Bound' }, '2021-01-01T00:00:00Z'],
    ['a phase with a time keeps it', { phase: 'Bound', lastPhaseTransitionTime: '2019-01-01T00:00:00Z' }, '2019-01-01T00:00:00Z'],
    ['the same phase keeps the old time', { phase: 'Pending', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' }, '2020-01-01T00:00:00Z'],
  ])('status: %s', (_, status, time) => {
    const old = trial.created({ spec: base })
    const pv = { ...old, spec: { ...base, capacity: { storage: '9Gi' } }, status: { ...status } }
    persistentvolumes.status!.prepare(pv, old, { gates: undefined as never, now: Date.UTC(2021, 0, 1) })
    expect(pv.status.lastPhaseTransitionTime).toBe(time)
    expect(pv.spec).toBe(old.spec)
  })

  it('are shown with their claim, and Terminating when they go', () => {
    const pv = trial.created({ spec: { ...base, accessModes: ['ReadOnlyMany', 'ReadWriteOnce'], claimRef: { namespace: 'n', name: 'c' }, storageClassName: 'sc' } })
    expect(trial.cells(pv)).toMatchObject({ Capacity: '1Gi', 'Access Modes': 'RWO,ROX', Status: 'Pending', Claim: 'n/c', StorageClass: 'sc', VolumeMode: 'Filesystem' })
    expect(trial.cells({ ...pv, metadata: { ...pv.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' } })).toMatchObject({ Status: 'Terminating' })
  })

  it.each([
    [{ ...base, persistentVolumeReclaimPolicy: 'Recycle' }, 'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated.'],
    [{ ...base, nodeAffinity: affinity('beta.kubernetes.io/os') }, 'key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead'],
    [sourced({ cephfs: { monitors: ['m'] } }), 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+'],
  ])('warn of what is old: %j', (spec, warning) => {
    expect(trial.warnings(trial.created({ spec })).join()).toContain(warning)
  })
})
