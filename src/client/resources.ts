import type {
  APIService,
  CertificateSigningRequest,
  CloneSet,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CoreV1Event,
  CronJob,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  DaemonSet,
  Deployment,
  DeviceClass,
  Endpoints,
  EndpointSlice,
  EventsV1Event,
  FlowSchema,
  HorizontalPodAutoscaler,
  Ingress,
  IngressClass,
  IPAddress,
  Job,
  Lease,
  LimitRange,
  LocalSubjectAccessReview,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplate,
  PriorityClass,
  PriorityLevelConfiguration,
  ReplicaSet,
  ReplicationController,
  ResourceClaimTemplate,
  ResourceQuota,
  ResourceSlice,
  ResourceV1ResourceClaim,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  Service,
  ServiceAccount,
  ServiceCIDR,
  StatefulSet,
  StorageClass,
  SubjectAccessReview,
  TokenReview,
  V1beta1CloneSet,
  V1beta1LeaseCandidate,
  V2HorizontalPodAutoscaler,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { type ResourceType, resourceType } from './resource-type.ts'

const inNamespaces = <T extends KubeObject>(group: string, version: string, plural: string, kind: string): ResourceType<T> =>
  resourceType<T>({ group, version, plural, kind, namespaced: true })

const clusterWide = <T extends KubeObject>(group: string, version: string, plural: string, kind: string): ResourceType<T> =>
  resourceType<T>({ group, version, plural, kind, namespaced: false })

export const configmaps = inNamespaces<ConfigMap>('', 'v1', 'configmaps', 'ConfigMap')
export const endpoints = inNamespaces<Endpoints>('', 'v1', 'endpoints', 'Endpoints')
export const events = inNamespaces<CoreV1Event>('', 'v1', 'events', 'Event')
export const limitranges = inNamespaces<LimitRange>('', 'v1', 'limitranges', 'LimitRange')
export const namespaces = clusterWide<Namespace>('', 'v1', 'namespaces', 'Namespace')
export const nodes = clusterWide<Node>('', 'v1', 'nodes', 'Node')
export const persistentvolumeclaims = inNamespaces<PersistentVolumeClaim>('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim')
export const persistentvolumes = clusterWide<PersistentVolume>('', 'v1', 'persistentvolumes', 'PersistentVolume')
export const pods = inNamespaces<Pod>('', 'v1', 'pods', 'Pod')
export const podtemplates = inNamespaces<PodTemplate>('', 'v1', 'podtemplates', 'PodTemplate')
export const replicationcontrollers = inNamespaces<ReplicationController>('', 'v1', 'replicationcontrollers', 'ReplicationController')
export const resourcequotas = inNamespaces<ResourceQuota>('', 'v1', 'resourcequotas', 'ResourceQuota')
export const secrets = inNamespaces<Secret>('', 'v1', 'secrets', 'Secret')
export const serviceaccounts = inNamespaces<ServiceAccount>('', 'v1', 'serviceaccounts', 'ServiceAccount')
export const services = inNamespaces<Service>('', 'v1', 'services', 'Service')

const admissionKind = <T extends KubeObject>(plural: string, kind: string) =>
  clusterWide<T>('admissionregistration.k8s.io', 'v1', plural, kind)

export const mutatingadmissionpolicies =
  admissionKind<MutatingAdmissionPolicy>('mutatingadmissionpolicies', 'MutatingAdmissionPolicy')
export const mutatingadmissionpolicybindings =
  admissionKind<MutatingAdmissionPolicyBinding>('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding')
export const mutatingwebhookconfigurations =
  admissionKind<MutatingWebhookConfiguration>('mutatingwebhookconfigurations', 'MutatingWebhookConfiguration')
export const validatingadmissionpolicies =
  admissionKind<ValidatingAdmissionPolicy>('validatingadmissionpolicies', 'ValidatingAdmissionPolicy')
export const validatingadmissionpolicybindings =
  admissionKind<ValidatingAdmissionPolicyBinding>('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding')
export const validatingwebhookconfigurations =
  admissionKind<ValidatingWebhookConfiguration>('validatingwebhookconfigurations', 'ValidatingWebhookConfiguration')

export const apiservices = clusterWide<APIService>('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService')

export const controllerrevisions = inNamespaces<ControllerRevision>('apps', 'v1', 'controllerrevisions', 'ControllerRevision')
export const daemonsets = inNamespaces<DaemonSet>('apps', 'v1', 'daemonsets', 'DaemonSet')
export const deployments = inNamespaces<Deployment>('apps', 'v1', 'deployments', 'Deployment')
export const replicasets = inNamespaces<ReplicaSet>('apps', 'v1', 'replicasets', 'ReplicaSet')
export const statefulsets = inNamespaces<StatefulSet>('apps', 'v1', 'statefulsets', 'StatefulSet')

/** CloneSets as they are stored. */
export const clonesets = inNamespaces<CloneSet>('apps.kruise.io', 'v1alpha1', 'clonesets', 'CloneSet')
export const clonesetsV1beta1 = inNamespaces<V1beta1CloneSet>('apps.kruise.io', 'v1beta1', 'clonesets', 'CloneSet')

export const horizontalpodautoscalers = inNamespaces<V2HorizontalPodAutoscaler>('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler')

export const horizontalpodautoscalersV1 = inNamespaces<HorizontalPodAutoscaler>('autoscaling', 'v1', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler')

export const certificatesigningrequests = clusterWide<CertificateSigningRequest>(
  'certificates.k8s.io', 'v1', 'certificatesigningrequests', 'CertificateSigningRequest',
)

export const cronjobs = inNamespaces<CronJob>('batch', 'v1', 'cronjobs', 'CronJob')
export const jobs = inNamespaces<Job>('batch', 'v1', 'jobs', 'Job')

export const leases = inNamespaces<Lease>('coordination.k8s.io', 'v1', 'leases', 'Lease')
export const leasecandidates = inNamespaces<V1beta1LeaseCandidate>('coordination.k8s.io', 'v1beta1', 'leasecandidates', 'LeaseCandidate')

export const endpointslices = inNamespaces<EndpointSlice>('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice')

export const eventsV1 = inNamespaces<EventsV1Event>('events.k8s.io', 'v1', 'events', 'Event')

const flowControl = 'flowcontrol.apiserver.k8s.io'
export const flowschemas = clusterWide<FlowSchema>(flowControl, 'v1', 'flowschemas', 'FlowSchema')
export const prioritylevelconfigurations = clusterWide<PriorityLevelConfiguration>(
  flowControl, 'v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration',
)

export const ingressclasses = clusterWide<IngressClass>('networking.k8s.io', 'v1', 'ingressclasses', 'IngressClass')
export const ipaddresses = clusterWide<IPAddress>('networking.k8s.io', 'v1', 'ipaddresses', 'IPAddress')
export const ingresses = inNamespaces<Ingress>('networking.k8s.io', 'v1', 'ingresses', 'Ingress')
export const networkpolicies = inNamespaces<NetworkPolicy>('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy')
export const servicecidrs = clusterWide<ServiceCIDR>('networking.k8s.io', 'v1', 'servicecidrs', 'ServiceCIDR')

export const runtimeclasses = clusterWide<RuntimeClass>('node.k8s.io', 'v1', 'runtimeclasses', 'RuntimeClass')

export const poddisruptionbudgets = inNamespaces<PodDisruptionBudget>('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget')

export const clusterrolebindings = clusterWide<ClusterRoleBinding>('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'ClusterRoleBinding')
export const clusterroles = clusterWide<ClusterRole>('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole')
export const rolebindings = inNamespaces<RoleBinding>('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding')
export const roles = inNamespaces<Role>('rbac.authorization.k8s.io', 'v1', 'roles', 'Role')

export const deviceclasses = clusterWide<DeviceClass>('resource.k8s.io', 'v1', 'deviceclasses', 'DeviceClass')
export const resourceclaims = inNamespaces<ResourceV1ResourceClaim>('resource.k8s.io', 'v1', 'resourceclaims', 'ResourceClaim')
export const resourceclaimtemplates = inNamespaces<ResourceClaimTemplate>('resource.k8s.io', 'v1', 'resourceclaimtemplates', 'ResourceClaimTemplate')
export const resourceslices = clusterWide<ResourceSlice>('resource.k8s.io', 'v1', 'resourceslices', 'ResourceSlice')

export const priorityclasses = clusterWide<PriorityClass>('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass')

export const csidrivers = clusterWide<CSIDriver>('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver')
export const csinodes = clusterWide<CSINode>('storage.k8s.io', 'v1', 'csinodes', 'CSINode')
export const csistoragecapacities = inNamespaces<CSIStorageCapacity>('storage.k8s.io', 'v1', 'csistoragecapacities', 'CSIStorageCapacity')
export const storageclasses = clusterWide<StorageClass>('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass')
export const volumeattachments = clusterWide<VolumeAttachment>('storage.k8s.io', 'v1', 'volumeattachments', 'VolumeAttachment')
export const volumeattributesclasses = clusterWide<VolumeAttributesClass>('storage.k8s.io', 'v1', 'volumeattributesclasses', 'VolumeAttributesClass')

// Questions: they are created, answered, and never stored.
export const selfsubjectreviews = clusterWide<SelfSubjectReview>('authentication.k8s.io', 'v1', 'selfsubjectreviews', 'SelfSubjectReview')
export const tokenreviews = clusterWide<TokenReview>('authentication.k8s.io', 'v1', 'tokenreviews', 'TokenReview')

export const localsubjectaccessreviews = inNamespaces<LocalSubjectAccessReview>('authorization.k8s.io', 'v1', 'localsubjectaccessreviews', 'LocalSubjectAccessReview')
export const selfsubjectaccessreviews = clusterWide<SelfSubjectAccessReview>('authorization.k8s.io', 'v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview')
export const selfsubjectrulesreviews = clusterWide<SelfSubjectRulesReview>('authorization.k8s.io', 'v1', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview')
export const subjectaccessreviews = clusterWide<SubjectAccessReview>('authorization.k8s.io', 'v1', 'subjectaccessreviews', 'SubjectAccessReview')

/** Every kind that is built in and stored. Kinds that need a gate are not among them: whoever waits for a cache of one would wait for ever. */
export const builtInResources: readonly ResourceType[] = [
  configmaps,
  endpoints,
  events,
  limitranges,
  namespaces,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  podtemplates,
  replicationcontrollers,
  resourcequotas,
  secrets,
  serviceaccounts,
  services,
  mutatingadmissionpolicies,
  mutatingadmissionpolicybindings,
  mutatingwebhookconfigurations,
  validatingadmissionpolicies,
  validatingadmissionpolicybindings,
  validatingwebhookconfigurations,
  apiservices,
  controllerrevisions,
  daemonsets,
  deployments,
  replicasets,
  statefulsets,
  clonesets,
  clonesetsV1beta1,
  horizontalpodautoscalers,
  horizontalpodautoscalersV1,
  certificatesigningrequests,
  cronjobs,
  jobs,
  leases,
  endpointslices,
  eventsV1,
  flowschemas,
  prioritylevelconfigurations,
  ingressclasses,
  ingresses,
  ipaddresses,
  networkpolicies,
  servicecidrs,
  runtimeclasses,
  poddisruptionbudgets,
  clusterrolebindings,
  clusterroles,
  rolebindings,
  roles,
  deviceclasses,
  resourceclaims,
  resourceclaimtemplates,
  resourceslices,
  priorityclasses,
  csidrivers,
  csinodes,
  csistoragecapacities,
  storageclasses,
  volumeattachments,
  volumeattributesclasses,
]
