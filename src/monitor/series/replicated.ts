import type {
  CloneSet,
  DaemonSet,
  Deployment,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../api/generated/types.ts'
import { percentOf } from '../../api/numbers/int-or-string.ts'
import { type StateFamily, ownerSamples } from './state-series.ts'

// Names, labels and help texts are those of kube-state-metrics. CloneSets, which it does not know, use those of
// Deployments.

const desired = (replicas: number | undefined): number => replicas ?? 1

/** The amount that a rolling update may use: a number, or a percentage of the replicas. */
const share = (
  value: number | string | undefined,
  replicas: number | undefined,
  roundUp: boolean,
): number | undefined => (value === undefined ? undefined : percentOf(value, desired(replicas), roundUp))

export const deploymentFamilies: readonly StateFamily<Deployment>[] = [
  {
    name: 'kube_deployment_spec_replicas',
    help: 'How many pods are wanted.',
    of: ({ spec }) => desired(spec.replicas),
  },
  { name: 'kube_deployment_spec_paused', help: 'Whether it is paused.', of: ({ spec }) => (spec.paused ? 1 : 0) },
  {
    name: 'kube_deployment_spec_strategy_rollingupdate_max_unavailable',
    help: 'How many pods may be unavailable during a rolling update.',
    of: ({ spec }) => share(spec.strategy?.rollingUpdate?.maxUnavailable, spec.replicas, false),
  },
  {
    name: 'kube_deployment_spec_strategy_rollingupdate_max_surge',
    help: 'How many pods there may be beyond those wanted during a rolling update.',
    of: ({ spec }) => share(spec.strategy?.rollingUpdate?.maxSurge, spec.replicas, true),
  },
  {
    name: 'kube_deployment_status_replicas',
    help: 'How many pods there are.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_ready',
    help: 'How many pods are ready.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_available',
    help: 'How many pods are available.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_unavailable',
    help: 'How many pods are lacking.',
    of: ({ status }) => status?.unavailableReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_updated',
    help: 'How many pods are of the newest template.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
]

export const replicaSetFamilies: readonly StateFamily<ReplicaSet>[] = [
  {
    name: 'kube_replicaset_spec_replicas',
    help: 'How many pods are wanted.',
    of: ({ spec }) => desired(spec.replicas),
  },
  {
    name: 'kube_replicaset_status_replicas',
    help: 'How many pods there are.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_fully_labeled_replicas',
    help: 'How many pods have all labels of the template.',
    of: ({ status }) => status?.fullyLabeledReplicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_ready_replicas',
    help: 'How many pods are ready.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_terminating_replicas',
    help: 'How many pods are on their way out.',
    of: ({ status }) => status?.terminatingReplicas,
  },
  { name: 'kube_replicaset_owner', help: 'Who owns it.', of: ({ metadata }) => ownerSamples(metadata.ownerReferences) },
]

export const replicationControllerFamilies: readonly StateFamily<ReplicationController>[] = [
  {
    name: 'kube_replicationcontroller_spec_replicas',
    help: 'How many pods are wanted.',
    of: ({ spec }) => desired(spec.replicas),
  },
  {
    name: 'kube_replicationcontroller_status_replicas',
    help: 'How many pods there are.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_fully_labeled_replicas',
    help: 'How many pods have all labels of the template.',
    of: ({ status }) => status?.fullyLabeledReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_ready_replicas',
    help: 'How many pods are ready.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_available_replicas',
    help: 'How many pods are available.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_owner',
    help: 'Who owns it.',
    of: ({ metadata }) => ownerSamples(metadata.ownerReferences),
  },
]

export const statefulSetFamilies: readonly StateFamily<StatefulSet>[] = [
  { name: 'kube_statefulset_replicas', help: 'How many pods are wanted.', of: ({ spec }) => desired(spec.replicas) },
  {
    name: 'kube_statefulset_ordinals_start',
    help: 'The number of the first pod.',
    of: ({ spec }) => spec.ordinals?.start,
  },
  {
    name: 'kube_statefulset_persistentvolumeclaim_retention_policy',
    help: 'What becomes of claims when it is deleted or made smaller.',
    of: ({ spec: { persistentVolumeClaimRetentionPolicy: policy } }) =>
      policy && [[{ when_deleted: policy.whenDeleted ?? '', when_scaled: policy.whenScaled ?? '' }, 1]],
  },
  {
    name: 'kube_statefulset_status_replicas',
    help: 'How many pods there are.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_current',
    help: 'How many pods are of the current revision.',
    of: ({ status }) => status?.currentReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_ready',
    help: 'How many pods are ready.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_available',
    help: 'How many pods are available.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_updated',
    help: 'How many pods are of the update revision.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_current_revision',
    help: 'The revision that pods have which are not updated.',
    of: ({ status }) => revision(status?.currentRevision),
  },
  {
    name: 'kube_statefulset_status_update_revision',
    help: 'The revision that pods are updated to.',
    of: ({ status }) => revision(status?.updateRevision),
  },
]

const revision = (name: string | undefined) => (name ? ([[{ revision: name }, 1]] as const) : undefined)

export const daemonSetFamilies: readonly StateFamily<DaemonSet>[] = [
  {
    name: 'kube_daemonset_status_current_number_scheduled',
    help: 'Nodes that have a pod and should.',
    of: ({ status }) => status?.currentNumberScheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_desired_number_scheduled',
    help: 'Nodes that should have a pod.',
    of: ({ status }) => status?.desiredNumberScheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_available',
    help: 'Nodes whose pod is available.',
    of: ({ status }) => status?.numberAvailable ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_misscheduled',
    help: 'Nodes that have a pod and should not.',
    of: ({ status }) => status?.numberMisscheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_ready',
    help: 'Nodes whose pod is ready.',
    of: ({ status }) => status?.numberReady ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_unavailable',
    help: 'Nodes that should have a pod which is available, and have none.',
    of: ({ status }) => status?.numberUnavailable ?? 0,
  },
  {
    name: 'kube_daemonset_status_updated_number_scheduled',
    help: 'Nodes whose pod is of the newest template.',
    of: ({ status }) => status?.updatedNumberScheduled ?? 0,
  },
]

export const cloneSetFamilies: readonly StateFamily<CloneSet>[] = [
  { name: 'kube_cloneset_spec_replicas', help: 'How many pods are wanted.', of: ({ spec }) => desired(spec.replicas) },
  {
    name: 'kube_cloneset_spec_paused',
    help: 'Whether its rollout is paused.',
    of: ({ spec }) => (spec.updateStrategy?.paused ? 1 : 0),
  },
  {
    name: 'kube_cloneset_status_replicas',
    help: 'How many pods there are.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_ready',
    help: 'How many pods are ready.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_available',
    help: 'How many pods are available.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated',
    help: 'How many pods are of the update revision.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated_ready',
    help: 'How many of those are ready.',
    of: ({ status }) => status?.updatedReadyReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated_available',
    help: 'How many of those are available.',
    of: ({ status }) => status?.updatedAvailableReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_expected_updated',
    help: 'How many are to be of the update revision, as its partition has it.',
    of: ({ status }) => status?.expectedUpdatedReplicas,
  },
]
