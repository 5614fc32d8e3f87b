import type { ClusterRole, PolicyRule } from '../../../api/generated/types.ts'
import { clusterRole, events, read, rule } from './policy-objects.ts'

const delegation = [
  rule('create', 'authentication.k8s.io', 'tokenreviews'),
  rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
]

/** Rules for a leader-election lease: create any lease, get and update the named one. */
const lease = (name: string) => [
  rule('create', 'coordination.k8s.io', 'leases'),
  rule('get update', 'coordination.k8s.io', 'leases', name),
]

/** The permissions of a node that depend only on verb and resource. The node authorizer checks the rest. */
export const nodeRules: readonly PolicyRule[] = [
  rule('create', 'authentication.k8s.io', 'tokenreviews'),
  rule('create', 'authorization.k8s.io', 'subjectaccessreviews localsubjectaccessreviews'),
  rule(read, 'core', 'services'),
  rule('create get list watch', 'core', 'nodes'),
  rule('update patch', 'core', 'nodes/status'),
  rule('update patch', 'core', 'nodes'),
  rule('create update patch', 'core', 'events'),
  rule(read, 'core', 'pods'),
  rule('create delete', 'core', 'pods'),
  rule('update patch', 'core', 'pods/status'),
  rule('create', 'core', 'pods/eviction'),
  rule(read, 'core', 'secrets configmaps'),
  rule('get', 'core', 'persistentvolumeclaims persistentvolumes'),
  rule('get', 'core', 'endpoints'),
  rule('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  rule('get create update patch delete', 'coordination.k8s.io', 'leases'),
  rule('get', 'storage.k8s.io', 'volumeattachments'),
  rule('create', 'core', 'serviceaccounts/token'),
  rule('get update patch', 'core', 'persistentvolumeclaims/status'),
  rule(read, 'storage.k8s.io', 'csidrivers'),
  rule('get create update patch delete', 'storage.k8s.io', 'csinodes'),
  rule(read, 'node.k8s.io', 'runtimeclasses'),
  rule('get', 'resource.k8s.io', 'resourceclaims'),
  rule('deletecollection', 'resource.k8s.io', 'resourceslices'),
  rule('get list watch create update patch delete', 'resource.k8s.io', 'resourceslices'),
]

const approver = (signer: string) =>
  clusterRole(`system:certificates.k8s.io:${signer}-approver`, [
    rule('approve', 'certificates.k8s.io', 'signers', `kubernetes.io/${signer}`),
  ])

/** The roles of Kubernetes' components and of common add-ons. */
export const componentRoles: readonly ClusterRole[] = [
  clusterRole('system:node', [...nodeRules]),
  clusterRole('system:heapster', [
    rule(read, 'core', 'events pods nodes namespaces'),
    rule(read, 'extensions', 'deployments'),
  ]),
  clusterRole('system:node-problem-detector', [
    rule('get', 'core', 'nodes'),
    rule('patch', 'core', 'nodes/status'),
    events,
  ]),
  clusterRole('system:kubelet-api-admin', [
    rule(read, 'core', 'nodes'),
    rule('proxy', 'core', 'nodes'),
    rule('*', 'core', 'nodes/proxy nodes/metrics nodes/stats nodes/log'),
  ]),
  clusterRole('system:node-bootstrapper', [
    rule('create get list watch', 'certificates.k8s.io', 'certificatesigningrequests'),
  ]),
  clusterRole('system:auth-delegator', delegation),
  clusterRole('system:kube-aggregator', [rule(read, 'core', 'services endpoints')]),
  clusterRole('system:kube-controller-manager', [
    events,
    ...lease('kube-controller-manager'),
    rule('create', 'core', 'secrets serviceaccounts'),
    rule('delete', 'core', 'secrets'),
    rule('get', 'core', 'namespaces secrets serviceaccounts configmaps'),
    rule('update', 'core', 'secrets serviceaccounts'),
    ...delegation,
    // The shared caches, also for quota and garbage collection, may be of any kind.
    rule('list watch', '*', '*'),
    rule('create', 'core', 'serviceaccounts/token'),
  ]),
  clusterRole('system:kube-dns', [rule('list watch', 'core', 'endpoints services')]),
  clusterRole('system:persistent-volume-provisioner', [
    rule('get list watch create delete', 'core', 'persistentvolumes'),
    rule('get list watch update', 'core', 'persistentvolumeclaims'),
    rule(read, 'storage.k8s.io', 'storageclasses'),
    rule('watch', 'core', 'events'),
    events,
  ]),
  clusterRole('system:certificates.k8s.io:certificatesigningrequests:nodeclient', [
    rule('create', 'certificates.k8s.io', 'certificatesigningrequests/nodeclient'),
  ]),
  clusterRole('system:certificates.k8s.io:certificatesigningrequests:selfnodeclient', [
    rule('create', 'certificates.k8s.io', 'certificatesigningrequests/selfnodeclient'),
  ]),
  clusterRole('system:volume-scheduler', [
    rule('get list watch update patch', 'core', 'persistentvolumes'),
    rule(read, 'storage.k8s.io', 'storageclasses'),
    rule('get list watch update patch', 'core', 'persistentvolumeclaims'),
  ]),
  ...['legacy-unknown', 'kubelet-serving', 'kube-apiserver-client', 'kube-apiserver-client-kubelet'].map(approver),
  clusterRole('system:node-proxier', [
    rule('list watch', 'core', 'services endpoints'),
    rule(read, 'core', 'nodes'),
    events,
    rule('list watch', 'discovery.k8s.io', 'endpointslices'),
  ]),
  clusterRole('system:kube-scheduler', [
    events,
    ...lease('kube-scheduler'),
    rule(read, 'core', 'nodes'),
    rule('get list watch delete', 'core', 'pods'),
    rule('create', 'core', 'pods/binding bindings'),
    rule('patch update', 'core', 'pods/status'),
    rule(read, 'core', 'services replicationcontrollers'),
    rule(read, 'apps extensions', 'replicasets'),
    rule(read, 'apps', 'statefulsets'),
    rule(read, 'policy', 'poddisruptionbudgets'),
    rule(read, 'core', 'persistentvolumeclaims persistentvolumes'),
    ...delegation,
    rule(read, 'storage.k8s.io', 'csinodes'),
    rule(read, 'core', 'namespaces'),
    rule(read, 'storage.k8s.io', 'csidrivers'),
    rule(read, 'storage.k8s.io', 'csistoragecapacities'),
    rule(read, 'storage.k8s.io', 'volumeattachments'),
    rule(read, 'resource.k8s.io', 'deviceclasses'),
    rule('get list watch update patch', 'resource.k8s.io', 'resourceclaims'),
    rule('update patch', 'resource.k8s.io', 'resourceclaims/status'),
    rule('update', 'core', 'pods/finalizers'),
    rule(read, 'resource.k8s.io', 'resourceslices'),
  ]),
  // Kubernetes' metrics server has this role; here the API server serves its group itself.
  clusterRole(
    'system:aggregated-metrics-reader',
    [rule(read, 'metrics.k8s.io', 'pods nodes')],
    ['view', 'edit', 'admin'],
  ),
]
