/** As much of an owner of pods as the load looks at. */
export interface Owner {
  metadata: { name: string; generation?: number }
  spec: { replicas?: number }
  status?: {
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    availableReplicas?: number
    desiredNumberScheduled?: number
    updatedNumberScheduled?: number
    numberAvailable?: number
    succeeded?: number
    completionTime?: string
  }
}

/** The images of pods before and after a rollout, and of Jobs, whose container must end by itself. */
export interface Images {
  first: string
  second: string
  job: string
}

/** A change of an owner, and how many pods it has afterwards. */
interface Change {
  patch: object
  pods: number
}

export interface Kind {
  title: string
  /** Path of the group and version, and the plural name. */
  api: string
  plural: string
  make(name: string, pods: number, images: Images): object
  /** The number of pods in the desired state, from the status. */
  done(status: NonNullable<Owner['status']>): number
  /** The number of pods, from the status. During a rollout with surge it exceeds the desired number. */
  total(status: NonNullable<Owner['status']>): number
  /** The changes that roll an update out, each waited for; none if the kind has no rollouts. */
  rolls(pods: number, images: Images): readonly Change[]
  /** The removal of its pods: by `replicas: 0`, or by deleting the owner. */
  ends: 'scale' | 'delete'
}

export const kindNames = [
  'deployment', 'replicaset', 'sts-parallel', 'sts-ordered',
  'daemonset', 'job', 'cloneset-recreate', 'cloneset-inplace',
] as const
export type KindName = (typeof kindNames)[number]

/** The node label that DaemonSets select, so that a peer can say on which nodes they run. */
const daemonLabel = 'kubernetes.io/os'

const container = (image: string) => ({ name: 'main', image, resources: { requests: { cpu: '1m', memory: '1Mi' } } })

const template = (app: string, image: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [container(image)], ...more },
})

const owner = (apiVersion: string, kind: string, name: string, image: string, spec: object) => ({
  apiVersion,
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, image), ...spec },
})

/** The only change of a template that CloneSets can make in place; all others replace the pods for it. */
const newImage = ({ second }: Images) => ({ template: { spec: { containers: [container(second)] } } })

const rolledOut = {
  done: ({ updatedReplicas = 0, availableReplicas = 0 }) => Math.min(updatedReplicas, availableReplicas),
  total: ({ replicas = 0 }) => replicas,
  rolls: (pods, images) => [{ patch: { spec: newImage(images) }, pods }],
  ends: 'scale',
} satisfies Partial<Kind>

const atATime = { maxUnavailable: '25%' }

const statefulSet = (podManagementPolicy: 'Parallel' | 'OrderedReady'): Kind => ({
  title: `StatefulSet ${podManagementPolicy}`,
  api: '/apis/apps/v1',
  plural: 'statefulsets',
  make: (name, replicas, { first }) =>
    owner('apps/v1', 'StatefulSet', name, first, {
      replicas, serviceName: name, podManagementPolicy, updateStrategy: { rollingUpdate: atATime },
    }),
  ...rolledOut,
})

const cloneSet = (type: 'ReCreate' | 'InPlaceIfPossible'): Kind => ({
  title: `CloneSet ${type}`,
  api: '/apis/apps.kruise.io/v1alpha1',
  plural: 'clonesets',
  make: (name, replicas, { first }) =>
    owner('apps.kruise.io/v1alpha1', 'CloneSet', name, first, { replicas, updateStrategy: { type, ...atATime } }),
  ...rolledOut,
})

export const kinds: Readonly<Record<KindName, Kind>> = {
  deployment: {
    title: 'Deployment',
    api: '/apis/apps/v1',
    plural: 'deployments',
    // The surge stays what it is by default, a quarter as well.
    make: (name, replicas, { first }) =>
      owner('apps/v1', 'Deployment', name, first, { replicas, strategy: { rollingUpdate: atATime } }),
    ...rolledOut,
  },
  replicaset: {
    title: 'ReplicaSet',
    api: '/apis/apps/v1',
    plural: 'replicasets',
    make: (name, replicas, { first }) => owner('apps/v1', 'ReplicaSet', name, first, { replicas }),
    done: ({ availableReplicas = 0 }) => availableReplicas,
    total: ({ replicas = 0 }) => replicas,
    // A ReplicaSet does not roll out a template: it gives up a quarter of its pods, and makes as many of the new one.
    rolls: (pods, images) => {
      const kept = pods - Math.ceil(pods / 4)
      return [
        { patch: { spec: { replicas: kept, ...newImage(images) } }, pods: kept },
        { patch: { spec: { replicas: pods } }, pods },
      ]
    },
    ends: 'scale',
  },
  'sts-parallel': statefulSet('Parallel'),
  'sts-ordered': statefulSet('OrderedReady'),
  daemonset: {
    title: 'DaemonSet',
    api: '/apis/apps/v1',
    plural: 'daemonsets',
    make: (name, _pods, { first }) =>
      owner('apps/v1', 'DaemonSet', name, first, {
        updateStrategy: { rollingUpdate: atATime },
        template: template(name, first, { nodeSelector: { [daemonLabel]: 'linux' } }),
      }),
    done: ({ updatedNumberScheduled = 0, numberAvailable = 0 }) => Math.min(updatedNumberScheduled, numberAvailable),
    total: ({ desiredNumberScheduled = 0 }) => desiredNumberScheduled,
    rolls: (pods, images) => [{ patch: { spec: newImage(images) }, pods }],
    ends: 'delete',
  },
  job: {
    title: 'Job',
    api: '/apis/batch/v1',
    plural: 'jobs',
    make: (name, pods, { job }) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: {
        completions: pods,
        parallelism: pods,
        template: {
          metadata: { labels: { app: name } },
          spec: { restartPolicy: 'Never', containers: [{ ...container(job), command: ['true'] }] },
        },
      },
    }),
    done: ({ succeeded = 0 }) => succeeded,
    // The last pod is counted a moment before the Job is told to be complete.
    total: ({ succeeded = 0, completionTime }) => (completionTime === undefined ? -1 : succeeded),
    rolls: () => [],
    ends: 'delete',
  },
  'cloneset-recreate': cloneSet('ReCreate'),
  'cloneset-inplace': cloneSet('InPlaceIfPossible'),
}

/** The status of an owner, once its controller has seen the generation. The status of a Job names none. */
function statusAt({ metadata, status }: Owner, generation: number): Owner['status'] {
  const { observedGeneration = generation } = status ?? {}
  return Math.min(observedGeneration, metadata.generation ?? 1) >= generation ? status : undefined
}

/** Pods of an owner that are as they should be, at a generation no older than this. */
export function donePods(kind: Kind, owner: Owner, generation: number): number {
  const status = statusAt(owner, generation)
  return status ? kind.done(status) : 0
}

/** True if an owner has so many pods, all of them as they should be, at a generation no older than this. */
export function isSettled(kind: Kind, owner: Owner, pods: number, generation: number): boolean {
  const status = statusAt(owner, generation)
  return status !== undefined && kind.done(status) === pods && kind.total(status) === pods
}
