import { deepEqual } from '../../api/deep-equal.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { controllerOf, daemonsets, nodes, pods, refersTo } from '../../client/index.ts'
import { type Caches, type CacheIndex, type RosterKind, followPods, indexing, informerOf } from '../kit/index.ts'
import { nodeOf } from './daemon-pod.ts'
import type { NodePods } from './place.ts'

const onNode = 'daemons-on-node'

const indexKey = (ownerUid: string, node: string) => `${ownerUid} ${node}`

/** Daemon pods by their set, and the node that they are on or were made for. */
export const daemonsOnNode: CacheIndex = indexing(pods, onNode, (pod: Pod) => {
  const ref = controllerOf(pod)
  return ref && refersTo(ref, daemonsets) ? [indexKey(ref.uid, nodeOf(pod) ?? '')] : []
})

/** Only the labels and taints of a node decide what runs there. Heartbeats concern nobody. */
export const decidesFit = (before: Node, after: Node): boolean =>
  !deepEqual(before.metadata.labels, after.metadata.labels) || !deepEqual(before.spec?.taints, after.spec?.taints)

/**
 * Rosters of the nodes that a set has to do with, each with the set's pods there: all nodes, and the names of those that
 * are gone and that pods still name. Pods that name none are under the empty name.
 */
export const nodeRosters: RosterKind = {
  sourceOf(informers, uid) {
    const [podCache, nodeCache] = [informerOf(informers, pods)!, informerOf(informers, nodes)!]
    const at = (name: string): NodePods =>
      ({ metadata: { name }, node: nodeCache.get(name), pods: podCache.byIndex(onNode, indexKey(uid, name)) })
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
    return [stop, ...followPods(informers, (pod) => {
      const uid = controllerOf(pod)?.uid
      if (uid) note(nodeOf(pod) ?? '', uid)
    })]
  },
}

/** Pods of a set that are on a node or were made for it. Needs `daemonsOnNode`. */
export const daemonsAt = (caches: Caches, ownerUid: string, node: string): Pod[] => caches.byIndex(pods, onNode, indexKey(ownerUid, node))
