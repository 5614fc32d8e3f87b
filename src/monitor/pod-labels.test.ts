import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../api/generated/types.ts'
import { PodLabels } from './pod-labels.ts'

const claims = new Map<string, object>([
  ['n/fast', { metadata: {}, spec: { storageClassName: 'ssd' } }],
  ['n/old', { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'tape' } }, spec: {} }],
  ['n/none', { metadata: {}, spec: {} }],
  ['n/p-scratch', { metadata: {}, spec: { storageClassName: 'default-class' } }],
])

const labelsOf = (pod: object, groups: string[] = []) => new PodLabels(groups, (key) => claims.get(key) as PersistentVolumeClaim | undefined).of({ metadata: { name: 'p', namespace: 'n' }, spec: {}, ...pod } as Pod)
const volumes = (...of: object[]) => ({ spec: { volumes: of.map((one, i) => ({ name: `v${i}`, ...one })) } })
const claim = (claimName: string) => ({ persistentVolumeClaim: { claimName } })

describe('PodLabels.of() has', () => {
  it.each<[string, object, Record<string, string>]>([
    ['nothing much of a plain pod', {}, { namespace: 'n', runtime_class: '', storage_classes: '', volumes: '0' }],
    ['the runtime class', { spec: { runtimeClassName: 'microvm' } }, { runtime_class: 'microvm' }],
    ['the number of volumes of any sort', volumes({ emptyDir: {} }, claim('fast')), { volumes: '2', storage_classes: 'ssd' }],
    ['the classes of all claims, sorted, once each', volumes(claim('old'), claim('fast'), claim('fast'), claim('none'), claim('unknown')), { storage_classes: 'ssd,tape' }],
    ['the class that was chosen for a claim made for the pod', volumes({ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }), { storage_classes: 'default-class' }],
    ['the class of a template whose claim is not there yet', volumes({ ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'ssd' } } } }), { storage_classes: 'ssd' }],
  ])('%s', (_, pod, expected) => expect(labelsOf(pod)).toMatchObject(expected))

  it('the labels and annotations that were chosen, cut where they are long', () => {
    const metadata = { name: 'p', namespace: 'n', labels: { 'app.kubernetes.io/name': 'web', other: 'x' }, annotations: { costCenter: 'c'.repeat(1000) } }
    const { label_app_kubernetes_io_name, label_tier, annotation_cost_center, ...rest } = labelsOf({ metadata }, ['label:app.kubernetes.io/name', 'label:tier', 'annotation:costCenter', 'namespace'])
    expect([label_app_kubernetes_io_name, label_tier, annotation_cost_center?.length]).toEqual(['web', '', 256])
    expect(Object.keys(rest)).toEqual(['namespace', 'runtime_class', 'storage_classes', 'volumes'])
  })
})

it('new PodLabels() refuses labels that could not be told apart', () => {
  expect(() => labelsOf({}, ['label:a.b', 'label:a/b'])).toThrow('labels "a.b" and "a/b" would both become label label_a_b')
})
