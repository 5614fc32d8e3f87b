import type { Random } from '../../base/random.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { ScorePlugin } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'

/** The weighted sum of what the plugins think of each node. */
export function scoreNodes(pod: PodInfo, nodes: readonly NodeInfo[], plugins: readonly ScorePlugin[], world: World): Float64Array {
  const totals = new Float64Array(nodes.length)
  const scores = new Float64Array(nodes.length)
  for (const plugin of plugins) {
    const scorer = plugin.scorer(pod, world, nodes)
    if (!scorer) continue
    for (let i = 0; i < nodes.length; i++) scores[i] = scorer.score(nodes[i]!)
    scorer.normalize?.(scores)
    for (let i = 0; i < nodes.length; i++) totals[i]! += plugin.weight * scores[i]!
  }
  return totals
}

/** The best of the nodes; chance decides between equals. */
export function chooseNode(pod: PodInfo, nodes: readonly NodeInfo[], plugins: readonly ScorePlugin[], world: World, random: Random): NodeInfo {
  if (nodes.length === 1) return nodes[0]!
  const scores = scoreNodes(pod, nodes, plugins, world)
  let best = 0
  let equals = 1
  for (let i = 1; i < nodes.length; i++) {
    if (scores[i]! > scores[best]!) {
      best = i
      equals = 1
    } else if (scores[i] === scores[best] && random.next() * ++equals < 1) best = i
  }
  return nodes[best]!
}
