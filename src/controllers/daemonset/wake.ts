import type { DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import { controllerOf, daemonsets, keyOf, nodes, pods, refersTo } from '../../client/index.ts'
import { type CacheIndex, type Caches, type Watch, indexing, watching } from '../kit/index.ts'
import { podsOnNode } from '../kit/workload/index.ts'
import { nodeOf } from './daemon-pod.ts'
import { fitOf } from './fit.ts'
import { decidesFit } from './node-rosters.ts'

const waitingFor = 'daemons-waiting-for-node'

/** Daemon pods that are not scheduled, by the node they were made for. */
export const waitingDaemons: CacheIndex = indexing(pods, waitingFor, (pod: Pod) => {
  if (pod.spec.nodeName) return []
  const ref = controllerOf(pod)
  const node = ref && refersTo(ref, daemonsets) ? nodeOf(pod) : undefined
  return node === undefined ? [] : [node]
})

/** Wakes the sets that a node concerns. Needs `byNode` and `waitingDaemons`. */
export const nodeWatch: Watch = watching(nodes, (node, caches) => concerned(caches, node.metadata.name!), decidesFit)

/** The sets that have something to do about a node as it is now. */
function concerned(caches: Caches, name: string): string[] {
  const node = caches.get(nodes, '', name)
  const waiting = caches.byIndex(pods, waitingFor, name)
  if (!node) return waiting.map((pod) => `${pod.metadata.namespace}/${controllerOf(pod)!.name}`)
  const present = new Set([...podsOnNode(caches, name), ...waiting].map((pod) => controllerOf(pod)?.uid))
  return caches.list(daemonsets).filter((set) => isConcerned(set, node, present.has(set.metadata.uid))).map(keyOf)
}

/** As in Kubernetes, a pod that may stay wakes nobody: its node is not wanted any more, which is told when something else happens. */
function isConcerned(set: DaemonSet, node: Node, isPresent: boolean): boolean {
  const fit = fitOf(set)(node)
  return isPresent ? fit === 'leave' || set.status.numberMisscheduled > 0 : fit === 'run'
}
