/** Plural names of the workload kinds whose conditions can be published. */
export const publishedKindNames = [
  'deployments',
  'replicasets',
  'replicationcontrollers',
  'statefulsets',
  'daemonsets',
  'jobs',
  'clonesets',
] as const

export type PublishedKindName = (typeof publishedKindNames)[number]

/**
 * Kinds that have a companion object by default: their stock status cannot store the clock of a rollout, or loses it,
 * so a restart would reset it.
 */
export const companionKindNames: readonly PublishedKindName[] = ['statefulsets', 'daemonsets', 'clonesets']
