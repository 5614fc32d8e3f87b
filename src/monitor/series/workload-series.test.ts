import { describe, expect, it } from 'vitest'
import { deadlineAnnotation } from '../../api/kinds/workloads/rollout-clock.ts'
import { MetricsRegistry, labelText } from '../../base/metrics.ts'
import type { KubeObject } from '../../client/index.ts'
import { registerState } from './state-series.ts'
import { workloadSeries } from './workload-series.ts'

const nowMs = Date.parse('2026-01-01T00:01:00Z')
const metadata = { namespace: 'n', name: 'a', generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' }

/** The series of objects of a kind, without zeroes. */
function told(plural: string, objects: object[], limit = 10): string[] {
  const { families, nameLabel } = workloadSeries.find(({ type }) => type.plural === plural)!
  const metrics = new MetricsRegistry()
  const all = objects as KubeObject[]
  registerState(metrics, { resource: plural, size: () => all.length, objects: () => all, identityOf: (o) => labelText({ namespace: o.metadata.namespace!, [nameLabel]: o.metadata.name! }), families }, limit, () => nowMs)
  return metrics.text().split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.endsWith(' 0'))
}

const conditions = [{ type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', lastUpdateTime: '2026-01-01T00:00:00Z' }, { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' }]

describe('workloadSeries tell of', () => {
  it('the deadline of an annotation where the kind has no field', () => {
    const lines = told('statefulsets', [{ metadata: { ...metadata, annotations: { [deadlineAnnotation]: '120' } }, spec: {}, status: { conditions } }])
    expect(lines).toContain('kube_statefulset_status_progress_deadline_seconds_left{namespace="n",statefulset="a"} 60')
  })

  it('generations with all their digits', () => {
    const status = { observedGeneration: 2n ** 60n }
    const lines = told('deployments', [{ metadata: { ...metadata, generation: 2n ** 60n + 1n }, spec: {}, status }])
    const labels = '{namespace="n",deployment="a"}'
    expect(lines).toContain(`kube_deployment_metadata_generation${labels} 1152921504606846977`)
    expect(lines).toContain(`kube_deployment_status_observed_generation${labels} 1152921504606846976`)
  })

  it.each<[plural: string, object: object, lines: string[]]>([
    [
      'deployments',
      { spec: { replicas: 10, paused: true, progressDeadlineSeconds: 600, strategy: { rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } }, status: { observedGeneration: 2, replicas: 9, updatedReplicas: 4, unavailableReplicas: 6, conditions } },
      [
        'kube_deployment_created{namespace="n",deployment="a"} 1767225600',
        'kube_deployment_metadata_generation{namespace="n",deployment="a"} 3',
        'kube_deployment_status_observed_generation{namespace="n",deployment="a"} 2',
        'kube_deployment_status_condition{namespace="n",deployment="a",reason="ReplicasUpdated",condition="Progressing",status="true"} 1',
        'kube_deployment_status_condition{namespace="n",deployment="a",reason="MinimumReplicasUnavailable",condition="Available",status="false"} 1',
        'kube_deployment_status_progress_deadline_seconds_left{namespace="n",deployment="a"} 540',
        'kube_deployment_spec_replicas{namespace="n",deployment="a"} 10',
        'kube_deployment_spec_paused{namespace="n",deployment="a"} 1',
        'kube_deployment_spec_strategy_rollingupdate_max_unavailable{namespace="n",deployment="a"} 2',
        'kube_deployment_spec_strategy_rollingupdate_max_surge{namespace="n",deployment="a"} 3',
        'kube_deployment_status_replicas{namespace="n",deployment="a"} 9',
        'kube_deployment_status_replicas_unavailable{namespace="n",deployment="a"} 6',
        'kube_deployment_status_replicas_updated{namespace="n",deployment="a"} 4',
      ],
    ],
    [
      'statefulsets',
      { spec: { progressDeadlineSeconds: 120 }, status: { replicas: 1, currentRevision: 'a-1', updateRevision: 'a-2', conditions: conditions.slice(0, 1) } },
      [
        'kube_statefulset_created{namespace="n",statefulset="a"} 1767225600',
        'kube_statefulset_metadata_generation{namespace="n",statefulset="a"} 3',
        'kube_statefulset_status_condition{namespace="n",statefulset="a",reason="ReplicasUpdated",condition="Progressing",status="true"} 1',
        'kube_statefulset_status_progress_deadline_seconds_left{namespace="n",statefulset="a"} 60',
        'kube_statefulset_replicas{namespace="n",statefulset="a"} 1',
        'kube_statefulset_status_replicas{namespace="n",statefulset="a"} 1',
        'kube_statefulset_status_current_revision{namespace="n",statefulset="a",revision="a-1"} 1',
        'kube_statefulset_status_update_revision{namespace="n",statefulset="a",revision="a-2"} 1',
      ],
    ],
    [
      'daemonsets',
      { spec: {}, status: { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberReady: 1, conditions: conditions.slice(1) } },
      [
        'kube_daemonset_created{namespace="n",daemonset="a"} 1767225600',
        'kube_daemonset_metadata_generation{namespace="n",daemonset="a"} 3',
        'kube_daemonset_status_condition{namespace="n",daemonset="a",reason="MinimumReplicasUnavailable",condition="Available",status="false"} 1',
        'kube_daemonset_status_current_number_scheduled{namespace="n",daemonset="a"} 2',
        'kube_daemonset_status_desired_number_scheduled{namespace="n",daemonset="a"} 3',
        'kube_daemonset_status_number_ready{namespace="n",daemonset="a"} 1',
      ],
    ],
    [
      'clonesets',
      { spec: { replicas: 5, progressDeadlineSeconds: 30, updateStrategy: {} }, status: { observedGeneration: 3, replicas: 5, updatedReplicas: 2, expectedUpdatedReplicas: 3, conditions: conditions.slice(0, 1) } },
      [
        'kube_cloneset_created{namespace="n",cloneset="a"} 1767225600',
        'kube_cloneset_metadata_generation{namespace="n",cloneset="a"} 3',
        'kube_cloneset_status_observed_generation{namespace="n",cloneset="a"} 3',
        'kube_cloneset_status_condition{namespace="n",cloneset="a",reason="ReplicasUpdated",condition="Progressing",status="true"} 1',
        'kube_cloneset_spec_replicas{namespace="n",cloneset="a"} 5',
        'kube_cloneset_status_replicas{namespace="n",cloneset="a"} 5',
        'kube_cloneset_status_replicas_updated{namespace="n",cloneset="a"} 2',
        'kube_cloneset_status_replicas_expected_updated{namespace="n",cloneset="a"} 3',
      ],
    ],
    [
      'jobs',
      { spec: { parallelism: 2, completions: 4 }, status: { failed: 7, conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }, { type: 'Running', status: 'False', reason: 'JobFinished' }] } },
      [
        'kube_job_created{namespace="n",job_name="a"} 1767225600',
        'kube_job_metadata_generation{namespace="n",job_name="a"} 3',
        'kube_job_status_condition{namespace="n",job_name="a",reason="BackoffLimitExceeded",condition="Failed",status="true"} 1',
        'kube_job_status_condition{namespace="n",job_name="a",reason="JobFinished",condition="Running",status="false"} 1',
        'kube_job_info{namespace="n",job_name="a"} 1',
        'kube_job_spec_parallelism{namespace="n",job_name="a"} 2',
        'kube_job_spec_completions{namespace="n",job_name="a"} 4',
        'kube_job_status_failed{namespace="n",job_name="a",reason="BackoffLimitExceeded"} 1',
        'kube_job_failed{namespace="n",job_name="a",condition="true"} 1',
        'kube_job_owner{namespace="n",job_name="a",owner_kind="",owner_name="",owner_is_controller=""} 1',
      ],
    ],
    [
      'replicasets',
      { metadata: { ...metadata, ownerReferences: [{ kind: 'Deployment', name: 'd', controller: true }] }, spec: { replicas: 2 }, status: { replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 1 } },
      [
        'kube_replicaset_created{namespace="n",replicaset="a"} 1767225600',
        'kube_replicaset_metadata_generation{namespace="n",replicaset="a"} 3',
        'kube_replicaset_spec_replicas{namespace="n",replicaset="a"} 2',
        'kube_replicaset_status_replicas{namespace="n",replicaset="a"} 2',
        'kube_replicaset_status_fully_labeled_replicas{namespace="n",replicaset="a"} 2',
        'kube_replicaset_status_ready_replicas{namespace="n",replicaset="a"} 1',
        'kube_replicaset_owner{namespace="n",replicaset="a",owner_kind="Deployment",owner_name="d",owner_is_controller="true"} 1',
      ],
    ],
    [
      'cronjobs',
      { spec: { schedule: '*/5 * * * *', suspend: true, concurrencyPolicy: 'Forbid' }, status: { active: [{}, {}], lastScheduleTime: '2026-01-01T00:00:30Z' } },
      [
        'kube_cronjob_created{namespace="n",cronjob="a"} 1767225600',
        'kube_cronjob_metadata_generation{namespace="n",cronjob="a"} 3',
        'kube_cronjob_info{namespace="n",cronjob="a",schedule="*/5 * * * *",concurrency_policy="Forbid",timezone="local"} 1',
        'kube_cronjob_spec_suspend{namespace="n",cronjob="a"} 1',
        'kube_cronjob_status_active{namespace="n",cronjob="a"} 2',
        'kube_cronjob_status_last_schedule_time{namespace="n",cronjob="a"} 1767225630',
      ],
    ],
  ])('%s', (plural, object, lines) => expect(told(plural, [{ metadata, ...object }])).toEqual(lines))
})

it('registerState() tells of so many objects and no more, and says how many are left out', () => {
  const objects = ['a', 'b', 'c'].map((name) => ({ metadata: { ...metadata, name }, spec: {}, status: {} }))
  const lines = told('replicationcontrollers', objects, 2)
  expect(lines.filter((line) => line.startsWith('kube_replicationcontroller_created'))).toEqual(['a', 'b'].map((name) => `kube_replicationcontroller_created{namespace="n",replicationcontroller="${name}"} 1767225600`))
  expect(lines).toContain('coxswain_monitor_objects_without_series{resource="replicationcontrollers"} 1')
})

it('kube_cronjob_next_schedule_time is there unless the job is suspended, and one that cannot be read costs nobody else his', () => {
  const job = (name: string, schedule: string, suspend = false) => ({ metadata: { ...metadata, name }, spec: { schedule, suspend, timeZone: 'Etc/UTC' }, status: {} })
  const lines = told('cronjobs', [job('a', '*/5 * * * *'), job('b', '*/5 * * * *', true), job('c', 'nonsense'), job('d', '0 3 * * *')])
  expect(lines.filter((line) => line.startsWith('kube_cronjob_next_schedule_time'))).toEqual([
    'kube_cronjob_next_schedule_time{namespace="n",cronjob="a"} 1767225900',
    'kube_cronjob_next_schedule_time{namespace="n",cronjob="d"} 1767236400',
  ])
})

it('workloadSeries have no name twice', () => {
  const names = workloadSeries.flatMap(({ families }) => families.map(({ name }) => name))
  expect(new Set(names).size).toBe(names.length)
})
