/** A rule of a role. */
export interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
  resourceNames?: string[]
}

const rule = (verbs: string, group: string, resources: string, name?: string): Rule => ({
  apiGroups: [group],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(name ? { resourceNames: [name] } : {}),
})

/** Streaming lists need only `watch`; servers before 1.34 need `list` too. */
const follow = 'list watch'

/**
 * Cluster-wide permissions by component. Conditions are published only by patches of statuses, and Deployments are not
 * among them. `get` is for looking up an object after a write whose response was lost. An apply that creates its object
 * needs `create` besides `patch`.
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
  // In addition to Kubernetes' roles for each of its controllers.
  controllers: [
    rule('get', '', 'pods'),
    rule('patch', '', 'persistentvolumeclaims'),
    rule(follow, '', 'resourcequotas nodes'),
  ],
}

/** Permissions for the lease of an election, in the namespace of the component. */
export const leaseRules = (name: string): Rule[] => [
  rule('create', 'coordination.k8s.io', 'leases'),
  rule('get watch update', 'coordination.k8s.io', 'leases', name),
]
