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
    help: 'Number of desired pods.',
    of: ({ spec }) => desired(spec.replicas),
  },
  {
    name: 'kube_deployment_spec_paused',
    help: '1 if the deployment is paused.',
    of: ({ spec }) => (spec.paused ? 1 : 0),
  },
  {
    name: 'kube_deployment_spec_strategy_rollingupdate_max_unavailable',
    help: 'Maximum number of unavailable pods during a rolling update.',
    of: ({ spec }) => share(spec.strategy?.rollingUpdate?.maxUnavailable, spec.replicas, false),
  },
  {
    name: 'kube_deployment_spec_strategy_rollingupdate_max_surge',
    help: 'Maximum number of pods above the desired number during a rolling update.',
    of: ({ spec }) => share(spec.strategy?.rollingUpdate?.maxSurge, spec.replicas, true),
  },
  {
    name: 'kube_deployment_status_replicas',
    help: 'Number of pods.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_ready',
    help: 'Number of ready pods.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_available',
    help: 'Number of available pods.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_unavailable',
    help: 'Number of unavailable pods.',
    of: ({ status }) => status?.unavailableReplicas ?? 0,
  },
  {
    name: 'kube_deployment_status_replicas_updated',
    help: 'Number of pods with the current template.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
]

export const replicaSetFamilies: readonly StateFamily<ReplicaSet>[] = [
  {
    name: 'kube_replicaset_spec_replicas',
    help: 'Number of desired pods.',
    of: ({ spec }) => desired(spec.replicas),
  },
  {
    name: 'kube_replicaset_status_replicas',
    help: 'Number of pods.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_fully_labeled_replicas',
    help: 'Number of pods that have all labels of the template.',
    of: ({ status }) => status?.fullyLabeledReplicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_ready_replicas',
    help: 'Number of ready pods.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_replicaset_status_terminating_replicas',
    help: 'Number of terminating pods.',
    of: ({ status }) => status?.terminatingReplicas,
  },
  {
    name: 'kube_replicaset_owner',
    help: 'Information about the owner.',
    of: ({ metadata }) => ownerSamples(metadata.ownerReferences),
  },
]

export const replicationControllerFamilies: readonly StateFamily<ReplicationController>[] = [
  {
    name: 'kube_replicationcontroller_spec_replicas',
    help: 'Number of desired pods.',
    of: ({ spec }) => desired(spec.replicas),
  },
  {
    name: 'kube_replicationcontroller_status_replicas',
    help: 'Number of pods.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_fully_labeled_replicas',
    help: 'Number of pods that have all labels of the template.',
    of: ({ status }) => status?.fullyLabeledReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_ready_replicas',
    help: 'Number of ready pods.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_status_available_replicas',
    help: 'Number of available pods.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_replicationcontroller_owner',
    help: 'Information about the owner.',
    of: ({ metadata }) => ownerSamples(metadata.ownerReferences),
  },
]

export const statefulSetFamilies: readonly StateFamily<StatefulSet>[] = [
  { name: 'kube_statefulset_replicas', help: 'Number of desired pods.', of: ({ spec }) => desired(spec.replicas) },
  {
    name: 'kube_statefulset_ordinals_start',
    help: 'Ordinal of the first pod.',
    of: ({ spec }) => spec.ordinals?.start,
  },
  {
    name: 'kube_statefulset_persistentvolumeclaim_retention_policy',
    help: 'Retention policy of claims when the StatefulSet is deleted or scaled down.',
    of: ({ spec: { persistentVolumeClaimRetentionPolicy: policy } }) =>
      policy && [[{ when_deleted: policy.whenDeleted ?? '', when_scaled: policy.whenScaled ?? '' }, 1]],
  },
  {
    name: 'kube_statefulset_status_replicas',
    help: 'Number of pods.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_current',
    help: 'Number of pods at the current revision.',
    of: ({ status }) => status?.currentReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_ready',
    help: 'Number of ready pods.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_available',
    help: 'Number of available pods.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_replicas_updated',
    help: 'Number of pods at the update revision.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
  {
    name: 'kube_statefulset_status_current_revision',
    help: 'Revision of the pods that are not updated.',
    of: ({ status }) => revision(status?.currentRevision),
  },
  {
    name: 'kube_statefulset_status_update_revision',
    help: 'Revision to which pods are updated.',
    of: ({ status }) => revision(status?.updateRevision),
  },
]

const revision = (name: string | undefined) => (name ? ([[{ revision: name }, 1]] as const) : undefined)

export const daemonSetFamilies: readonly StateFamily<DaemonSet>[] = [
  {
    name: 'kube_daemonset_status_current_number_scheduled',
    help: 'Number of nodes that run a daemon pod and are supposed to.',
    of: ({ status }) => status?.currentNumberScheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_desired_number_scheduled',
    help: 'Number of nodes that should run a daemon pod.',
    of: ({ status }) => status?.desiredNumberScheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_available',
    help: 'Number of nodes with an available daemon pod.',
    of: ({ status }) => status?.numberAvailable ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_misscheduled',
    help: 'Number of nodes that run a daemon pod but are not supposed to.',
    of: ({ status }) => status?.numberMisscheduled ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_ready',
    help: 'Number of nodes with a ready daemon pod.',
    of: ({ status }) => status?.numberReady ?? 0,
  },
  {
    name: 'kube_daemonset_status_number_unavailable',
    help: 'Number of nodes that should run a daemon pod and have no available one.',
    of: ({ status }) => status?.numberUnavailable ?? 0,
  },
  {
    name: 'kube_daemonset_status_updated_number_scheduled',
    help: 'Number of nodes that run a daemon pod with the current template.',
    of: ({ status }) => status?.updatedNumberScheduled ?? 0,
  },
]

export const cloneSetFamilies: readonly StateFamily<CloneSet>[] = [
  { name: 'kube_cloneset_spec_replicas', help: 'Number of desired pods.', of: ({ spec }) => desired(spec.replicas) },
  {
    name: 'kube_cloneset_spec_paused',
    help: '1 if the rollout is paused.',
    of: ({ spec }) => (spec.updateStrategy?.paused ? 1 : 0),
  },
  {
    name: 'kube_cloneset_status_replicas',
    help: 'Number of pods.',
    of: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_ready',
    help: 'Number of ready pods.',
    of: ({ status }) => status?.readyReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_available',
    help: 'Number of available pods.',
    of: ({ status }) => status?.availableReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated',
    help: 'Number of pods at the update revision.',
    of: ({ status }) => status?.updatedReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated_ready',
    help: 'Number of ready pods at the update revision.',
    of: ({ status }) => status?.updatedReadyReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_updated_available',
    help: 'Number of available pods at the update revision.',
    of: ({ status }) => status?.updatedAvailableReplicas ?? 0,
  },
  {
    name: 'kube_cloneset_status_replicas_expected_updated',
    help: 'Number of pods that the partition allows at the update revision.',
    of: ({ status }) => status?.expectedUpdatedReplicas,
  },
]
