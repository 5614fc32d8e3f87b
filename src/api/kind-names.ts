/** The names of a kind: in paths, in objects, and in kubectl. */
export interface KindNames {
  /** '' is the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly shortNames?: readonly string[]
  /** Categories. `kubectl get all` lists the kinds of category `all`. */
  readonly categories?: readonly string[]
}

type More = Pick<KindNames, 'shortNames' | 'categories'>

const inNamespaces = (group: string, version: string, kind: string, plural: string, more: More = {}): KindNames => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
  ...more,
})

const clusterWide = (group: string, version: string, kind: string, plural: string, more: More = {}): KindNames => ({
  group,
  version,
  kind,
  plural,
  namespaced: false,
  ...more,
})

/** The names of all built-in kinds, for the server and for clients. */
export const kindNames = {
  configmaps: inNamespaces('', 'v1', 'ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  endpoints: inNamespaces('', 'v1', 'Endpoints', 'endpoints', { shortNames: ['ep'] }),
  events: inNamespaces('', 'v1', 'Event', 'events', { shortNames: ['ev'] }),
  limitranges: inNamespaces('', 'v1', 'LimitRange', 'limitranges', { shortNames: ['limits'] }),
  namespaces: clusterWide('', 'v1', 'Namespace', 'namespaces', { shortNames: ['ns'] }),
  nodes: clusterWide('', 'v1', 'Node', 'nodes', { shortNames: ['no'] }),
  persistentvolumeclaims: inNamespaces('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    shortNames: ['pvc'],
  }),
  persistentvolumes: clusterWide('', 'v1', 'PersistentVolume', 'persistentvolumes', { shortNames: ['pv'] }),
  pods: inNamespaces('', 'v1', 'Pod', 'pods', { shortNames: ['po'], categories: ['all'] }),
  podtemplates: inNamespaces('', 'v1', 'PodTemplate', 'podtemplates'),
  replicationcontrollers: inNamespaces('', 'v1', 'ReplicationController', 'replicationcontrollers', {
    shortNames: ['rc'],
    categories: ['all'],
  }),
  resourcequotas: inNamespaces('', 'v1', 'ResourceQuota', 'resourcequotas', { shortNames: ['quota'] }),
  secrets: inNamespaces('', 'v1', 'Secret', 'secrets'),
  serviceaccounts: inNamespaces('', 'v1', 'ServiceAccount', 'serviceaccounts', { shortNames: ['sa'] }),
  services: inNamespaces('', 'v1', 'Service', 'services', { shortNames: ['svc'], categories: ['all'] }),

  mutatingadmissionpolicies: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
    { categories: ['api-extensions'] },
  ),
  mutatingadmissionpolicybindings: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
    { categories: ['api-extensions'] },
  ),
  mutatingwebhookconfigurations: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    { categories: ['api-extensions'] },
  ),
  validatingadmissionpolicies: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    { categories: ['api-extensions'] },
  ),
  validatingadmissionpolicybindings: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    { categories: ['api-extensions'] },
  ),
  validatingwebhookconfigurations: clusterWide(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    { categories: ['api-extensions'] },
  ),

  customresourcedefinitions: clusterWide(
    'apiextensions.k8s.io',
    'v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    { shortNames: ['crd', 'crds'], categories: ['api-extensions'] },
  ),

  apiservices: clusterWide('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices', {
    categories: ['api-extensions'],
  }),

  controllerrevisions: inNamespaces('apps', 'v1', 'ControllerRevision', 'controllerrevisions'),
  daemonsets: inNamespaces('apps', 'v1', 'DaemonSet', 'daemonsets', { shortNames: ['ds'], categories: ['all'] }),
  deployments: inNamespaces('apps', 'v1', 'Deployment', 'deployments', { shortNames: ['deploy'], categories: ['all'] }),
  replicasets: inNamespaces('apps', 'v1', 'ReplicaSet', 'replicasets', { shortNames: ['rs'], categories: ['all'] }),
  statefulsets: inNamespaces('apps', 'v1', 'StatefulSet', 'statefulsets', { shortNames: ['sts'], categories: ['all'] }),

  clonesets: inNamespaces('apps.kruise.io', 'v1alpha1', 'CloneSet', 'clonesets', { shortNames: ['clone'] }),
  clonesetsV1beta1: inNamespaces('apps.kruise.io', 'v1beta1', 'CloneSet', 'clonesets', { shortNames: ['clone'] }),

  horizontalpodautoscalers: inNamespaces('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    shortNames: ['hpa'],
    categories: ['all'],
  }),
  horizontalpodautoscalersV1: inNamespaces('autoscaling', 'v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    shortNames: ['hpa'],
    categories: ['all'],
  }),

  certificatesigningrequests: clusterWide(
    'certificates.k8s.io',
    'v1',
    'CertificateSigningRequest',
    'certificatesigningrequests',
    { shortNames: ['csr'] },
  ),

  cronjobs: inNamespaces('batch', 'v1', 'CronJob', 'cronjobs', { shortNames: ['cj'], categories: ['all'] }),
  jobs: inNamespaces('batch', 'v1', 'Job', 'jobs', { categories: ['all'] }),

  leases: inNamespaces('coordination.k8s.io', 'v1', 'Lease', 'leases'),
  leasecandidates: inNamespaces('coordination.k8s.io', 'v1beta1', 'LeaseCandidate', 'leasecandidates'),

  endpointslices: inNamespaces('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices'),

  eventsV1: inNamespaces('events.k8s.io', 'v1', 'Event', 'events', { shortNames: ['ev'] }),

  flowschemas: clusterWide('flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema', 'flowschemas'),
  prioritylevelconfigurations: clusterWide(
    'flowcontrol.apiserver.k8s.io',
    'v1',
    'PriorityLevelConfiguration',
    'prioritylevelconfigurations',
  ),

  ingressclasses: clusterWide('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses'),
  ipaddresses: clusterWide('networking.k8s.io', 'v1', 'IPAddress', 'ipaddresses', { shortNames: ['ip'] }),
  ingresses: inNamespaces('networking.k8s.io', 'v1', 'Ingress', 'ingresses', { shortNames: ['ing'] }),
  networkpolicies: inNamespaces('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies', {
    shortNames: ['netpol'],
  }),
  servicecidrs: clusterWide('networking.k8s.io', 'v1', 'ServiceCIDR', 'servicecidrs'),

  runtimeclasses: clusterWide('node.k8s.io', 'v1', 'RuntimeClass', 'runtimeclasses'),

  poddisruptionbudgets: inNamespaces('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    shortNames: ['pdb'],
  }),

  clusterrolebindings: clusterWide('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings'),
  clusterroles: clusterWide('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles'),
  rolebindings: inNamespaces('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings'),
  roles: inNamespaces('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'),

  deviceclasses: clusterWide('resource.k8s.io', 'v1', 'DeviceClass', 'deviceclasses'),
  resourceclaims: inNamespaces('resource.k8s.io', 'v1', 'ResourceClaim', 'resourceclaims'),
  resourceclaimtemplates: inNamespaces('resource.k8s.io', 'v1', 'ResourceClaimTemplate', 'resourceclaimtemplates'),
  resourceslices: clusterWide('resource.k8s.io', 'v1', 'ResourceSlice', 'resourceslices'),

  priorityclasses: clusterWide('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses', { shortNames: ['pc'] }),

  csidrivers: clusterWide('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers'),
  csinodes: clusterWide('storage.k8s.io', 'v1', 'CSINode', 'csinodes'),
  csistoragecapacities: inNamespaces('storage.k8s.io', 'v1', 'CSIStorageCapacity', 'csistoragecapacities'),
  storageclasses: clusterWide('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', { shortNames: ['sc'] }),
  volumeattachments: clusterWide('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments'),
  volumeattributesclasses: clusterWide('storage.k8s.io', 'v1', 'VolumeAttributesClass', 'volumeattributesclasses', {
    shortNames: ['vac'],
  }),

  selfsubjectreviews: clusterWide('authentication.k8s.io', 'v1', 'SelfSubjectReview', 'selfsubjectreviews'),
  tokenreviews: clusterWide('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews'),

  localsubjectaccessreviews: inNamespaces(
    'authorization.k8s.io',
    'v1',
    'LocalSubjectAccessReview',
    'localsubjectaccessreviews',
  ),
  selfsubjectaccessreviews: clusterWide(
    'authorization.k8s.io',
    'v1',
    'SelfSubjectAccessReview',
    'selfsubjectaccessreviews',
  ),
  selfsubjectrulesreviews: clusterWide(
    'authorization.k8s.io',
    'v1',
    'SelfSubjectRulesReview',
    'selfsubjectrulesreviews',
  ),
  subjectaccessreviews: clusterWide('authorization.k8s.io', 'v1', 'SubjectAccessReview', 'subjectaccessreviews'),
} satisfies Record<string, KindNames>
