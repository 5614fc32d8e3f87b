import { describe, expect, it } from 'vitest'
import { Path } from '../../../../api/validation/path.ts'
import { DecodedTrial } from '../../resource-trial.ts'
import { claimSpecWarnings, persistentvolumeclaims } from './persistentvolumeclaims.ts'

const trial = new DecodedTrial(persistentvolumeclaims)
const beta = 'volume.beta.kubernetes.io/storage-class'

const sized = (storage: string, more: object = {}) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more })
const base = sized('1Gi')
const bound = (spec: object, capacity = '1Gi', more: object = {}) => ({ ...trial.created({ spec }), status: { phase: 'Bound', capacity: { storage: capacity }, ...more } })

describe('persistentvolumeclaims', () => {
  it('are filled in', () => {
    const claim = trial.created({ spec: base, status: { phase: 'Bound', capacity: { storage: '5Gi' } } })
    expect(claim.spec).toEqual({ ...base, volumeMode: 'Filesystem' })
    expect(claim.status).toEqual({ phase: 'Pending' })
  })

  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }
  const claim = { apiGroup: null, kind: 'PersistentVolumeClaim', name: 's' }
  const thing = { apiGroup: 'example.com', kind: 'Thing', name: 's' }
  it.each([
    ['a source is copied to the reference', { dataSource: snapshot }, snapshot, snapshot],
    ['a reference is copied to the source', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 's' } }, claim, claim],
    ['a source of another kind is dropped', { dataSource: thing }, undefined, undefined],
    ['a reference to another kind stays', { dataSourceRef: thing }, thing, thing],
    ['a reference into another namespace is dropped', { dataSourceRef: { ...claim, namespace: 'other' } }, undefined, undefined],
  ])('%s', (_, given, source, ref) => {
    const { spec } = trial.created({ spec: { ...base, ...given } })
    expect([spec.dataSource, spec.dataSourceRef]).toEqual([source, ref])
  })

  it('keep a source of another kind that was once taken', () => {
    const old = trial.created({ spec: base })
    old.spec.dataSource = old.spec.dataSourceRef = thing
    expect(trial.updated(old, { spec: { ...base, dataSource: thing } }).spec).toMatchObject({ dataSource: thing, dataSourceRef: thing })
  })

  it.each<[string, object, string[]]>([
    ['a plain one', base, []],
    ['no spec', {}, ['spec.accessModes: Required value: at least 1 access mode is required', 'spec.resources[storage]: Required value']],
    ['a request of 0', sized('0'), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
    ['sources that disagree', { ...base, dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' } }, [
      'spec: Invalid value: {}: must match dataSourceRef',
    ]],
  ])('says of %s', (_, spec, refusals) => {
    expect(trial.refusals({ spec })).toEqual(refusals)
  })

  const immutable = 'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
  it.each<[string, any, object, string[]]>([
    ['the volume may be set once', trial.created({ spec: base }), { ...base, volumeName: 'v' }, []],
    ['the volume stays', trial.created({ spec: { ...base, volumeName: 'a' } }), { ...base, volumeName: 'b' }, [immutable]],
    ['the class may be set later', trial.created({ spec: base }), { ...base, storageClassName: 'sc' }, []],
    ['the class stays', trial.created({ spec: { ...base, storageClassName: 'a' } }), { ...base, storageClassName: 'b' }, [immutable]],
    ['a pending claim does not grow', trial.created({ spec: base }), sized('2Gi'), [immutable]],
    ['a bound claim grows', bound(base), sized('2Gi'), []],
    ['a growth may be taken back', bound(sized('3Gi')), sized('2Gi'), []],
    ['but not below what there is', bound(sized('3Gi'), '2Gi'), sized('1Gi'), [
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]],
    ['a bound claim may change its attributes class', bound({ ...base, volumeAttributesClassName: 'a' }), { ...base, volumeAttributesClassName: 'b' }, []],
    ['an attributes class in force is not taken back', bound({ ...base, volumeAttributesClassName: 'a' }, '1Gi', { currentVolumeAttributesClassName: 'a' }), base, [
      'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
    ]],
    ['the mode stays', trial.created({ spec: base }), { ...base, volumeMode: 'Block' }, [immutable, 'volumeMode: Invalid value: "Block": field is immutable']],
  ])('%s', (_, old, spec, refusals) => {
    expect(trial.updateRefusals(old, { spec }).map((refusal) => refusal.split('\n')[0])).toEqual(refusals)
  })

  it('show how the spec would change', () => {
    expect(trial.updateRefusals(trial.created({ spec: base }), { spec: sized('2Gi') })).toEqual([
      `${immutable}\n@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n`,
    ])
  })

  it('move their class from the annotation of old to the field', () => {
    const old = trial.created({ metadata: { annotations: { [beta]: 'sc' } }, spec: base })
    expect(trial.updateRefusals(old, { metadata: { annotations: {} }, spec: { ...base, storageClassName: 'sc' } })).toEqual([])
    expect(trial.updateRefusals(old, { metadata: { annotations: { [beta]: 'other' } }, spec: base })).toEqual([
      `metadata.annotations.${beta}: Invalid value: "other": field is immutable`,
    ])
  })

  it.each([
    ['a negative capacity', { capacity: { storage: '-1Gi' } }, ['status.capacity[storage]: Invalid value: -1073741824: must be a valid resource quantity']],
    ['an unknown resize status', { allocatedResourceStatuses: { storage: 'Odd' } }, [
      'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ]],
    ['another resource', { allocatedResources: { cpu: '1' } }, ['status.allocatedResources: Unsupported value: "cpu": supported values: "storage"']],
    ['all well', { phase: 'Bound', capacity: { storage: '1Gi' }, allocatedResources: { storage: '1Gi' } }, []],
  ])('status says of %s', (_, status, refusals) => {
    expect(trial.statusRefusals(trial.created({ spec: base }), status)).toEqual(refusals)
  })

  it('warn of fractions and of the annotation of old', () => {
    const claim = trial.created({ metadata: { annotations: { [beta]: 'sc' } }, spec: sized('1500m') })
    expect(trial.warnings(claim)).toEqual([
      `metadata.annotations[${beta}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ])
    expect(claimSpecWarnings(base, Path.of('spec'))).toEqual([])
  })

  it('are shown with what they have once they have a volume', () => {
    expect(trial.cells(trial.created({ spec: base }))).toMatchObject({ Status: 'Pending', Capacity: '', 'Access Modes': '', VolumeAttributesClass: '<unset>' })
    const claim = { ...bound({ ...base, volumeName: 'v' }, '2Gi', { accessModes: ['ReadWriteOnce'] }) }
    expect(trial.cells(claim)).toMatchObject({ Status: 'Bound', Volume: 'v', Capacity: '2Gi', 'Access Modes': 'RWO' })
  })
})
