import type { PolicyRule } from '../../../api/generated/types.ts'
import { events, read, rule } from './policy-objects.ts'

const batch = (verbs: string, resources: string) => rule(verbs, 'batch', resources)
const core = (verbs: string, resources: string, names?: string) => rule(verbs, 'core', resources, names)
const apps = (verbs: string, resources: string) => rule(verbs, 'apps', resources)
/** Workloads were in the group `extensions` first, and upstream's controller roles still include it. */
const oldApps = (verbs: string, resources: string) => rule(verbs, 'apps extensions', resources)
const storage = (verbs: string, resources: string) => rule(verbs, 'storage.k8s.io', resources)
const certificates = (verbs: string, resources: string, names?: string) =>
  rule(verbs, 'certificates.k8s.io', resources, names)
const devices = (verbs: string, resources: string) => rule(verbs, 'resource.k8s.io', resources)
const signers = (...names: string[]) => names.map((name) => `kubernetes.io/${name}`).join(' ')

/** The rules of `system:controller:NAME`, by the name of the service account in kube-system. */
export const controllerRules: Readonly<Record<string, PolicyRule[]>> = {
  'attachdetach-controller': [
    core('list watch', 'persistentvolumes persistentvolumeclaims'),
    core(read, 'nodes'),
    core('patch update', 'nodes/status'),
    core('list watch', 'pods'),
    events,
    storage('get create delete list watch', 'volumeattachments'),
    storage(read, 'csidrivers'),
    storage(read, 'csinodes'),
  ],
  // This controller grants rules that it does not have itself.
  'clusterrole-aggregation-controller': [
    rule('escalate get list watch update patch', 'rbac.authorization.k8s.io', 'clusterroles'),
  ],
  'cronjob-controller': [
    batch('get list watch update', 'cronjobs'),
    batch('get list watch create update delete patch', 'jobs'),
    batch('update', 'cronjobs/status'),
    batch('update', 'cronjobs/finalizers'),
    core('list watch delete', 'pods'),
    events,
  ],
  'daemon-set-controller': [
    oldApps(read, 'daemonsets'),
    oldApps('update', 'daemonsets/status'),
    oldApps('update', 'daemonsets/finalizers'),
    core('list watch', 'nodes'),
    core('list watch create delete patch', 'pods'),
    core('create', 'pods/binding'),
    apps('get list watch create delete update patch', 'controllerrevisions'),
    events,
  ],
  'deployment-controller': [
    oldApps('get list watch update', 'deployments'),
    oldApps('update', 'deployments/status'),
    oldApps('update', 'deployments/finalizers'),
    oldApps('get list watch create update patch delete', 'replicasets'),
    core('get list watch update', 'pods'),
    events,
  ],
  'disruption-controller': [
    oldApps(read, 'deployments'),
    oldApps(read, 'replicasets'),
    core(read, 'replicationcontrollers'),
    rule(read, 'policy', 'poddisruptionbudgets'),
    apps(read, 'statefulsets'),
    rule('update', 'policy', 'poddisruptionbudgets/status'),
    core('patch update', 'pods/status'),
    rule('get', '*', '*/scale'),
    events,
  ],
  'endpoint-controller': [
    core(read, 'services pods'),
    core('get list watch create update delete', 'endpoints'),
    core('create', 'endpoints/restricted'),
    events,
  ],
  'endpointslice-controller': [
    core(read, 'services pods nodes'),
    core('update', 'services/finalizers'),
    rule('get list watch create update delete', 'discovery.k8s.io', 'endpointslices'),
    events,
  ],
  'endpointslicemirroring-controller': [
    core(read, 'services endpoints'),
    core('update', 'services/finalizers'),
    core('update', 'endpoints/finalizers'),
    rule('get list watch create update delete', 'discovery.k8s.io', 'endpointslices'),
    events,
  ],
  'expand-controller': [
    core('get list watch update patch', 'persistentvolumes'),
    core('update patch', 'persistentvolumeclaims/status'),
    core(read, 'persistentvolumeclaims'),
    events,
    core('get', 'services'),
  ],
  'ephemeral-volume-controller': [
    core(read, 'pods'),
    core('update', 'pods/finalizers'),
    core('get list watch create', 'persistentvolumeclaims'),
    events,
  ],
  'resource-claim-controller': [
    core(read, 'pods'),
    core('update', 'pods/finalizers'),
    devices('get list watch create delete', 'resourceclaims'),
    devices('update patch', 'resourceclaims resourceclaims/status'),
    core('update patch', 'pods/status'),
    events,
  ],
  'generic-garbage-collector': [rule('get list watch patch update delete', '*', '*'), events],
  'horizontal-pod-autoscaler': [
    rule(read, 'autoscaling', 'horizontalpodautoscalers'),
    rule('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    rule('get update', '*', '*/scale'),
    core('list watch', 'pods'),
    rule('list watch', 'metrics.k8s.io', 'pods'),
    rule(read, 'custom.metrics.k8s.io', '*'),
    rule(read, 'external.metrics.k8s.io', '*'),
    events,
  ],
  'job-controller': [
    batch('get list watch update patch', 'jobs'),
    batch('update', 'jobs/status'),
    batch('update', 'jobs/finalizers'),
    core('list watch create delete patch', 'pods'),
    events,
  ],
  'namespace-controller': [
    core('get list watch delete', 'namespaces'),
    core('update', 'namespaces/finalize namespaces/status'),
    rule('get list watch delete deletecollection', '*', '*'),
  ],
  'node-controller': [
    core('get list watch update delete patch', 'nodes'),
    core('patch update', 'nodes/status'),
    core('patch update', 'pods/status'),
    core('list watch get delete', 'pods'),
    events,
  ],
  'persistent-volume-binder': [
    core('get list watch update create delete', 'persistentvolumes'),
    core('update', 'persistentvolumes/status'),
    core('get list watch update', 'persistentvolumeclaims'),
    core('update', 'persistentvolumeclaims/status'),
    core('list watch get create delete', 'pods'),
    storage(read, 'storageclasses'),
    core('list watch', 'nodes'),
    events,
    core('watch', 'events'),
    core('get', 'services'),
  ],
  'pod-garbage-collector': [core('list watch delete', 'pods'), core(read, 'nodes'), core('patch', 'pods/status')],
  'replicaset-controller': [
    oldApps('get list watch update', 'replicasets'),
    oldApps('update', 'replicasets/status'),
    oldApps('update', 'replicasets/finalizers'),
    core('list watch patch create delete', 'pods'),
    events,
  ],
  'replication-controller': [
    core('get list watch update', 'replicationcontrollers'),
    core('update', 'replicationcontrollers/status'),
    core('update', 'replicationcontrollers/finalizers'),
    core('list watch patch create delete', 'pods'),
    events,
  ],
  'resourcequota-controller': [rule('list watch', '*', '*'), core('update', 'resourcequotas/status'), events],
  'route-controller': [core('list watch', 'nodes'), core('patch', 'nodes/status'), events],
  'service-account-controller': [core('create', 'serviceaccounts'), events],
  'service-controller': [
    core(read, 'services'),
    core('patch update', 'services/status'),
    core('list watch', 'nodes'),
    events,
  ],
  'service-cidrs-controller': [
    rule('get list watch patch update', 'networking.k8s.io', 'servicecidrs'),
    rule('patch update', 'networking.k8s.io', 'servicecidrs/finalizers'),
    rule('patch update', 'networking.k8s.io', 'servicecidrs/status'),
    rule(read, 'networking.k8s.io', 'ipaddresses'),
    events,
  ],
  'statefulset-controller': [
    core('list watch', 'pods'),
    apps(read, 'statefulsets'),
    apps('update', 'statefulsets/status'),
    apps('update', 'statefulsets/finalizers'),
    core('get create delete update patch', 'pods'),
    apps('get create delete update patch list watch', 'controllerrevisions'),
    core('get create list watch', 'persistentvolumeclaims'),
    core('update delete', 'persistentvolumeclaims'),
    core('update', 'pods/finalizers'),
    events,
  ],
  'ttl-controller': [core('update patch list watch', 'nodes'), events],
  'certificate-controller': [
    certificates('get list watch delete', 'certificatesigningrequests'),
    certificates('update', 'certificatesigningrequests/status certificatesigningrequests/approval'),
    certificates('approve', 'signers', signers('kube-apiserver-client-kubelet')),
    certificates(
      'sign',
      'signers',
      signers('legacy-unknown', 'kube-apiserver-client', 'kube-apiserver-client-kubelet', 'kubelet-serving'),
    ),
    rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    events,
  ],
  'pvc-protection-controller': [
    core('get list watch update', 'persistentvolumeclaims'),
    core('list watch get', 'pods'),
    events,
  ],
  'pv-protection-controller': [core('get list watch update', 'persistentvolumes'), events],
  'volumeattributesclass-protection-controller': [
    core(read, 'persistentvolumeclaims'),
    core(read, 'persistentvolumes'),
    storage('get list watch update', 'volumeattributesclasses'),
    events,
  ],
  'ttl-after-finished-controller': [batch('get list watch delete', 'jobs'), events],
  'root-ca-cert-publisher': [core('create update', 'configmaps'), events],
  'validatingadmissionpolicy-status-controller': [
    rule(read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    rule('get patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    events,
  ],
  'legacy-service-account-token-cleaner': [
    core('get', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    core('patch delete', 'secrets'),
  ],
  'selinux-warning-controller': [
    events,
    core(read, 'persistentvolumes'),
    core(read, 'persistentvolumeclaims'),
    core(read, 'pods'),
    storage(read, 'csidrivers'),
  ],
}
