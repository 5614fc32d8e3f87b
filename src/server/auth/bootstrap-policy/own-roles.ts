import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../../api/generated/types.ts'
import { binding, clusterBinding, clusterRole, events, group, read, role, rule, user, write } from './policy-objects.ts'

const kruise = 'apps.kruise.io'
const getPods = rule('get', 'core', 'pods')

/**
 * The permissions that Coxswain's controllers need beyond those of Kubernetes, by service account. They are in
 * `coxswain:controller:NAME`, so that Kubernetes' roles stay unchanged.
 */
export const ownControllerRules: Readonly<Record<string, PolicyRule[]>> = {
  // After a create that timed out or failed with AlreadyExists, the controller gets the pod.
  'replicaset-controller': [getPods],
  'replication-controller': [getPods],
  'daemon-set-controller': [getPods],
  'job-controller': [getPods],
  // Kubernetes updates claims, volumes and classes; these controllers patch them.
  'statefulset-controller': [rule('patch', 'core', 'persistentvolumeclaims')],
  'pvc-protection-controller': [rule('patch', 'core', 'persistentvolumeclaims')],
  'pv-protection-controller': [rule('patch', 'core', 'persistentvolumes')],
  'volumeattributesclass-protection-controller': [rule('patch', 'storage.k8s.io', 'volumeattributesclasses')],
  // The controller approves serving certificates for the addresses of a Node.
  'certificate-controller': [
    rule('patch', 'certificates.k8s.io', 'certificatesigningrequests/approval'),
    rule('approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'),
    rule(read, 'core', 'nodes'),
  ],
  // After a conflict, the controller gets the object and writes the status again.
  'resourcequota-controller': [rule('get', 'core', 'resourcequotas')],
  'clusterrole-aggregation-controller': [events],
  'cloneset-controller': [
    rule('get list watch update patch', kruise, 'clonesets'),
    rule('update patch', kruise, 'clonesets/status'),
    rule('update', kruise, 'clonesets/finalizers'),
    rule('get list watch create update patch delete', 'core', 'pods'),
    rule('update patch', 'core', 'pods/status'),
    rule('get list watch create update patch delete', 'core', 'persistentvolumeclaims'),
    rule('get list watch create update patch delete', 'apps', 'controllerrevisions'),
    events,
  ],
  'claim-recovery-controller': [
    rule('get list watch update patch delete', 'core', 'persistentvolumeclaims'),
    rule(read, 'core', 'persistentvolumes nodes'),
    rule('get list watch patch update delete', 'core', 'pods'),
    rule('patch update', 'core', 'pods/status'),
    rule(read, 'apps', 'statefulsets'),
    rule(read, kruise, 'clonesets'),
    events,
  ],
  'local-path-provisioner': [
    rule('get list watch create update patch delete', 'core', 'persistentvolumes'),
    rule('get list watch update patch', 'core', 'persistentvolumeclaims'),
    rule(read, 'core', 'nodes'),
    rule('get list watch create update', 'storage.k8s.io', 'storageclasses'),
    events,
  ],
}

/** The monitor only reads. */
const monitorRules: PolicyRule[] = [
  rule('list watch', 'core', 'pods persistentvolumeclaims replicationcontrollers configmaps secrets'),
  rule('list watch', 'apps', 'deployments statefulsets daemonsets replicasets'),
  rule('list watch', 'batch', 'jobs cronjobs'),
  rule('list watch', kruise, 'clonesets'),
  rule('create', 'authentication.k8s.io', 'tokenreviews'),
  rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
]

/**
 * The dashboard reads on behalf of all its users what `coxswain why` needs. Each user sees only what their own
 * permissions allow.
 */
const dashboardRules: PolicyRule[] = [
  rule(read, 'core', 'pods nodes persistentvolumeclaims replicationcontrollers events'),
  rule(read, 'apps', 'deployments statefulsets daemonsets replicasets controllerrevisions'),
  rule(read, 'batch', 'jobs cronjobs'),
  rule(read, 'policy', 'poddisruptionbudgets'),
  rule(read, kruise, 'clonesets'),
]

/** The reads that simulated nodes of one process share; each node writes with its own identity. */
const nodesRules: PolicyRule[] = [
  rule(read, 'core', 'pods nodes services configmaps secrets persistentvolumeclaims'),
  rule('get', 'core', 'persistentvolumes'),
  rule(read, 'node.k8s.io', 'runtimeclasses'),
]

/** The DNS server watches the objects of its records. */
const dnsRules: PolicyRule[] = [
  rule('list watch', 'core', 'services'),
  rule('list watch', 'discovery.k8s.io', 'endpointslices'),
]

const faultPlan = 'coxswain:fault-plan-reader'
const dnsService = 'coxswain:dns-service'
const leaseWatching = 'coxswain:scheduler-lease-watcher'

/** The user-facing roles for CloneSets, and the roles of components that Kubernetes does not have. */
export const ownRoles: readonly ClusterRole[] = [
  clusterRole('coxswain:aggregate-to-edit', [rule(write, kruise, 'clonesets clonesets/scale')], ['edit']),
  clusterRole(
    'coxswain:aggregate-to-view',
    [rule(read, kruise, 'clonesets clonesets/status clonesets/scale')],
    ['view'],
  ),
  clusterRole('coxswain:dashboard', dashboardRules),
  clusterRole('coxswain:dns', dnsRules),
  clusterRole('coxswain:monitor', monitorRules),
  clusterRole('coxswain:nodes', nodesRules),
]

export const ownBindings: readonly ClusterRoleBinding[] = [
  clusterBinding('coxswain:dashboard', user('coxswain:dashboard')),
  clusterBinding('coxswain:dns', user('coxswain:dns')),
  clusterBinding('coxswain:monitor', user('coxswain:monitor')),
  clusterBinding('coxswain:nodes', user('coxswain:nodes')),
]

/** Nodes watch the cluster's fault plan, which no pod refers to. A standby scheduler watches its lease. */
export const ownNamespaceRoles: readonly Role[] = [
  role('kube-system', faultPlan, [rule(read, 'core', 'configmaps', 'coxswain-faults')]),
  role('kube-system', dnsService, [
    rule('create', 'core', 'services'),
    rule('get delete', 'core', 'services', 'kube-dns'),
  ]),
  role('kube-system', leaseWatching, [rule('list watch', 'coordination.k8s.io', 'leases', 'kube-scheduler')]),
]

export const ownNamespaceBindings: readonly RoleBinding[] = [
  binding('kube-system', faultPlan, [group('system:nodes')]),
  binding('kube-system', dnsService, [user('coxswain:dns')]),
  binding('kube-system', leaseWatching, [user('system:kube-scheduler')]),
]
