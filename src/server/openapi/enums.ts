/** What each value of a field means; '' where Kubernetes does not say. */
type Values = Record<string, string>

const only = (...values: string[]): Values => Object.fromEntries(values.map((value) => [value, '']))

const protocol: Values = { SCTP: 'is the SCTP protocol.', TCP: 'is the TCP protocol.', UDP: 'is the UDP protocol.' }
const pullPolicy: Values = {
  Always: 'means that kubelet always attempts to pull the latest image. Container will fail If the pull fails.',
  IfNotPresent: "means that kubelet pulls if the image isn't present on disk. Container will fail if the image isn't present and the pull fails.",
  Never: 'means that kubelet never pulls an image, but only uses a local image. Container will fail if the image isn\'t present',
}
const terminationMessage: Values = {
  FallbackToLogsOnError:
    'will read the most recent contents of the container logs for the container status message when the container exits with an error and the terminationMessagePath has no contents.',
  File: 'is the default behavior and will set the container status message to the contents of the container\'s terminationMessagePath when the container exits.',
}
const taintEffect: Values = {
  NoExecute: 'Evict any already-running pods that do not tolerate the taint. Currently enforced by NodeController.',
  NoSchedule:
    'Do not allow new pods to schedule onto the node unless they tolerate the taint, but allow all pods submitted to Kubelet without going through the scheduler to start, and allow all already-running pods to continue running. Enforced by the scheduler.',
  PreferNoSchedule:
    'Like TaintEffectNoSchedule, but the scheduler tries not to schedule new pods onto the node, rather than prohibiting new pods from scheduling onto the node entirely. Enforced by the scheduler.',
}
const preemption: Values = {
  Never: 'means that pod never preempts other pods with lower priority.',
  PreemptLowerPriority: 'means that pod can preempt other pods with lower priority.',
}
const volumeMode: Values = {
  Block: 'means the volume will not be formatted with a filesystem and will remain a raw block device.',
  Filesystem: 'means the volume will be or is formatted with a filesystem.',
}
const reclaimPolicy: Values = {
  Delete: 'means the volume will be deleted from Kubernetes on release from its claim. The volume plugin must support Deletion.',
  Recycle:
    'means the volume will be recycled back into the pool of unbound persistent volumes on release from its claim. The volume plugin must support Recycling.',
  Retain: 'means the volume will be left in its current phase (Released) for manual reclamation by the administrator. The default policy is Retain.',
}
const inclusion: Values = {
  Honor: 'means use this scheduling directive when calculating pod topology spread skew.',
  Ignore: 'means ignore this scheduling directive when calculating pod topology spread skew.',
}

/** The values of fields that have a fixed set of them, by type and field, in the order in which they are listed. */
const enums: Record<string, Values> = {
  'DeploymentStrategy.type': {
    Recreate: 'Kill all existing pods before creating new ones.',
    RollingUpdate: 'Replace the old ReplicaSets by new one using rolling update i.e gradually scale down the old ReplicaSets and scale up the new one.',
  },
  'DaemonSetUpdateStrategy.type': {
    OnDelete: 'Replace the old daemons only when it\'s killed',
    RollingUpdate: 'Replace the old daemons by new ones using rolling update i.e replace them on each node one after the other.',
  },
  'StatefulSetUpdateStrategy.type': {
    OnDelete:
      'triggers the legacy behavior. Version tracking and ordered rolling restarts are disabled. Pods are recreated from the StatefulSetSpec when they are manually deleted. When a scale operation is performed with this strategy,specification version indicated by the StatefulSet\'s currentRevision.',
    RollingUpdate:
      'indicates that update will be applied to all Pods in the StatefulSet with respect to the StatefulSet ordering constraints. When a scale operation is performed with this strategy, new Pods will be created from the specification version indicated by the StatefulSet\'s updateRevision.',
  },
  'StatefulSetSpec.podManagementPolicy': {
    OrderedReady:
      'will create pods in strictly increasing order on scale up and strictly decreasing order on scale down, progressing only when the previous pod is ready or terminated. At most one pod will be changed at any time.',
    Parallel: 'will create and delete pods as soon as the stateful set replica count is changed, and will not wait for pods to be ready or complete termination.',
  },
  'CronJobSpec.concurrencyPolicy': {
    Allow: 'allows CronJobs to run concurrently.',
    Forbid: 'forbids concurrent runs, skipping next run if previous hasn\'t finished yet.',
    Replace: 'cancels currently running job and replaces it with a new one.',
  },
  'JobSpec.completionMode': {
    Indexed:
      'is a Job completion mode. In this mode, the Pods of a Job get an associated completion index from 0 to (.spec.completions - 1). The Job is considered complete when a Pod completes for each completion index.',
    NonIndexed:
      'is a Job completion mode. In this mode, the Job is considered complete when there have been .spec.completions successfully completed Pods. Pod completions are homologous to each other.',
  },
  'JobSpec.podReplacementPolicy': {
    Failed: 'means to wait until a previously created Pod is fully terminated (has phase Failed or Succeeded) before creating a replacement Pod.',
    TerminatingOrFailed: 'means that we recreate pods when they are terminating (has a metadata.deletionTimestamp) or failed.',
  },
  'PodFailurePolicyOnExitCodesRequirement.operator': only('In', 'NotIn'),
  'PodSpec.restartPolicy': only('Always', 'Never', 'OnFailure'),
  'PodSpec.dnsPolicy': {
    ClusterFirst: 'indicates that the pod should use cluster DNS first unless hostNetwork is true, if it is available, then fall back on the default (as determined by kubelet) DNS settings.',
    ClusterFirstWithHostNet:
      'indicates that the pod should use cluster DNS first, if it is available, then fall back on the default (as determined by kubelet) DNS settings.',
    Default: 'indicates that the pod should use the default (as determined by kubelet) DNS settings.',
    None: 'indicates that the pod should use empty DNS settings. DNS parameters such as nameservers and search paths should be defined via DNSConfig.',
  },
  'PodSpec.preemptionPolicy': preemption,
  'PriorityClass.preemptionPolicy': preemption,
  'PodStatus.phase': {
    Failed:
      'means that all containers in the pod have terminated, and at least one container has terminated in a failure (exited with a non-zero exit code or was stopped by the system).',
    Pending:
      'means the pod has been accepted by the system, but one or more of the containers has not been started. This includes time before being bound to a node, as well as time spent pulling images onto the host.',
    Running:
      'means the pod has been bound to a node and all of the containers have been started. At least one container is still running or is in the process of being restarted.',
    Succeeded:
      'means that all containers in the pod have voluntarily terminated with a container exit code of 0, and the system is not going to restart any of these containers.',
    Unknown:
      'means that for some reason the state of the pod could not be obtained, typically due to an error in communicating with the host of the pod. Deprecated: It isn\'t being set since 2015 (74da3b14b0c0f658b3bb8d2def5094686d0e9095)',
  },
  'PodStatus.qosClass': {
    BestEffort: 'is the BestEffort qos class.',
    Burstable: 'is the Burstable qos class.',
    Guaranteed: 'is the Guaranteed qos class.',
  },
  'Container.imagePullPolicy': pullPolicy,
  'EphemeralContainer.imagePullPolicy': pullPolicy,
  'ImageVolumeSource.pullPolicy': pullPolicy,
  'Container.terminationMessagePolicy': terminationMessage,
  'EphemeralContainer.terminationMessagePolicy': terminationMessage,
  'ContainerPort.protocol': protocol,
  'ServicePort.protocol': protocol,
  'PortStatus.protocol': protocol,
  'CoreV1EndpointPort.protocol': protocol,
  'NetworkPolicyPort.protocol': protocol,
  'HTTPGetAction.scheme': { HTTP: 'means that the scheme used will be http://', HTTPS: 'means that the scheme used will be https://' },
  'Taint.effect': taintEffect,
  'Toleration.effect': taintEffect,
  'TopologySpreadConstraint.whenUnsatisfiable': {
    DoNotSchedule: 'instructs the scheduler not to schedule the pod when constraints are not satisfied.',
    ScheduleAnyway: 'instructs the scheduler to schedule the pod even if constraints are not satisfied.',
  },
  'TopologySpreadConstraint.nodeAffinityPolicy': inclusion,
  'TopologySpreadConstraint.nodeTaintsPolicy': inclusion,
  'NodeSelectorRequirement.operator': only('DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'),
  'NamespaceStatus.phase': { Active: 'means the namespace is available for use in the system', Terminating: 'means the namespace is undergoing graceful termination' },
  'PersistentVolumeClaimSpec.volumeMode': volumeMode,
  'PersistentVolumeSpec.volumeMode': volumeMode,
  'PersistentVolumeSpec.persistentVolumeReclaimPolicy': reclaimPolicy,
  'StorageClass.reclaimPolicy': reclaimPolicy,
  'ServiceSpec.type': {
    ClusterIP: 'means a service will only be accessible inside the cluster, via the cluster IP.',
    ExternalName:
      'means a service consists of only a reference to an external name that kubedns or equivalent will return as a CNAME record, with no exposing or proxying of any pods involved.',
    LoadBalancer: 'means a service will be exposed via an external load balancer (if the cloud provider supports it), in addition to \'NodePort\' type.',
    NodePort: 'means a service will be exposed on one port of every node, in addition to \'ClusterIP\' type.',
  },
  'ServiceSpec.sessionAffinity': { ClientIP: 'is the Client IP based.', None: '- no session affinity.' },
  'ServiceSpec.externalTrafficPolicy': {
    Cluster: 'routes traffic to all endpoints.',
    Local: 'preserves the source IP of the traffic by routing only to endpoints on the same node as the traffic was received on (dropping the traffic if there are no local endpoints).',
  },
  'ServiceSpec.internalTrafficPolicy': {
    Cluster: 'routes traffic to all endpoints.',
    Local: 'routes traffic only to endpoints on the same node as the client pod (dropping the traffic if there are no local endpoints).',
  },
  'ServiceSpec.ipFamilyPolicy': {
    PreferDualStack:
      'indicates that this service prefers dual-stack when the cluster is configured for dual-stack. If the cluster is not configured for dual-stack the service will be assigned a single IPFamily. If the IPFamily is not set in service.spec.ipFamilies then the service will be assigned the default IPFamily configured on the cluster',
    RequireDualStack:
      'indicates that this service requires dual-stack. Using IPFamilyPolicyRequireDualStack on a single stack cluster will result in validation errors. The IPFamilies (and their order) assigned to this service is based on service.spec.ipFamilies. If service.spec.ipFamilies was not provided then it will be assigned according to how they are configured on the cluster. If service.spec.ipFamilies has only one entry then the alternative IPFamily will be added by apiserver',
    SingleStack: 'indicates that this service is required to have a single IPFamily. The IPFamily assigned is based on the default IPFamily used by the cluster or as identified by service.spec.ipFamilies field',
  },
  'HTTPIngressPath.pathType': {
    Exact: 'matches the URL path exactly and with case sensitivity.',
    ImplementationSpecific:
      'matching is up to the IngressClass. Implementations can treat this as a separate PathType or treat it identically to Prefix or Exact path types.',
    Prefix:
      "matches based on a URL path prefix split by '/'. Matching is case sensitive and done on a path element by element basis. A path element refers to the list of labels in the path split by the '/' separator. A request is a match for path p if every p is an element-wise prefix of p of the request path. Note that if the last element of the path is a substring of the last element in request path, it is not a match (e.g. /foo/bar matches /foo/bar/baz, but does not match /foo/barbaz). If multiple matching paths exist in an Ingress spec, the longest matching path is given priority. Examples: - /foo/bar does not match requests to /foo/barbaz - /foo/bar matches request to /foo/bar and /foo/bar/baz - /foo and /foo/ both match requests to /foo and /foo/. If both paths are present in an Ingress spec, the longest matching path (/foo/) is given priority.",
  },
  'EndpointSlice.addressType': { FQDN: 'represents a FQDN.', IPv4: 'represents an IPv4 Address.', IPv6: 'represents an IPv6 Address.' },
  'PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy': {
    AlwaysAllow:
      'policy means that all running pods (status.phase="Running"), but not yet healthy are considered disrupted and can be evicted regardless of whether the criteria in a PDB is met. This means perspective running pods of a disrupted application might not get a chance to become healthy. Healthy pods will be subject to the PDB for eviction.',
    IfHealthyBudget:
      'policy means that running pods (status.phase="Running"), but not yet healthy can be evicted only if the guarded application is not disrupted (status.currentHealthy is at least equal to status.desiredHealthy). Healthy pods will be subject to the PDB for eviction.',
  },
}

/** What OpenAPI 3 adds to a field that has a fixed set of values: the set, and a list of them for people. */
export function enumOf(type: string, field: string, description: string): { description: string; enum: string[] } | undefined {
  const values = enums[`${type}.${field}`]
  if (!values) return undefined
  const list = Object.entries(values).map(([value, meaning]) => ` - \`${JSON.stringify(value)}\`${meaning && ' '}${meaning}`)
  return { description: `${description}\n\nPossible enum values:\n${list.join('\n')}`, enum: Object.keys(values) }
}
