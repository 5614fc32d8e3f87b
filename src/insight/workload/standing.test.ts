import { describe, expect, it } from 'vitest'
import { deadlineAnnotation } from '../../api/kinds/workloads/rollout-clock.ts'
import type { KindName } from './kinds.ts'
import type { Workload } from './object.ts'
import { ago, condition, counts, sampleNow, sampleWorkload } from './sample.ts'
import type { State } from './said.ts'
import { standingOf } from './standing.ts'

type Row = [
  what: string,
  kind: KindName,
  spec: Workload['spec'],
  status: Workload['status'],
  state: State,
  message: string,
]

const complete = condition('Progressing', 'True', 'NewReplicaSetAvailable', 600)
const exceeded = condition('Progressing', 'False', 'ProgressDeadlineExceeded')

const rollouts: Row[] = [
  [
    'all are there',
    'Deployment',
    {},
    { ...counts(3), conditions: [complete] },
    'Available',
    '3 of 3 replicas are available',
  ],
  [
    'the only one is to be updated',
    'Deployment',
    { replicas: 1 },
    counts(1, 0, 1),
    'Progressing',
    '0 of 1 replica is updated, 1 of 1 is available',
  ],
  [
    'one is too many',
    'CloneSet',
    { replicas: 1 },
    counts(2),
    'Progressing',
    '1 of 1 replica is updated, 1 of 1 is available, 1 is too many',
  ],
  ['no replicas are wanted', 'Deployment', { replicas: 0 }, counts(0), 'Available', '0 of 0 replicas are available'],
  [
    'one is updated',
    'Deployment',
    {},
    counts(4, 1, 3, 3),
    'Progressing',
    '1 of 3 replicas is updated, 3 of 3 are available',
  ],
  [
    'an old one is left',
    'Deployment',
    {},
    counts(4, 3, 4, 4),
    'Progressing',
    '3 of 3 replicas are updated, 3 of 3 are available, 1 old one is left',
  ],
  [
    'one was lost after the rollout',
    'Deployment',
    {},
    { ...counts(3, 3, 2, 2), conditions: [complete] },
    'Degraded',
    '2 of 3 replicas are available',
  ],
  [
    'the deadline has passed',
    'Deployment',
    { progressDeadlineSeconds: 60 },
    { ...counts(4, 1, 3, 3), conditions: [exceeded] },
    'Stuck',
    'no progress within 60 seconds; 1 of 3 replicas is updated, 3 of 3 are available',
  ],
  [
    'it is paused',
    'Deployment',
    { paused: true },
    { ...counts(3, 0, 3, 3), conditions: [condition('Progressing', 'Unknown', 'DeploymentPaused')] },
    'Paused',
    'its rollout is paused; 0 of 3 replicas are updated, 3 of 3 are available',
  ],
  [
    'the deadline had passed before it was paused',
    'Deployment',
    { paused: true, progressDeadlineSeconds: 60 },
    { ...counts(3, 0, 3, 3), conditions: [exceeded] },
    'Stuck',
    'no progress within 60 seconds; 0 of 3 replicas are updated, 3 of 3 are available',
  ],
  [
    'pods cannot be created',
    'ReplicaSet',
    {},
    { ...counts(1), conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] },
    'Stuck',
    '1 of 3 replicas is available',
  ],
  ['pods are starting', 'ReplicaSet', {}, counts(3, 3, 1, 1), 'Progressing', '1 of 3 replicas is available'],
  [
    'a pod was lost after all were there',
    'ReplicaSet',
    {},
    { ...counts(3, 3, 2, 2), conditions: [condition('Available', 'False', 'MinimumReplicasUnavailable')] },
    'Degraded',
    '2 of 3 replicas are available',
  ],
  [
    'pods have been starting since it was made',
    'ReplicaSet',
    {},
    { ...counts(3, 3, 2, 2), conditions: [condition('Available', 'False', 'MinimumReplicasUnavailable', 3599)] },
    'Progressing',
    '2 of 3 replicas are available',
  ],
  [
    'pods are too many',
    'ReplicationController',
    {},
    counts(5),
    'Progressing',
    '3 of 3 replicas are available, 2 are too many',
  ],
  [
    'the partition keeps two',
    'StatefulSet',
    { updateStrategy: { rollingUpdate: { partition: 2 } } },
    { ...counts(3, 1, 3, 3), updateRevision: 'b', currentRevision: 'a' },
    'Held',
    '1 of 3 replicas is updated, its partition keeps 2',
  ],
  [
    'a partition without a rollout',
    'StatefulSet',
    { updateStrategy: { rollingUpdate: { partition: 2 } } },
    { ...counts(3), updateRevision: 'a', currentRevision: 'a' },
    'Available',
    '3 of 3 replicas are available',
  ],
  [
    'the partition is not reached',
    'StatefulSet',
    { updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...counts(3, 1, 3, 3), updateRevision: 'b', currentRevision: 'a' },
    'Progressing',
    '1 of 2 replicas is updated, 3 of 3 are available',
  ],
  [
    'outdated pods have to be deleted',
    'StatefulSet',
    { updateStrategy: { type: 'OnDelete' } },
    { ...counts(3, 1, 3, 3), updateRevision: 'b', currentRevision: 'a' },
    'Held',
    '2 outdated pods wait to be deleted by hand',
  ],
  [
    'a partition in percent',
    'CloneSet',
    { replicas: 10, updateStrategy: { partition: '75%' } },
    { ...counts(10, 2, 10, 10), updateRevision: 'b', currentRevision: 'a' },
    'Held',
    '2 of 10 replicas are updated, its partition keeps 8',
  ],
  [
    'it is paused',
    'CloneSet',
    { updateStrategy: { paused: true } },
    counts(3),
    'Paused',
    'its rollout is paused; 3 of 3 replicas are updated, 3 of 3 are available',
  ],
  [
    'every node has one',
    'DaemonSet',
    {},
    {
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberReady: 2,
      numberAvailable: 2,
    },
    'Available',
    '2 of 2 pods are available',
  ],
  [
    'one is on a node that is lost',
    'DaemonSet',
    {},
    {
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberReady: 1,
      numberAvailable: 1,
      numberMisscheduled: 1,
    },
    'Available',
    '1 of 1 pod is available, 1 more is on a node that is not to run one',
  ],
  [
    'a node lacks one',
    'DaemonSet',
    {},
    {
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 1,
      numberReady: 2,
      numberAvailable: 2,
    },
    'Progressing',
    '1 of 2 pods is updated, 2 of 2 are available',
  ],
]

describe('standingOf() a rollout', () => {
  it.each(rollouts)('%s: %s', (_, kind, spec, status, state, message) => {
    expect(standingOf(...sampleWorkload(kind, spec, status), sampleNow)).toMatchObject({ state, message })
  })

  it('is Progressing until the controller has seen the newest spec', () => {
    const seen = standingOf(...sampleWorkload('Deployment', {}, { ...counts(3), observedGeneration: 1 }), sampleNow)
    expect(seen).toMatchObject({
      state: 'Progressing',
      reason: 'NotObserved',
      message: 'its controller has not observed generation 2 yet',
    })
  })

  it('is Terminating once it is deleted', () => {
    expect(
      standingOf(...sampleWorkload('Deployment', {}, counts(3), { deletionTimestamp: ago(5) }), sampleNow),
    ).toMatchObject({ state: 'Terminating', since: ago(5) })
  })
})

describe('standingOf() tells the deadline', () => {
  const moving = { ...counts(4, 1, 3, 3), conditions: [condition('Progressing', 'True', 'ReplicaSetUpdated', 60)] }
  it.each([
    ['which is 600 seconds after the last progress', 600, moving, sampleNow + 540_000],
    ['not where there is none', 2_147_483_647, moving, undefined],
    ['not where it is not set', undefined, moving, undefined],
    ['not of a complete rollout', 600, { ...counts(3), conditions: [complete] }, undefined],
    ['not where there are no conditions', 600, counts(4, 1, 3, 3), undefined],
  ])('%s', (_, progressDeadlineSeconds, status, deadlineAtMs) => {
    const spec = progressDeadlineSeconds === undefined ? {} : { progressDeadlineSeconds }
    expect(standingOf(...sampleWorkload('Deployment', spec, status), sampleNow).deadlineAtMs).toBe(deadlineAtMs)
  })
})

describe('standingOf() reads the deadline of a kind without the field in its annotation', () => {
  const stock = (annotations: Record<string, string>, one: ReturnType<typeof condition>) =>
    standingOf(...sampleWorkload('StatefulSet', {}, { ...counts(4, 1, 3, 3), conditions: [one] }, { annotations }), sampleNow)

  it('when it has passed', () => {
    expect(stock({ [deadlineAnnotation]: '60' }, exceeded).message).toContain('no progress within 60 seconds; ')
    expect(stock({}, exceeded).message).toContain('no progress within its deadline; ')
  })

  it('while the rollout goes on', () => {
    const moving = condition('Progressing', 'True', 'ReplicasUpdated', 60)
    expect(stock({ [deadlineAnnotation]: '600' }, moving).deadlineAtMs).toBe(sampleNow + 540_000)
    expect(stock({}, moving).deadlineAtMs).toBeUndefined()
  })
})

describe('standingOf() what runs to its end', () => {
  const rows: Row[] = [
    [
      'a Job is complete',
      'Job',
      { completions: 2 },
      {
        succeeded: 2,
        startTime: ago(90),
        completionTime: ago(60),
        conditions: [condition('Complete', 'True', 'CompletionsReached')],
      },
      'Complete',
      '2 of 2 completions in 30s',
    ],
    [
      'a Job has failed',
      'Job',
      {},
      { failed: 3, conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 5, 'Too often')] },
      'Failed',
      'BackoffLimitExceeded: Too often',
    ],
    [
      'a Job is suspended',
      'Job',
      { suspend: true, completions: 2 },
      { conditions: [condition('Suspended', 'True')] },
      'Suspended',
      '0 of 2 completions',
    ],
    [
      'a Job runs',
      'Job',
      { completions: 2 },
      { active: 1, succeeded: 1, failed: 1, conditions: [condition('Running', 'True')] },
      'Running',
      '1 pod active, 1 of 2 completions, 1 pod has failed',
    ],
    [
      "a Job runs whose status has Kubernetes' fields only",
      'Job',
      {},
      { active: 2, ready: 1 },
      'Running',
      '2 pods active, 0 of 1 completion',
    ],
    [
      'a Job waits',
      'Job',
      {},
      {
        active: 1,
        conditions: [
          condition('Waiting', 'True', 'PodsPending', 5, 'No pod is running yet.'),
          condition('Running', 'False'),
        ],
      },
      'Waiting',
      'No pod is running yet',
    ],
    [
      'a CronJob waits for its time',
      'CronJob',
      { schedule: '*/15 * * * *', timeZone: 'UTC' },
      {},
      'Scheduled',
      'next at 2026-01-01T00:15:00Z',
    ],
    [
      'a CronJob runs',
      'CronJob',
      { schedule: '@hourly', timeZone: 'UTC' },
      { active: [{ name: 'a' }] },
      'Running',
      '1 job is active; next at 2026-01-01T01:00:00Z',
    ],
    ['a CronJob is suspended', 'CronJob', { schedule: '@hourly', suspend: true }, {}, 'Suspended', ''],
    [
      'a CronJob whose schedule never comes',
      'CronJob',
      { schedule: '0 0 30 2 *', timeZone: 'UTC' },
      {},
      'Scheduled',
      'its schedule 0 0 30 2 * never comes',
    ],
    [
      'a CronJob whose schedule we cannot read',
      'CronJob',
      { schedule: '@sometimes' },
      {},
      'Scheduled',
      'its schedule is @sometimes',
    ],
  ]
  it.each(rows)('%s', (_, kind, spec, status, state, message) => {
    expect(standingOf(...sampleWorkload(kind, spec, status), sampleNow)).toMatchObject({ state, message })
  })
})
