import { describe, expect, it } from 'vitest'
import { deployments } from './deployments.ts'
import { ResourceTrial } from '../resource-trial.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}) => ({ spec: { ...spec, ...more } })
const trial = new ResourceTrial(deployments)
const percentWords = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

describe('deployments', () => {
  it('fills in replicas, strategy, history and deadline', () => {
    expect(trial.created(draft()).spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    })
  })

  it.each([
    ['a plain one', {}, []],
    ['0 replicas', { replicas: 0 }, []],
    ['negative replicas', { replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      'no selector',
      { selector: undefined },
      ['spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
    ],
    ['an empty selector', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
    [
      'a selector that does not match',
      { selector: { matchLabels: { a: 'c' } } },
      ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
    ],
    [
      'a selector with an unknown operator',
      { selector: { matchExpressions: [{ operator: 'Gt', key: 'a', values: ['1'] }] } },
      [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}: invalid label selector',
      ],
    ],
    [
      'pods that end by themselves',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
    [
      'Recreate with rollingUpdate',
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'BlueGreen' } },
      ['spec.strategy: Unsupported value: {"Type":"BlueGreen","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"'],
    ],
    [
      'neither surge nor unavailable pods',
      { strategy: { rollingUpdate: { maxUnavailable: '0%', maxSurge: 0 } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [
      'a percentage without its sign',
      { strategy: { rollingUpdate: { maxUnavailable: '10' } } },
      [`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "10": ${percentWords}`],
    ],
    [
      'more than all pods unavailable',
      { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'a deadline before a pod can be available',
      { progressDeadlineSeconds: 5, minReadySeconds: 5 },
      ['spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'],
    ],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
  })

  it('keeps its selector', () => {
    const selector = { matchLabels: { x: 'y' } }
    const next = { spec: { selector, template: { ...template, metadata: { labels: { x: 'y' } } } } }
    expect(trial.updateRefusals(trial.created(draft()), next)).toEqual(['spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable'])
  })

  it.each([
    [
      'counts above replicas',
      { replicas: 1, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 3 },
      [
        'status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
        'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
      ],
    ],
    ['no collisions where there were some', {}, ['status.collisionCount: Invalid value: 0: cannot be decremented']],
    ['a good one', { replicas: 2, readyReplicas: 2, availableReplicas: 1, collisionCount: 3 }, []],
  ])('says of a status with %s: %j', (name, status, refusals) => {
    const old = { ...trial.created(draft()), status: name.startsWith('no') || name.startsWith('a good') ? { collisionCount: 3 } : {} }
    expect(trial.statusRefusals(old, status)).toEqual(refusals)
  })

  it('warns of a name that makes poor names of pods, at creation only', () => {
    const obj = trial.created({ ...draft(), metadata: { name: 'a.b' } })
    expect(trial.warnings(obj)).toEqual([
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
    ])
    expect(trial.warnings(obj, obj)).toEqual([])
  })

  it('is shown with what is ready of what is wanted', () => {
    const obj = { ...trial.created(draft({ replicas: 3 })), status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 1 } }
    expect(trial.cells(obj)).toMatchObject({ Ready: '2/3', 'Up-to-date': 1, Available: 1, Containers: 'c', Images: 'i', Selector: 'a=b' })
  })
})
