// The served models by API version (as in `apiVersion`). The types that they refer to are included.
const served = {
  v1: [
    'V1Namespace',
    'V1Pod',
    'V1Node',
    'V1Service',
    'V1Endpoints',
    'V1ConfigMap',
    'V1Secret',
    'V1ServiceAccount',
    'V1PersistentVolume',
    'V1PersistentVolumeClaim',
    'V1ReplicationController',
    'CoreV1Event',
    'V1ResourceQuota',
    'V1LimitRange',
    'V1PodTemplate',
    'V1Binding',
    'V1ComponentStatus',
  ],
  'apps/v1': ['V1Deployment', 'V1ReplicaSet', 'V1StatefulSet', 'V1DaemonSet', 'V1ControllerRevision'],
  'batch/v1': ['V1Job', 'V1CronJob'],
  'policy/v1': ['V1PodDisruptionBudget', 'V1Eviction'],
  'coordination.k8s.io/v1': ['V1Lease'],
  'coordination.k8s.io/v1beta1': ['V1beta1LeaseCandidate'],
  'discovery.k8s.io/v1': ['V1EndpointSlice'],
  'scheduling.k8s.io/v1': ['V1PriorityClass'],
  'storage.k8s.io/v1': [
    'V1StorageClass',
    'V1CSINode',
    'V1CSIDriver',
    'V1VolumeAttachment',
    'V1CSIStorageCapacity',
    'V1VolumeAttributesClass',
  ],
  'node.k8s.io/v1': ['V1RuntimeClass'],
  'networking.k8s.io/v1': ['V1IPAddress', 'V1Ingress', 'V1IngressClass', 'V1NetworkPolicy', 'V1ServiceCIDR'],
  'autoscaling/v1': ['V1HorizontalPodAutoscaler', 'V1Scale'],
  'autoscaling/v2': ['V2HorizontalPodAutoscaler'],
  'events.k8s.io/v1': ['EventsV1Event'],
  'resource.k8s.io/v1': ['V1DeviceClass', 'ResourceV1ResourceClaim', 'V1ResourceClaimTemplate', 'V1ResourceSlice'],
  'rbac.authorization.k8s.io/v1': ['V1Role', 'V1RoleBinding', 'V1ClusterRole', 'V1ClusterRoleBinding'],
  'authorization.k8s.io/v1': [
    'V1SelfSubjectAccessReview',
    'V1SubjectAccessReview',
    'V1LocalSubjectAccessReview',
    'V1SelfSubjectRulesReview',
  ],
  'certificates.k8s.io/v1': ['V1CertificateSigningRequest'],
  'apiregistration.k8s.io/v1': ['V1APIService'],
  'apiextensions.k8s.io/v1': ['V1CustomResourceDefinition'],
  'admissionregistration.k8s.io/v1': [
    'V1ValidatingWebhookConfiguration',
    'V1MutatingWebhookConfiguration',
    'V1ValidatingAdmissionPolicy',
    'V1ValidatingAdmissionPolicyBinding',
    'V1MutatingAdmissionPolicy',
    'V1MutatingAdmissionPolicyBinding',
  ],
  'flowcontrol.apiserver.k8s.io/v1': ['V1FlowSchema', 'V1PriorityLevelConfiguration'],
  'authentication.k8s.io/v1': ['V1SelfSubjectReview', 'V1TokenReview', 'AuthenticationV1TokenRequest'],
}

/** Models of messages that are not resources. */
const messages = ['V1DeleteOptions', 'V1Status', 'V1ListMeta', 'V1APIGroup', 'V1APIResourceList']

export const roots = [...Object.values(served).flat(), ...messages]

/** The API version that a served model belongs to. */
export const apiVersionOf = Object.fromEntries(
  Object.entries(served).flatMap(([apiVersion, models]) => models.map((model) => [model, apiVersion])),
)
