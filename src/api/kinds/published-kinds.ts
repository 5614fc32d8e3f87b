/** Plural names of the kinds of workloads whose conditions can be published. */
export const publishedKindNames = ['deployments', 'replicasets', 'replicationcontrollers', 'statefulsets', 'daemonsets', 'jobs', 'clonesets'] as const

export type PublishedKindName = (typeof publishedKindNames)[number]

/**
 * Those that have a companion unless somebody says otherwise: a stock status cannot hold the clock of their rollouts, or
 * loses it, and a restart would begin it anew.
 */
export const companionKindNames: readonly PublishedKindName[] = ['statefulsets', 'daemonsets', 'clonesets']
