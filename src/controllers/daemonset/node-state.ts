import { deepEqual } from '../../api/deep-equal.ts'
import { type Cause, causeOfPod, worstOf } from '../../api/explain/index.ts'
import type { DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import { controllerOf, daemonsets, nodes, pods, refersTo } from '../../client/index.ts'
import { type CacheIndex, type Caches, type RosterKind, followPods, indexing, informerOf } from '../kit/index.ts'
import {
  type Finders,
  availableAtMs,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
} from '../kit/workload/index.ts'
import { type Fit, type FitOf, nodeOf } from './daemon-pod.ts'
import type { Revision } from './revision.ts'

/** A node, or the name of a deleted one, with the pods of one set that run there or were created for it. */
export interface NodePods extends KubeObject {
  node: Node | undefined
  pods: readonly Pod[]
}

/** The input for reading nodes and pods. */
export interface Basis {
  set: DaemonSet
  matches: LabelMatcher
  fit: FitOf
  revision: Revision
  finders?: Finders | undefined
}

/** A node as seen by a set. */
export interface NodeState {
  node: string
  /** `gone`: the node does not exist. */
  fit: Fit | 'gone'
  /** The creation time of a node that must run a pod. */
  addedAt: string
  /** The pods of the set on the node, or created for it. The first determines the status. */
  pods: readonly Pod[]
  /** Pods that the set no longer selects. */
  misfits: readonly Pod[]
  /** True if an action may be needed: there is no pod or more than one, or a pod has finished or is misplaced. */
  isNeedy: boolean
  /** The first of the pods. */
  isReady: boolean
  isAvailable: boolean
  isUpdated: boolean
  isStaying: boolean
  /** True if a pod of the update revision that is not terminating is ready, and available. */
  hasUpdatedReady: boolean
  hasUpdatedAvailable: boolean
  /** The only pods of the old and of the update revision that are not terminating. */
  oldPod: Pod | undefined
  newPod: Pod | undefined
  /** False if there are several pods of the old or of the update revision. */
  isClear: boolean
  isOldAvailable: boolean
  isNewAvailable: boolean
  /** The most severe cause among the pods. */
  cause: Cause | undefined
  /** The time at which a field changes without an event. */
  changesAtMs: number | undefined
}

/** Undefined for a node that has no pod and needs none. */
export function nodeStateOf(basis: Basis, { metadata, node, pods }: NodePods, nowMs: number): NodeState | undefined {
  const fit = node ? basis.fit(node) : 'gone'
  if (pods.length === 0 && fit !== 'run') return undefined
  const misfits = pods.filter((pod) => !basis.matches(pod.metadata.labels))
  // A finished pod that only waits for its finalizers blocks nothing.
  const own = pods.filter((pod) => !misfits.includes(pod) && !(isPodTerminating(pod) && isPodFinished(pod)))
  // Without a name it is unknown which node a pod was created for.
  const here = metadata.name ? own.toSorted(bySeniority) : []
  return {
    node: metadata.name ?? '',
    fit,
    addedAt: (fit === 'run' && node?.metadata.creationTimestamp) || '',
    misfits,
    ...factsOf(basis, fit, here, nowMs),
  }
}

/** The same node with other pods. */
export const withPods = (basis: Basis, state: NodeState, pods: readonly Pod[], nowMs: number): NodeState => ({
  ...state,
  ...factsOf(basis, state.fit, pods, nowMs),
})

function factsOf(
  { set, revision, finders }: Basis,
  fit: NodeState['fit'],
  pods: readonly Pod[],
  nowMs: number,
): Omit<NodeState, 'node' | 'fit' | 'addedAt' | 'misfits'> {
  const { minReadySeconds = 0 } = set.spec
  const isAvailable = (pod: Pod | undefined) => pod !== undefined && isPodAvailable(pod, minReadySeconds, nowMs)
  const staying = pods.filter((pod) => !isPodTerminating(pod))
  const [first] = pods
  const updated = staying.filter((pod) => revision.has(pod))
  const old = staying.filter((pod) => !revision.has(pod))
  const [newPod, oldPod] = [updated.at(-1), old.at(-1)]
  const causes = pods.map((pod) => causeOfPod(pod, { nowMs, minReadySeconds, ...finders }))
  const availableAt = (pod: Pod) => {
    const atMs = minReadySeconds > 0 && isPodReady(pod) ? availableAtMs(pod, minReadySeconds) : undefined
    return atMs !== undefined && atMs > nowMs ? atMs : undefined
  }
  return {
    pods,
    isNeedy:
      staying.length !== pods.length ||
      staying.length !== 1 ||
      fit === 'leave' ||
      fit === 'gone' ||
      staying.some(isPodFinished),
    isReady: first !== undefined && isPodReady(first),
    isAvailable: isAvailable(first),
    isUpdated: first !== undefined && revision.has(first),
    isStaying: first !== undefined && !isPodTerminating(first),
    hasUpdatedReady: updated.some(isPodReady),
    hasUpdatedAvailable: updated.some(isAvailable),
    oldPod,
    newPod,
    isClear: updated.length <= 1 && old.length <= 1,
    isOldAvailable: isAvailable(oldPod),
    isNewAvailable: isAvailable(newPod),
    cause: worstOf(causes),
    changesAtMs: soonest(...pods.map(availableAt), ...causes.map((cause) => cause?.changesAtMs)),
  }
}

/** Bound pods first, then the older, then by name. */
function bySeniority(a: Pod, b: Pod): number {
  if (Boolean(a.spec.nodeName) !== Boolean(b.spec.nodeName)) return a.spec.nodeName ? -1 : 1
  const [made, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (made !== other) return made < other ? -1 : 1
  return a.metadata.name! < b.metadata.name! ? -1 : 1
}

const onNode = 'daemons-on-node'

const indexKey = (ownerUid: string, node: string) => `${ownerUid} ${node}`

/** Daemon pods by their set and by the node that they run on or were created for. */
export const daemonsOnNode: CacheIndex = indexing(pods, onNode, (pod: Pod) => {
  const ref = controllerOf(pod)
  return ref && refersTo(ref, daemonsets) ? [indexKey(ref.uid, nodeOf(pod) ?? '')] : []
})

/** Only labels and taints of a node determine what runs there. Heartbeats are ignored. */
export const decidesFit = (before: Node, after: Node): boolean =>
  !deepEqual(before.metadata.labels, after.metadata.labels) || !deepEqual(before.spec?.taints, after.spec?.taints)

/**
 * Rosters of a set's nodes with its pods: all nodes, and the names of deleted nodes that pods still name. Pods without
 * a node are under the empty name.
 */
export const nodeRosters: RosterKind = {
  sourceOf(informers, uid) {
    const [podCache, nodeCache] = [informerOf(informers, pods)!, informerOf(informers, nodes)!]
    const at = (name: string): NodePods => ({
      metadata: { name },
      node: nodeCache.get(name),
      pods: podCache.byIndex(onNode, indexKey(uid, name)),
    })
    return {
      *all() {
        const names = new Set(nodeCache.list().map(({ metadata }) => metadata.name!))
        for (const pod of podCache.byIndex('controller-uid', uid)) names.add(nodeOf(pod) ?? '')
        for (const name of names) yield [name, at(name)]
      },
      get: at,
    }
  },
  follow(informers, note) {
    const noteNode = ({ metadata: { name = '' } }: Node) => note(name)
    const update = (old: Node, node: Node) => decidesFit(old, node) && noteNode(node)
    const stop = informerOf(informers, nodes)!.addHandler({ add: noteNode, delete: noteNode, update })
    return [
      stop,
      ...followPods(informers, (pod) => {
        const uid = controllerOf(pod)?.uid
        if (uid) note(nodeOf(pod) ?? '', uid)
      }),
    ]
  },
}

/** The pods of a set that run on a node or were created for it. Requires `daemonsOnNode`. */
export const daemonsAt = (caches: Caches, ownerUid: string, node: string): Pod[] =>
  caches.byIndex(pods, onNode, indexKey(ownerUid, node))
