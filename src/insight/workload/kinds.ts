import type { LabelSelector } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  type ResourceType,
  clonesets,
  cronjobs,
  daemonsets,
  deployments,
  jobs,
  replicasets,
  replicationcontrollers,
  resourceName,
  statefulsets,
} from '../../client/index.ts'
import {
  cronNumbers,
  daemonNumbers,
  jobNumbers,
  numbersWithPartition,
  numbersWithoutRevisions,
  replicaNumbers,
} from './numbers.ts'
import type { Numbers, Workload } from './object.ts'
import type { KindName } from './said.ts'

export type { KindName }

/** A kind of workload as commands see it. */
export interface WorkloadKind {
  readonly kind: KindName
  readonly type: ResourceType<Workload>
  /** For example `deployment`. */
  readonly singular: string
  readonly shortNames: readonly string[]
  /** The name in sentences of kubectl: `daemon set`. */
  readonly title: string
  /** The kind of workload that owns some of these, which are then not listed separately. */
  readonly ownedBy?: KindName
  numbersOf(object: Workload): Numbers
}

/** All kinds, in the order of `kindNames`. */
export const workloadKinds: readonly WorkloadKind[] = [
  {
    kind: 'Deployment',
    type: deployments as ResourceType<Workload>,
    singular: 'deployment',
    shortNames: ['deploy'],
    title: 'deployment',
    numbersOf: replicaNumbers,
  },
  {
    kind: 'StatefulSet',
    type: statefulsets as ResourceType<Workload>,
    singular: 'statefulset',
    shortNames: ['sts'],
    title: 'statefulset',
    numbersOf: numbersWithPartition,
  },
  {
    kind: 'DaemonSet',
    type: daemonsets as ResourceType<Workload>,
    singular: 'daemonset',
    shortNames: ['ds'],
    title: 'daemon set',
    numbersOf: daemonNumbers,
  },
  {
    kind: 'CloneSet',
    type: clonesets as ResourceType<Workload>,
    singular: 'cloneset',
    shortNames: ['clone'],
    title: 'cloneset',
    numbersOf: numbersWithPartition,
  },
  {
    kind: 'ReplicaSet',
    type: replicasets as ResourceType<Workload>,
    singular: 'replicaset',
    shortNames: ['rs'],
    title: 'replicaset',
    ownedBy: 'Deployment',
    numbersOf: numbersWithoutRevisions,
  },
  {
    kind: 'ReplicationController',
    type: replicationcontrollers as ResourceType<Workload>,
    singular: 'replicationcontroller',
    shortNames: ['rc'],
    title: 'replication controller',
    numbersOf: numbersWithoutRevisions,
  },
  {
    kind: 'Job',
    type: jobs as ResourceType<Workload>,
    singular: 'job',
    shortNames: [],
    title: 'job',
    ownedBy: 'CronJob',
    numbersOf: jobNumbers,
  },
  {
    kind: 'CronJob',
    type: cronjobs as ResourceType<Workload>,
    singular: 'cronjob',
    shortNames: ['cj'],
    title: 'cron job',
    numbersOf: cronNumbers,
  },
]

/** The kind of that name. */
export const kindNamed = (name: KindName): WorkloadKind => workloadKinds.find(({ kind }) => kind === name)!

/** The name of a workload in these commands: `deployment/web`. */
export const shortName = ({ singular }: Pick<WorkloadKind, 'singular'>, { metadata }: KubeObject): string =>
  `${singular}/${metadata.name}`

/** The name of a workload in kubectl's output: `deployment.apps/web`. */
export const fullName = ({ singular, type }: Pick<WorkloadKind, 'singular' | 'type'>, name: string): string =>
  `${singular}${type.group ? `.${type.group}` : ''}/${name}`

/** The name of a workload in kubectl's errors: `deployments.apps "web"`. */
export const quotedName = ({ type }: Pick<WorkloadKind, 'type'>, name: string): string =>
  `${resourceName(type)} ${JSON.stringify(name)}`

/** The selector of a workload's pods. Undefined if it has none yet, or runs no pods itself. */
export function selectorOf({ kind }: Pick<WorkloadKind, 'kind'>, { spec }: Workload): LabelSelector | undefined {
  if (kind === 'CronJob' || !spec?.selector) return undefined
  return kind === 'ReplicationController'
    ? { matchLabels: spec.selector as Record<string, string> }
    : (spec.selector as LabelSelector)
}

/**
 * Reports whether the controller has observed the newest spec. Jobs and CronJobs do not report it and count as
 * observed.
 */
export function isObserved({ kind }: Pick<WorkloadKind, 'kind'>, { metadata, status }: Workload): boolean {
  return kind === 'Job' || kind === 'CronJob' || (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}
