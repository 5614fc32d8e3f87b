/** A rule of a role. */
export interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
  resourceNames?: string[]
}

const rule = (verbs: string, group: string, resources: string, name?: string): Rule =>
  ({ apiGroups: [group], resources: resources.split(' '), verbs: verbs.split(' '), ...(name ? { resourceNames: [name] } : {}) })

/** Streams begin with what there is; servers before 1.34 are asked for lists first. A write without an answer is looked up. */
const follow = 'list watch'

/**
 * Rights in the whole cluster, by component. Only conditions are published, by patches of statuses; deployments and their status
 * are not among them.
 */
export const clusterRules: Readonly<Record<string, readonly Rule[]>> = {
  publisher: [
    rule(`get ${follow}`, 'apps', 'statefulsets daemonsets replicasets'),
    rule(`get ${follow}`, '', 'replicationcontrollers'),
    rule(`get ${follow}`, 'batch', 'jobs'),
    rule(follow, 'apps.kruise.io', 'clonesets'),
    rule(follow, '', 'pods nodes persistentvolumeclaims'),
    rule(follow, 'apps', 'controllerrevisions'),
    rule('patch', 'apps', 'statefulsets/status daemonsets/status replicasets/status'),
    rule('patch', '', 'replicationcontrollers/status'),
    rule('patch', 'batch', 'jobs/status'),
    rule(`get ${follow} create patch`, 'coxswain.dev', 'workloadstatuses'),
  ],
  monitor: [
    rule(follow, '', 'pods persistentvolumeclaims replicationcontrollers'),
    rule(follow, 'apps', 'deployments statefulsets daemonsets replicasets'),
    rule(follow, 'batch', 'jobs cronjobs'),
    rule(follow, 'apps.kruise.io', 'clonesets'),
    rule('create', 'authentication.k8s.io', 'tokenreviews'),
    rule('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  ],
  // Beyond the roles that Kubernetes has for each of its controllers.
  controllers: [
    rule('get', '', 'pods'),
    rule('patch', '', 'persistentvolumeclaims'),
    rule(follow, '', 'resourcequotas nodes'),
  ],
}

/** Rights on the lease of an election, in the namespace of the component. */
export const leaseRules = (name: string): Rule[] => [
  rule('create', 'coordination.k8s.io', 'leases'),
  rule('get watch update', 'coordination.k8s.io', 'leases', name),
]

/** Rights to see whether another manager holds its lease, in the namespace of that lease. */
export const rivalRules: readonly Rule[] = [rule(follow, 'coordination.k8s.io', 'leases', 'kube-controller-manager')]
