import type { Int64 } from '../../api/numbers/int64.ts'
import { type ProgressCondition, deadlineLeftMs, deadlineOf } from '../../api/kinds/workloads/rollout-clock.ts'
import type { KubeObject, ResourceType } from '../../client/index.ts'
import {
  clonesets,
  cronjobs,
  daemonsets,
  deployments,
  jobs,
  replicasets,
  replicationcontrollers,
  statefulsets,
} from '../../client/index.ts'
import { type StateFamily, conditionSamples, unixTime } from './state-series.ts'
import { cronJobFamilies, jobFamilies } from './jobs.ts'
import {
  cloneSetFamilies,
  daemonSetFamilies,
  deploymentFamilies,
  replicaSetFamilies,
  replicationControllerFamilies,
  statefulSetFamilies,
} from './replicated.ts'

/** A kind of workload whose state is exported. */
export interface WorkloadSeries<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>
  /** The label with an object's name. */
  readonly nameLabel: string
  readonly families: readonly StateFamily<T>[]
}

/** The metrics of all kinds, as far as their fields exist. */
interface AnyWorkload extends KubeObject {
  spec?: { progressDeadlineSeconds?: number }
  status?: { observedGeneration?: Int64; conditions?: ProgressCondition[] }
}

const secondsOf = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

type Having = 'observedGeneration' | 'conditions' | 'deadline'

/** Metrics of all kinds that kube-state-metrics does not have either: `kube_KIND_status_condition`. */
function sharedFamiliesOf(prefix: string, having: readonly Having[]): StateFamily<AnyWorkload>[] {
  const all: [StateFamily<AnyWorkload>, Having?][] = [
    [
      {
        name: `${prefix}_created`,
        help: 'Unix time of creation.',
        of: ({ metadata }) => unixTime(metadata.creationTimestamp),
      },
    ],
    [
      {
        name: `${prefix}_deletion_timestamp`,
        help: 'Unix time of deletion, if the object is terminating.',
        of: ({ metadata }) => unixTime(metadata.deletionTimestamp),
      },
    ],
    [
      {
        name: `${prefix}_metadata_generation`,
        help: 'Generation of the desired state.',
        of: ({ metadata }) => metadata.generation,
      },
    ],
    [
      {
        name: `${prefix}_status_observed_generation`,
        help: 'Generation that the controller has observed.',
        of: ({ status }) => status?.observedGeneration ?? 0,
      },
      'observedGeneration',
    ],
    [
      {
        name: `${prefix}_status_condition`,
        help: 'Conditions of the object, 1 for the current status of each.',
        of: ({ status }) => conditionSamples(status?.conditions),
      },
      'conditions',
    ],
    [
      {
        name: `${prefix}_status_progress_deadline_seconds_left`,
        help: 'Time left for a rollout to make progress; 0 after the deadline.',
        of: (object, nowMs) => secondsOf(deadlineLeftMs(object.status?.conditions, deadlineOf(object), nowMs)),
      },
      'deadline',
    ],
  ]
  return all.filter(([, needs]) => !needs || having.includes(needs)).map(([family]) => family)
}

const workload = <T extends KubeObject>(
  type: ResourceType<T>,
  name: string,
  having: readonly Having[],
  families: readonly StateFamily<T>[],
  nameLabel = name,
): WorkloadSeries =>
  ({
    type,
    nameLabel,
    families: [...sharedFamiliesOf(`kube_${name}`, having), ...families],
  }) as unknown as WorkloadSeries

/** All kinds of workloads. */
export const workloadSeries: readonly WorkloadSeries[] = [
  workload(deployments, 'deployment', ['observedGeneration', 'conditions', 'deadline'], deploymentFamilies),
  workload(statefulsets, 'statefulset', ['observedGeneration', 'conditions', 'deadline'], statefulSetFamilies),
  workload(daemonsets, 'daemonset', ['observedGeneration', 'conditions', 'deadline'], daemonSetFamilies),
  workload(clonesets, 'cloneset', ['observedGeneration', 'conditions', 'deadline'], cloneSetFamilies),
  workload(replicasets, 'replicaset', ['observedGeneration', 'conditions'], replicaSetFamilies),
  workload(
    replicationcontrollers,
    'replicationcontroller',
    ['observedGeneration', 'conditions'],
    replicationControllerFamilies,
  ),
  workload(jobs, 'job', ['conditions'], jobFamilies, 'job_name'),
  workload(cronjobs, 'cronjob', [], cronJobFamilies),
]
