import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../../api/generated/types.ts'
import { binding, clusterBinding, clusterRole, events, group, read, role, rule, user, write } from './policy-objects.ts'

const kruise = 'apps.kruise.io'
const getPods = rule('get', 'core', 'pods')

/**
 * What our controllers do beyond those of Kubernetes, by service account. `coxswain:controller:NAME` has it, so that the roles of
 * Kubernetes stay as its users know them.
 */
export const ownControllerRules: Readonly<Record<string, PolicyRule[]>> = {
  // A create that was not answered, or found its name taken, is asked for.
  'replicaset-controller': [getPods],
  'replication-controller': [getPods],
  'daemon-set-controller': [getPods],
  'job-controller': [getPods],
  // Where Kubernetes replaces a claim, a volume or a class, ours patch it.
  'statefulset-controller': [rule('patch', 'core', 'persistentvolumeclaims')],
  'pvc-protection-controller': [rule('patch', 'core', 'persistentvolumeclaims')],
  'pv-protection-controller': [rule('patch', 'core', 'persistentvolumes')],
  'volumeattributesclass-protection-controller': [rule('patch', 'storage.k8s.io', 'volumeattributesclasses')],
  // Serving certificates of nodes are approved for addresses of their Node.
  'certificate-controller': [
    rule('patch', 'certificates.k8s.io', 'certificatesigningrequests/approval'),
    rule('approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'),
    rule(read, 'core', 'nodes'),
  ],
  // A status that another writer was faster with is written once more, on top of what is there.
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

/** The monitor reads what it explains, and nothing is its to write. */
const monitorRules: PolicyRule[] = [
  rule('list watch', 'core', 'pods persistentvolumeclaims replicationcontrollers configmaps secrets'),
  rule('list watch', 'apps', 'deployments statefulsets daemonsets replicasets'),
  rule('list watch', 'batch', 'jobs cronjobs'),
  rule('list watch', kruise, 'clonesets'),
  rule('create', 'authentication.k8s.io', 'tokenreviews'),
  rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
]

/** The dashboard reads what `coxswain why` explains workloads by, for all who look. Each of them is shown what their own rights allow. */
const dashboardRules: PolicyRule[] = [
  rule(read, 'core', 'pods nodes persistentvolumeclaims replicationcontrollers events'),
  rule(read, 'apps', 'deployments statefulsets daemonsets replicasets controllerrevisions'),
  rule(read, 'batch', 'jobs cronjobs'),
  rule(read, 'policy', 'poddisruptionbudgets'),
  rule(read, kruise, 'clonesets'),
]

/** What simulated nodes of one process read together; each writes as itself. */
const nodesRules: PolicyRule[] = [
  rule(read, 'core', 'pods nodes services configmaps secrets persistentvolumeclaims'),
  rule('get', 'core', 'persistentvolumes'),
  rule(read, 'node.k8s.io', 'runtimeclasses'),
]

const faultPlan = 'coxswain:fault-plan-reader'
const leaseWatching = 'coxswain:scheduler-lease-watcher'

/** CloneSets for people, and the parts of ours that Kubernetes does not have. */
export const ownRoles: readonly ClusterRole[] = [
  clusterRole('coxswain:aggregate-to-edit', [rule(write, kruise, 'clonesets clonesets/scale')], ['edit']),
  clusterRole('coxswain:aggregate-to-view', [rule(read, kruise, 'clonesets clonesets/status clonesets/scale')], ['view']),
  clusterRole('coxswain:dashboard', dashboardRules),
  clusterRole('coxswain:monitor', monitorRules),
  clusterRole('coxswain:nodes', nodesRules),
]

export const ownBindings: readonly ClusterRoleBinding[] = [
  clusterBinding('coxswain:dashboard', user('coxswain:dashboard')),
  clusterBinding('coxswain:monitor', user('coxswain:monitor')),
  clusterBinding('coxswain:nodes', user('coxswain:nodes')),
]

/** Nodes follow the cluster's plan of faults, which no pod refers to. A scheduler that stands by watches the lease instead of asking for it. */
export const ownNamespaceRoles: readonly Role[] = [
  role('kube-system', faultPlan, [rule(read, 'core', 'configmaps', 'coxswain-faults')]),
  role('kube-system', leaseWatching, [rule('list watch', 'coordination.k8s.io', 'leases', 'kube-scheduler')]),
]

export const ownNamespaceBindings: readonly RoleBinding[] = [
  binding('kube-system', faultPlan, [group('system:nodes')]),
  binding('kube-system', leaseWatching, [user('system:kube-scheduler')]),
]
