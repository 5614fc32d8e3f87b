import type { Node, Pod } from '../../api/generated/types.ts'
import { isPodFinished, isPodTerminating } from '../kit/workload/index.ts'
import { nodeOf } from './daemon-pod.ts'
import type { Fit, FitOf } from './fit.ts'

/** A node that a set has to do with. */
export interface Place {
  node: string
  /** `gone`: there is no such node. */
  fit: Fit | 'gone'
  /** The set's pods there, or meant for it. The first is the one that counts. */
  pods: readonly Pod[]
}

const none: readonly Pod[] = []

/** Sorts pods by nodes. There is a place for every node that is to run a pod, and for every other one that has pods. */
export function placesOf(nodes: Iterable<Node>, fit: FitOf, pods: Iterable<Pod>): Place[] {
  const byNode = podsByNode(pods)
  const places: Place[] = []
  for (const node of nodes) {
    const name = node.metadata.name!
    const here = byNode.get(name)
    const what = fit(node)
    if (here) byNode.delete(name)
    if (here || what === 'run') places.push({ node: name, fit: what, pods: here ?? none })
  }
  for (const [node, strays] of byNode) places.push({ node, fit: 'gone', pods: strays })
  return places
}

function podsByNode(pods: Iterable<Pod>): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    // It has ended and only waits for its finalizers: it is in nobody's way.
    if (isPodTerminating(pod) && isPodFinished(pod)) continue
    const node = nodeOf(pod)
    if (node === undefined) continue
    const there = byNode.get(node)
    if (there) there.push(pod)
    else byNode.set(node, [pod])
  }
  for (const some of byNode.values()) if (some.length > 1) some.sort(bySeniority)
  return byNode
}

/** Those on a node before those that wait for it, then the older, then by name. */
function bySeniority(a: Pod, b: Pod): number {
  if (Boolean(a.spec.nodeName) !== Boolean(b.spec.nodeName)) return a.spec.nodeName ? -1 : 1
  const [made, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (made !== other) return made < other ? -1 : 1
  return a.metadata.name! < b.metadata.name! ? -1 : 1
}
