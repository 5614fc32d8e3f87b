import { describe, expect, it } from 'vitest'
import { ResourceTrial } from '../resource-trial.ts'
import { statefulsets } from './statefulsets.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { serviceName: 's', selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}) => ({ spec: { ...spec, ...more } })
const rolling = (rollingUpdate: object) => draft({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
const claim = (name: string, storage = '1Gi') => ({ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } })
const trial = new ResourceTrial(statefulsets)
const withoutGates = new ResourceTrial(statefulsets, { StatefulSetConditions: false, MaxUnavailableStatefulSet: false })

const maxUnavailable = 'spec.updateStrategy.rollingUpdate.maxUnavailable'
const percentWords = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

describe('statefulsets', () => {
  it('fills in what is left out', () => {
    expect(trial.created(draft()).spec).toMatchObject({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 1 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 2147483647,
    })
  })

  it('fills in a rollingUpdate only where there is one or no type is given', () => {
    expect(trial.created(draft({ updateStrategy: { type: 'RollingUpdate' } })).spec.updateStrategy).toEqual({ type: 'RollingUpdate' })
    expect(trial.created(draft({ updateStrategy: { type: 'OnDelete' } })).spec.updateStrategy).toEqual({ type: 'OnDelete' })
  })

  it('makes whole claims of claim templates', () => {
    expect(trial.created(draft({ volumeClaimTemplates: [claim('data')] })).spec.volumeClaimTemplates[0]).toMatchObject({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: { volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    })
  })

  it.each([
    ['a plain one', draft(), []],
    ['no service', draft({ serviceName: undefined }), []],
    ['a service with a dot', draft({ serviceName: 'a.b' }), ['spec.serviceName: Invalid value: "a.b": must not contain dots']],
    [
      'an unknown podManagementPolicy',
      draft({ podManagementPolicy: 'Random' }),
      ['spec.podManagementPolicy: Invalid value: "Random": must be \'OrderedReady\' or \'Parallel\''],
    ],
    ['no first ordinal', draft({ ordinals: { start: -1 } }), ['spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0']],
    [
      'OnDelete with rollingUpdate',
      draft({ updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
      ['spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\''],
    ],
    ['maxUnavailable 0', rolling({ maxUnavailable: 0 }), [`${maxUnavailable}: Invalid value: 0: cannot be 0`]],
    ['maxUnavailable 0%', rolling({ maxUnavailable: '0%' }), [`${maxUnavailable}: Invalid value: "0%": cannot be 0`]],
    ['maxUnavailable 101%', rolling({ maxUnavailable: '101%' }), [`${maxUnavailable}: Invalid value: "101%": must not be greater than 100%`]],
    ['maxUnavailable -1', rolling({ maxUnavailable: -1 }), [`${maxUnavailable}: Invalid value: -1: must be greater than or equal to 0`]],
    ['maxUnavailable "3"', rolling({ maxUnavailable: '3' }), [`${maxUnavailable}: Invalid value: "3": ${percentWords}`]],
    ['maxUnavailable above replicas', rolling({ maxUnavailable: 5 }), []],
    ['a deadline of 0', draft({ progressDeadlineSeconds: 0 }), ['spec.progressDeadlineSeconds: Invalid value: 0: must be greater than 0']],
    [
      'a deadline before a pod can be available',
      draft({ progressDeadlineSeconds: 10, minReadySeconds: 10 }),
      ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
    ],
    ['a claim without a size', draft({ volumeClaimTemplates: [{ ...claim('data'), spec: { accessModes: ['ReadWriteOnce'] } }] }), [
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ]],
    [
      'an unknown retention policy',
      draft({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } }),
      ['spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"'],
    ],
  ])('says of %s: %j', (_, obj, refusals) => {
    expect(trial.refusals(obj)).toEqual(refusals)
  })

  it('lets containers mount the volumes that claims become, and claims take the place of volumes of their name', () => {
    const pod = { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/d' }] }], volumes: [{ name: 'data', emptyDir: {} }] }
    expect(trial.refusals(draft({ template: { ...template, spec: pod }, volumeClaimTemplates: [claim('data')] }))).toEqual([])
    expect(trial.refusals(draft({ template: { ...template, spec: { ...pod, volumes: [] } } }))).not.toEqual([])
  })

  it.each([
    ['replicas, ordinals, template and deadline', { replicas: 3, ordinals: { start: 1 }, progressDeadlineSeconds: 60, minReadySeconds: 1 }, true],
    ['the service', { serviceName: 'other' }, false],
    ['podManagementPolicy', { podManagementPolicy: 'Parallel' }, false],
    ['claims', { volumeClaimTemplates: [claim('data')] }, false],
  ])('of a change of %s: %j', (_, more, isAllowed) => {
    const refusals = trial.updateRefusals(trial.created(draft()), draft(more))
    if (isAllowed) expect(refusals).toEqual([])
    else expect(refusals).toEqual([expect.stringMatching(/^spec: Forbidden: updates to statefulset spec for fields other than 'replicas',/)])
  })

  it('drops gated fields at creation and, unless they are there, on update', () => {
    const asked = { ...rolling({ partition: 0, maxUnavailable: 2 }) }
    asked.spec = { ...asked.spec, progressDeadlineSeconds: 60 } as never
    const made = withoutGates.created(asked)
    expect(made.spec.progressDeadlineSeconds).toBeUndefined()
    expect(made.spec.updateStrategy.rollingUpdate).toEqual({ partition: 0 })
    const updated = withoutGates.updated(made, asked)
    expect(updated.spec.progressDeadlineSeconds).toBeUndefined()
    expect(updated.spec.updateStrategy.rollingUpdate.maxUnavailable).toBeUndefined()

    const kept = withoutGates.updated(trial.created(asked), asked)
    expect(kept.spec.progressDeadlineSeconds).toBe(60)
    expect(kept.spec.updateStrategy.rollingUpdate.maxUnavailable).toBe(2)
  })

  it.each([
    ['more than replicas', { maxUnavailable: 5 }, `${maxUnavailable}: 5 is more than spec.replicas (3) and acts as 3`],
    [
      'more than the partition leaves',
      { maxUnavailable: 3, partition: 1 },
      `${maxUnavailable}: 3 is more than spec.replicas - spec.updateStrategy.rollingUpdate.partition (2) and acts as 2`,
    ],
    [
      'a percentage above what the partition leaves',
      { maxUnavailable: '100%', partition: 2 },
      `${maxUnavailable}: "100%" is more than spec.replicas - spec.updateStrategy.rollingUpdate.partition (1) and acts as 1`,
    ],
    ['as many as there are', { maxUnavailable: 3 }, undefined],
    ['a percentage', { maxUnavailable: '100%' }, undefined],
    ['the default with a partition above replicas', { partition: 9 }, undefined],
  ])('warns of maxUnavailable that is %s: %j', (_, rollingUpdate, warning) => {
    const obj = trial.created(draft({ replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate } }))
    expect(trial.warnings(obj)).toEqual(warning ? [warning] : [])
  })

  it('warns of history without an end and of claims for parts of a byte', () => {
    expect(trial.warnings(trial.created(draft({ revisionHistoryLimit: -1, volumeClaimTemplates: [claim('data', '1500m')] })))).toEqual([
      'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
    ])
  })

  it('has a status whose counts are not negative', () => {
    const old = { ...trial.created(draft()), status: { replicas: 0 } }
    const counts = ['observedGeneration', 'collisionCount', 'desiredReplicas', 'expectedUpdatedReplicas']
    for (const name of counts) {
      const refused = `status.${name}: Invalid value: -1: must be greater than or equal to 0`
      expect(trial.statusRefusals(old, { replicas: 0, [name]: -1 })).toContain(refused)
    }
  })

  it('has a status whose counts fit together', () => {
    const old = { ...trial.created(draft()), status: { replicas: 0 } }
    expect(trial.statusRefusals(old, { replicas: 1, readyReplicas: 0, currentReplicas: 2, availableReplicas: 1 })).toEqual([
      'status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas',
    ])
  })
})
