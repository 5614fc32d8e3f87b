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
  CustomResourceDefinition,
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
import { kindNames } from '../api/kind-names.ts'
import { type ResourceType, resourceType } from './resource-type.ts'

export const configmaps = resourceType<ConfigMap>(kindNames.configmaps)
export const endpoints = resourceType<Endpoints>(kindNames.endpoints)
export const events = resourceType<CoreV1Event>(kindNames.events)
export const limitranges = resourceType<LimitRange>(kindNames.limitranges)
export const namespaces = resourceType<Namespace>(kindNames.namespaces)
export const nodes = resourceType<Node>(kindNames.nodes)
export const persistentvolumeclaims = resourceType<PersistentVolumeClaim>(kindNames.persistentvolumeclaims)
export const persistentvolumes = resourceType<PersistentVolume>(kindNames.persistentvolumes)
export const pods = resourceType<Pod>(kindNames.pods)
export const podtemplates = resourceType<PodTemplate>(kindNames.podtemplates)
export const replicationcontrollers = resourceType<ReplicationController>(kindNames.replicationcontrollers)
export const resourcequotas = resourceType<ResourceQuota>(kindNames.resourcequotas)
export const secrets = resourceType<Secret>(kindNames.secrets)
export const serviceaccounts = resourceType<ServiceAccount>(kindNames.serviceaccounts)
export const services = resourceType<Service>(kindNames.services)

export const mutatingadmissionpolicies = resourceType<MutatingAdmissionPolicy>(kindNames.mutatingadmissionpolicies)
export const mutatingadmissionpolicybindings = resourceType<MutatingAdmissionPolicyBinding>(
  kindNames.mutatingadmissionpolicybindings,
)
export const mutatingwebhookconfigurations = resourceType<MutatingWebhookConfiguration>(
  kindNames.mutatingwebhookconfigurations,
)
export const validatingadmissionpolicies = resourceType<ValidatingAdmissionPolicy>(
  kindNames.validatingadmissionpolicies,
)
export const validatingadmissionpolicybindings = resourceType<ValidatingAdmissionPolicyBinding>(
  kindNames.validatingadmissionpolicybindings,
)
export const validatingwebhookconfigurations = resourceType<ValidatingWebhookConfiguration>(
  kindNames.validatingwebhookconfigurations,
)

export const customresourcedefinitions = resourceType<CustomResourceDefinition>(kindNames.customresourcedefinitions)
export const apiservices = resourceType<APIService>(kindNames.apiservices)

export const controllerrevisions = resourceType<ControllerRevision>(kindNames.controllerrevisions)
export const daemonsets = resourceType<DaemonSet>(kindNames.daemonsets)
export const deployments = resourceType<Deployment>(kindNames.deployments)
export const replicasets = resourceType<ReplicaSet>(kindNames.replicasets)
export const statefulsets = resourceType<StatefulSet>(kindNames.statefulsets)

/** CloneSets in the storage version. */
export const clonesets = resourceType<CloneSet>(kindNames.clonesets)
export const clonesetsV1beta1 = resourceType<V1beta1CloneSet>(kindNames.clonesetsV1beta1)

export const horizontalpodautoscalers = resourceType<V2HorizontalPodAutoscaler>(kindNames.horizontalpodautoscalers)

export const horizontalpodautoscalersV1 = resourceType<HorizontalPodAutoscaler>(kindNames.horizontalpodautoscalersV1)

export const certificatesigningrequests = resourceType<CertificateSigningRequest>(kindNames.certificatesigningrequests)

export const cronjobs = resourceType<CronJob>(kindNames.cronjobs)
export const jobs = resourceType<Job>(kindNames.jobs)

export const leases = resourceType<Lease>(kindNames.leases)
export const leasecandidates = resourceType<V1beta1LeaseCandidate>(kindNames.leasecandidates)

export const endpointslices = resourceType<EndpointSlice>(kindNames.endpointslices)

export const eventsV1 = resourceType<EventsV1Event>(kindNames.eventsV1)

export const flowschemas = resourceType<FlowSchema>(kindNames.flowschemas)
export const prioritylevelconfigurations = resourceType<PriorityLevelConfiguration>(
  kindNames.prioritylevelconfigurations,
)

export const ingressclasses = resourceType<IngressClass>(kindNames.ingressclasses)
export const ipaddresses = resourceType<IPAddress>(kindNames.ipaddresses)
export const ingresses = resourceType<Ingress>(kindNames.ingresses)
export const networkpolicies = resourceType<NetworkPolicy>(kindNames.networkpolicies)
export const servicecidrs = resourceType<ServiceCIDR>(kindNames.servicecidrs)

export const runtimeclasses = resourceType<RuntimeClass>(kindNames.runtimeclasses)

export const poddisruptionbudgets = resourceType<PodDisruptionBudget>(kindNames.poddisruptionbudgets)

export const clusterrolebindings = resourceType<ClusterRoleBinding>(kindNames.clusterrolebindings)
export const clusterroles = resourceType<ClusterRole>(kindNames.clusterroles)
export const rolebindings = resourceType<RoleBinding>(kindNames.rolebindings)
export const roles = resourceType<Role>(kindNames.roles)

export const deviceclasses = resourceType<DeviceClass>(kindNames.deviceclasses)
export const resourceclaims = resourceType<ResourceV1ResourceClaim>(kindNames.resourceclaims)
export const resourceclaimtemplates = resourceType<ResourceClaimTemplate>(kindNames.resourceclaimtemplates)
export const resourceslices = resourceType<ResourceSlice>(kindNames.resourceslices)

export const priorityclasses = resourceType<PriorityClass>(kindNames.priorityclasses)

export const csidrivers = resourceType<CSIDriver>(kindNames.csidrivers)
export const csinodes = resourceType<CSINode>(kindNames.csinodes)
export const csistoragecapacities = resourceType<CSIStorageCapacity>(kindNames.csistoragecapacities)
export const storageclasses = resourceType<StorageClass>(kindNames.storageclasses)
export const volumeattachments = resourceType<VolumeAttachment>(kindNames.volumeattachments)
export const volumeattributesclasses = resourceType<VolumeAttributesClass>(kindNames.volumeattributesclasses)

// Reviews are created and answered, but never stored.
export const selfsubjectreviews = resourceType<SelfSubjectReview>(kindNames.selfsubjectreviews)
export const tokenreviews = resourceType<TokenReview>(kindNames.tokenreviews)

export const localsubjectaccessreviews = resourceType<LocalSubjectAccessReview>(kindNames.localsubjectaccessreviews)
export const selfsubjectaccessreviews = resourceType<SelfSubjectAccessReview>(kindNames.selfsubjectaccessreviews)
export const selfsubjectrulesreviews = resourceType<SelfSubjectRulesReview>(kindNames.selfsubjectrulesreviews)
export const subjectaccessreviews = resourceType<SubjectAccessReview>(kindNames.subjectaccessreviews)

/**
 * All built-in kinds that are stored. Kinds that need a feature gate are excluded: an informer of a kind that is not
 * served would never sync.
 */
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
  customresourcedefinitions,
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
