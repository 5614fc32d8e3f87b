import type { ControllerRevision, DaemonSet, Node, Pod, Taint } from '../../api/generated/types.ts'
import { templatePatch } from '../../api/kinds/workloads/controller-revision.ts'
import { soonest } from '../../base/soonest.ts'
import { compileLabelSelector } from '../../client/index.ts'
import type { Action } from './apply.ts'
import { fitOf, nodeOf } from './daemon-pod.ts'
import { type Basis, nodeStateOf } from './node-state.ts'
import { NodeTable } from './node-table.ts'
import type { Observed } from './observe.ts'
import { revisionOf } from './revision.ts'

const nowMs = Date.parse('2026-01-01T01:00:00Z')
const longAgo = '2026-01-01T00:00:00Z'

export interface SetOver {
  image?: string
  maxUnavailable?: number | string
  maxSurge?: number | string
  /** Merged into the template's spec. */
  podSpec?: object
  spec?: object
  metadata?: object
  status?: object
}

/** A set for tests with the first image and maxUnavailable 1. */
export function sampleSet({
  image = 'a',
  maxUnavailable = 1,
  maxSurge = 0,
  podSpec,
  spec,
  metadata,
  status,
}: SetOver = {}): DaemonSet {
  return {
    metadata: { name: 'd', namespace: 'default', uid: 'set', generation: 1, ...metadata },
    spec: {
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image }], ...podSpec } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
      revisionHistoryLimit: 10,
      ...spec,
    },
    status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0, ...status },
  } as unknown as DaemonSet
}

export const sampleRevision = (hash: string, number: number, set: DaemonSet): ControllerRevision => ({
  metadata: {
    name: `d-${hash}`,
    namespace: 'default',
    creationTimestamp: longAgo,
    labels: { 'controller-revision-hash': hash },
  },
  data: templatePatch(set.spec.template),
  revision: number,
})

export interface NodeOver {
  labels?: Record<string, string>
  taints?: Taint[]
}

export const sampleNode = (name: string, { labels = {}, taints }: NodeOver = {}): Node =>
  ({ metadata: { name, labels }, spec: taints ? { taints } : {}, status: {} }) as unknown as Node

export const sampleNodes = (count: number): Node[] => Array.from({ length: count }, (_, i) => sampleNode(`n${i + 1}`))

export type PodState = 'ready' | 'young' | 'unready' | 'pending' | 'waiting' | 'going' | 'failed' | 'succeeded'

const phases: Partial<Record<PodState, string>> = {
  pending: 'Pending',
  waiting: 'Pending',
  failed: 'Failed',
  succeeded: 'Succeeded',
}

/**
 * A pod `n1-a` of revision a on node n1: `ready` for an hour, `young` for five seconds. A `waiting` pod is not
 * scheduled.
 */
export function samplePod(
  node: string,
  hash: string,
  state: PodState = 'ready',
  over: { metadata?: object; status?: object } = {},
): Pod {
  const isReady = state === 'ready' || state === 'young' || state === 'going'
  const byName = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] }
  return {
    metadata: {
      name: `${node}-${hash}`,
      namespace: 'default',
      uid: `uid-${node}-${hash}`,
      creationTimestamp: longAgo,
      labels: { app: 'd', 'controller-revision-hash': hash },
      ...(state === 'going' ? { deletionTimestamp: longAgo } : {}),
      ...over.metadata,
    },
    spec: {
      containers: [],
      terminationGracePeriodSeconds: 30,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: byName } },
      ...(state === 'waiting' ? {} : { nodeName: node }),
    },
    status: {
      phase: phases[state] ?? 'Running',
      conditions: [
        {
          type: 'Ready',
          status: isReady ? 'True' : 'False',
          lastTransitionTime: state === 'young' ? '2026-01-01T00:59:55Z' : longAgo,
        },
      ],
      ...over.status,
    },
  } as unknown as Pod
}

export interface SeenOver extends Partial<
  Pick<Observed, 'history' | 'orphanRevisions' | 'failures' | 'hasConditions'>
> {
  set?: DaemonSet
  nodes?: readonly Node[]
  pods?: readonly Pod[]
  adopt?: readonly Pod[]
  release?: readonly Pod[]
}

/** An observation of a set with these pods on three nodes. Revision `a` exists and, for the second image, `b`. */
export function sampleSeen({
  set = sampleSet(),
  nodes = sampleNodes(3),
  pods = [],
  adopt = [],
  release = [],
  history,
  ...over
}: SeenOver = {}): Observed {
  const isB = set.spec.template.spec!.containers[0]!.image === 'b'
  const ofImage = (hash: string, number: number) =>
    sampleRevision(hash, number, { ...set, spec: { ...set.spec, template: withImage(set, hash) } })
  const known = history ?? (isB ? [ofImage('a', 1), ofImage('b', 2)] : [ofImage('a', 1)])
  const revision = revisionOf(set, known)
  const basis: Basis = { set, matches: compileLabelSelector(set.spec.selector), fit: fitOf(set), revision }
  const table = tableOf(basis, nodes, [...pods, ...adopt])
  return {
    set,
    table,
    basis,
    adopt,
    release,
    revision,
    history: known,
    orphanRevisions: [],
    failures: { generation: 1, nodes: new Map() },
    changesAtMs: soonest(...[...table.all()].map(({ changesAtMs }) => changesAtMs)),
    nowMs,
    hasConditions: true,
    ...over,
  }
}

function tableOf(basis: Basis, nodes: readonly Node[], pods: readonly Pod[]): NodeTable {
  const table = new NodeTable()
  const names = new Set([...nodes.map(({ metadata }) => metadata.name!), ...pods.map((pod) => nodeOf(pod) ?? '')])
  for (const name of names) {
    const node = nodes.find(({ metadata }) => metadata.name === name)
    const state = nodeStateOf(
      basis,
      { metadata: { name }, node, pods: pods.filter((pod) => (nodeOf(pod) ?? '') === name) },
      nowMs,
    )
    if (state) table.add(state)
  }
  return table
}

function withImage({ spec: { template } }: DaemonSet, image: string): DaemonSet['spec']['template'] {
  return {
    ...template,
    spec: {
      ...template.spec!,
      containers: template.spec!.containers.map((c) => ({ ...c, image })),
    },
  }
}

/** A short text for an action. */
export function inWords(action: Action): string {
  switch (action.kind) {
    case 'CreatePod':
      return `create ${action.node}@${action.hash}`
    case 'DeletePod':
      return `delete ${action.pod.metadata.name}${action.because ? ` ${action.because}` : ''}`
    case 'AdoptPod':
    case 'ReleasePod':
      return `${action.kind} ${action.pod.metadata.name}`
    case 'CreateRevision':
      return `CreateRevision ${action.number}`
    default:
      return `${action.kind} ${action.revision.metadata.name}`
  }
}
