import type { DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import { controllerOf, controllerrevisions, daemonsets, keyOf, nodes, pods, refersTo } from '../../client/index.ts'
import { type CacheIndex, type Caches, type Watch, defineController, indexing, watching } from '../kit/index.ts'
import {
  announceProgress,
  byNode,
  podsOnNode,
  raisedQuotas,
  selectedOrphans,
  selectorIndex,
} from '../kit/workload/index.ts'
import { type Action, type DeletePod, apply } from './apply.ts'
import { fitOf, nodeOf } from './daemon-pod.ts'
import { withFailures } from './failures.ts'
import { daemonsOnNode, decidesFit, nodeRosters } from './node-state.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { changesInMs, status } from './status.ts'

const waitingFor = 'daemons-waiting-for-node'

/** Unscheduled daemon pods, by the node that they were created for. */
const waitingDaemons: CacheIndex = indexing(pods, waitingFor, (pod: Pod) => {
  if (pod.spec.nodeName) return []
  const ref = controllerOf(pod)
  const node = ref && refersTo(ref, daemonsets) ? nodeOf(pod) : undefined
  return node === undefined ? [] : [node]
})

/** Reconciles the sets that a node concerns. Requires `byNode` and `waitingDaemons`. */
const nodeWatch: Watch = watching(nodes, (node, caches) => concerned(caches, node.metadata.name!), decidesFit)

/** The sets that have something to do for a node in its current state. */
function concerned(caches: Caches, name: string): string[] {
  const node = caches.get(nodes, '', name)
  const waiting = caches.byIndex(pods, waitingFor, name)
  if (!node) return waiting.map((pod) => `${pod.metadata.namespace}/${controllerOf(pod)!.name}`)
  const present = new Set([...podsOnNode(caches, name), ...waiting].map((pod) => controllerOf(pod)?.uid))
  return caches
    .list(daemonsets)
    .filter((set) => isConcerned(set, node, present.has(set.metadata.uid)))
    .map(keyOf)
}

/**
 * As in Kubernetes, a pod that may stay causes no reconcile: that its node is no longer wanted is reported by the next
 * one.
 */
function isConcerned(set: DaemonSet, node: Node, isPresent: boolean): boolean {
  const fit = fitOf(set)(node)
  return isPresent ? fit === 'leave' || set.status.numberMisscheduled > 0 : fit === 'run'
}

const selecting = selectorIndex(daemonsets, (set) => set.spec.selector)
const quotas = raisedQuotas(daemonsets)

/** Runs a pod on every eligible node. */
export const daemonSetController = defineController<DaemonSet, Observed, Action>({
  name: 'daemonset',
  owner: daemonsets,
  sources: {
    owns: [pods, controllerrevisions],
    watches: [
      selectedOrphans(selecting, pods),
      selectedOrphans(selecting, controllerrevisions),
      nodeWatch,
      quotas.watch,
    ],
    indexes: [selecting.index, quotas.index, byNode, waitingDaemons, daemonsOnNode],
    rosters: nodeRosters,
  },
  consistency: { gate: 'StaleControllerConsistencyDaemonSet' },
  status: {
    // A set that is being deleted keeps its status.
    observesGeneration: false,
    compute: status,
    changesInMs,
    announce: announceProgress,
  },
  observe,
  plan,
  apply,
  remember: ({ failures, nowMs }, { done, failed }) =>
    withFailures(failures, failedOn([...done, ...failed.map((f) => f.action)]), nowMs),
})

const failedOn = (actions: readonly Action[]): string[] =>
  actions
    .filter((action): action is DeletePod => action.kind === 'DeletePod' && action.because === 'failed')
    .map(({ node }) => node)
