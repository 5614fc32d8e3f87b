import { describe, expect, it } from 'vitest'
import type { KindName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { condition, counts, sampleWorkload } from '../../insight/workload/sample.ts'
import { type Verdict, verdictOf } from './verdict.ts'

type Row = [
  what: string,
  kind: KindName,
  spec: Workload['spec'],
  status: Workload['status'],
  verdict: Verdict['kind'],
  text: string,
]

const twoRevisions = { updateRevision: 'web-2', currentRevision: 'web-1' }
const daemons = (updatedNumberScheduled: number, numberAvailable: number) => ({
  desiredNumberScheduled: 3,
  currentNumberScheduled: 3,
  updatedNumberScheduled,
  numberReady: numberAvailable,
  numberAvailable,
})
const exceeded = [condition('Progressing', 'False', 'ProgressDeadlineExceeded')]
const onDelete = { updateStrategy: { type: 'OnDelete' } }

const rows: Row[] = [
  [
    'is not seen yet',
    'Deployment',
    {},
    { observedGeneration: 1 },
    'waiting',
    'Waiting for deployment spec update to be observed...',
  ],
  [
    'has no status yet',
    'DaemonSet',
    {},
    { observedGeneration: 0 },
    'waiting',
    'Waiting for daemon set spec update to be observed...',
  ],
  [
    'replaces pods',
    'Deployment',
    {},
    counts(4, 1, 3, 3),
    'waiting',
    'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...',
  ],
  [
    'has old pods left',
    'Deployment',
    {},
    counts(4, 3, 4, 4),
    'waiting',
    'Waiting for deployment "web" rollout to finish: 1 old replicas are pending termination...',
  ],
  [
    'waits for pods to be available',
    'Deployment',
    {},
    counts(3, 3, 3, 2),
    'waiting',
    'Waiting for deployment "web" rollout to finish: 2 of 3 updated replicas are available...',
  ],
  ['is complete', 'Deployment', {}, counts(3), 'done', 'deployment "web" successfully rolled out'],
  [
    'is out of time',
    'Deployment',
    {},
    { ...counts(4, 1, 3, 3), conditions: exceeded },
    'failed',
    'deployment "web" exceeded its progress deadline',
  ],
  [
    'cannot create for now',
    'Deployment',
    {},
    { ...counts(3, 1, 3, 3), conditions: [condition('Progressing', 'False', 'FailedCreate')] },
    'waiting',
    'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...',
  ],
  [
    'replaces pods',
    'StatefulSet',
    {},
    { ...counts(3, 1, 3, 3), ...twoRevisions },
    'waiting',
    'Waiting for statefulset "web" rollout to finish: 1 out of 3 new pods have been updated...',
  ],
  [
    'waits for pods to be ready',
    'StatefulSet',
    {},
    { ...counts(3, 3, 1, 1), ...twoRevisions },
    'waiting',
    'Waiting for 2 pods to be ready...',
  ],
  [
    'waits for minReadySeconds',
    'StatefulSet',
    {},
    { ...counts(3, 3, 3, 1), ...twoRevisions },
    'waiting',
    'Waiting for statefulset "web" rollout to finish: 1 of 3 updated pods are available...',
  ],
  [
    'is on its way to its partition',
    'StatefulSet',
    { updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...counts(3, 1, 3, 3), ...twoRevisions },
    'waiting',
    'Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...',
  ],
  [
    'is held by its partition',
    'StatefulSet',
    { updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...counts(3, 2, 3, 3), ...twoRevisions },
    'held',
    'partitioned roll out complete: 2 new pods have been updated...',
  ],
  [
    'is complete',
    'StatefulSet',
    {},
    { ...counts(3), updateRevision: 'web-2', currentRevision: 'web-2' },
    'done',
    'statefulset rolling update complete 3 pods at revision web-2...',
  ],
  [
    'is out of time',
    'StatefulSet',
    {},
    { ...counts(3, 1, 2, 2), ...twoRevisions, conditions: exceeded },
    'failed',
    'statefulset "web" exceeded its progress deadline',
  ],
  [
    'waits for somebody to delete pods',
    'StatefulSet',
    onDelete,
    { ...counts(3, 1, 3, 3), ...twoRevisions },
    'waiting',
    'Waiting for statefulset "web" rollout to finish: 2 outdated pods have to be deleted by hand (OnDelete)...',
  ],
  [
    'replaces pods',
    'DaemonSet',
    {},
    daemons(1, 3),
    'waiting',
    'Waiting for daemon set "web" rollout to finish: 1 out of 3 new pods have been updated...',
  ],
  [
    'waits for pods',
    'DaemonSet',
    {},
    daemons(3, 2),
    'waiting',
    'Waiting for daemon set "web" rollout to finish: 2 of 3 updated pods are available...',
  ],
  ['is complete', 'DaemonSet', {}, daemons(3, 3), 'done', 'daemon set "web" successfully rolled out'],
  [
    'is complete though it is OnDelete',
    'DaemonSet',
    onDelete,
    daemons(3, 3),
    'done',
    'daemon set "web" successfully rolled out',
  ],
  [
    'is held by its partition',
    'CloneSet',
    { updateStrategy: { partition: '50%' } },
    { ...counts(3, 1, 3, 3), ...twoRevisions },
    'held',
    'partitioned roll out complete: 1 new pods have been updated...',
  ],
  ['is complete', 'CloneSet', {}, counts(3), 'done', 'cloneset "web" successfully rolled out'],
  [
    'has too few pods',
    'ReplicaSet',
    {},
    counts(2),
    'waiting',
    'Waiting for replicaset "web" rollout to finish: 2 of 3 replicas are available...',
  ],
  [
    'has all pods',
    'ReplicationController',
    {},
    counts(3),
    'done',
    'replication controller "web" successfully rolled out',
  ],
  [
    'runs',
    'Job',
    { completions: 5 },
    { succeeded: 2 },
    'waiting',
    'Waiting for job "web" to finish: 2 out of 5 completions...',
  ],
  ['is suspended', 'Job', { suspend: true }, {}, 'waiting', 'Waiting for job "web" to be resumed: it is suspended...'],
  ['is complete', 'Job', {}, { conditions: [condition('Complete', 'True')] }, 'done', 'job "web" is complete'],
  [
    'has failed',
    'Job',
    {},
    { conditions: [condition('Failed', 'True', 'DeadlineExceeded', 1, 'Too slow')] },
    'failed',
    'job "web" has failed: DeadlineExceeded: Too slow',
  ],
]

describe('verdictOf() a rollout that', () => {
  it.each(rows)('%s: %s', (_, kind, spec, status, verdict, text) => {
    expect(verdictOf(...sampleWorkload(kind, spec, status))).toEqual({ kind: verdict, text })
  })
})
