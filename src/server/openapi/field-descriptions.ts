import { describeField } from '../../api/schema/descriptions.ts'

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'
const specAndStatus = `More info: ${conventions}#spec-and-status`

/** Descriptions by field name, for kinds without their own. */
const byField: Record<string, string> = {
  metadata: `Standard object's metadata. More info: ${conventions}#metadata`,
  secretRef: 'secretRef refers to the secret that holds the credentials.',
  template: 'template describes the pods that will be created.',
}

/**
 * Descriptions of structure fields, by type and name. The models from which the schema is generated describe only the
 * structure itself.
 */
export const structDescriptions: Record<string, string> = {
  'Pod.spec': `Specification of the desired behavior of the pod. ${specAndStatus}`,
  'Pod.status': `Most recently observed status of the pod. This data may not be up to date. Populated by the system. Read-only. ${specAndStatus}`,
  'Deployment.spec': 'Specification of the desired behavior of the Deployment.',
  'Deployment.status': 'Most recently observed status of the Deployment.',
  'ReplicaSet.spec': `Spec defines the specification of the desired behavior of the ReplicaSet. ${specAndStatus}`,
  'ReplicaSet.status': `Status is the most recently observed status of the ReplicaSet. This data may be out of date by some window of time. Populated by the system. Read-only. ${specAndStatus}`,
  'StatefulSet.spec': 'Spec defines the desired identities of pods in this set.',
  'StatefulSet.status':
    'Status is the current status of Pods in this StatefulSet. This data may be out of date by some window of time.',
  'DaemonSet.spec': `The desired behavior of this daemon set. ${specAndStatus}`,
  'DaemonSet.status': `The current status of this daemon set. This data may be out of date by some window of time. Populated by the system. Read-only. ${specAndStatus}`,
  'Job.spec': `Specification of the desired behavior of a job. ${specAndStatus}`,
  'Job.status': `Current status of a job. ${specAndStatus}`,
  'CronJob.spec': `Specification of the desired behavior of a cron job, including the schedule. ${specAndStatus}`,
  'CronJob.status': `Current status of a cron job. ${specAndStatus}`,
  'CronJobSpec.jobTemplate': 'Specifies the job that will be created when executing a CronJob.',
  'Service.spec': `Spec defines the behavior of a service. ${specAndStatus}`,
  'Service.status': `Most recently observed status of the service. Populated by the system. Read-only. ${specAndStatus}`,
  'PodTemplateSpec.spec': `Specification of the desired behavior of the pod. ${specAndStatus}`,
  'JobTemplateSpec.spec': `Specification of the desired behavior of the job. ${specAndStatus}`,
  'DeploymentSpec.selector':
    "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
  'DeploymentSpec.strategy': 'The deployment strategy to use to replace existing pods with new ones.',
  'DeploymentSpec.template':
    'Template describes the pods that will be created. The only allowed template.spec.restartPolicy value is "Always".',
  'DeploymentStrategy.rollingUpdate':
    'Rolling update config params. Present only if DeploymentStrategyType = RollingUpdate.',
  'StatefulSetSpec.selector':
    "selector is a label query over pods that should match the replica count. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  'StatefulSetSpec.updateStrategy':
    'updateStrategy indicates the StatefulSetUpdateStrategy that will be employed to update Pods in the StatefulSet when a revision is made to Template.',
  'DaemonSetSpec.selector':
    "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  'DaemonSetSpec.updateStrategy': 'An update strategy to replace existing DaemonSet pods with new pods.',
  'PodSpec.affinity': "If specified, the pod's scheduling constraints",
  'PodSpec.dnsConfig':
    'Specifies the DNS parameters of a pod. Parameters specified here will be merged to the generated DNS configuration based on DNSPolicy.',
  'PodSpec.securityContext':
    'SecurityContext holds pod-level security attributes and common container settings. Optional: Defaults to empty. See type description for default values of each field.',
  'Container.lifecycle':
    'Actions that the management system should take in response to container lifecycle events. Cannot be updated.',
  'Container.livenessProbe':
    'Periodic probe of container liveness. Container will be restarted if the probe fails. Cannot be updated. More info: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle#container-probes',
  'Container.readinessProbe':
    'Periodic probe of container service readiness. Container will be removed from service endpoints if the probe fails. Cannot be updated. More info: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle#container-probes',
  'Container.startupProbe':
    "StartupProbe indicates that the Pod has successfully initialized. If specified, no other probes are executed until this completes successfully. If this probe fails, the Pod will be restarted, just as if the livenessProbe failed. This can be used to provide different probe parameters at the beginning of a Pod's lifecycle, when it might take a long time to load data or warm a cache, than during steady-state operation. This cannot be updated. More info: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle#container-probes",
  'Container.resources':
    'Compute Resources required by this container. Cannot be updated. More info: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/',
  'Container.securityContext':
    'SecurityContext defines the security options the container should be run with. If set, the fields of SecurityContext override the equivalent fields of PodSecurityContext. More info: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/',
  'EnvVar.valueFrom': "Source for the environment variable's value. Cannot be used if value is not empty.",
  'Probe.exec': 'Exec specifies a command to execute in the container.',
  'Probe.grpc': 'GRPC specifies a GRPC HealthCheckRequest.',
  'Probe.httpGet': 'HTTPGet specifies an HTTP GET request to perform.',
  'Probe.tcpSocket': 'TCPSocket specifies a connection to a TCP port.',
  'Lifecycle.postStart':
    'PostStart is called immediately after a container is created. If the handler fails, the container is terminated and restarted according to its restart policy. Other management of the container blocks until the hook completes.',
  'Lifecycle.preStop':
    "PreStop is called immediately before a container is terminated due to an API request or management event such as liveness/startup probe failure, preemption, resource contention, etc. The handler is not called if the container crashes or exits. The Pod's termination grace period countdown begins before the PreStop hook is executed.",
  'PodDisruptionBudgetSpec.selector':
    'Label query over pods whose evictions are managed by the disruption budget. A null selector will match no pods, while an empty ({}) selector will select all pods within the namespace.',
}

/** The description of a field: Kubernetes' if there is one, otherwise that of its type. */
export function fieldDescription(type: string, field: string, struct: string | undefined): string {
  const own = describeField(type, field) || structDescriptions[`${type}.${field}`]
  if (own || !struct) return own ?? ''
  return byField[field] ?? describeField(struct)
}
