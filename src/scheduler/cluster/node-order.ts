import type { Node } from '../../api/generated/types.ts'
import type { NodeInfo } from './node-info.ts'

/** The zone of a node, told apart from one of the same name in another region. */
export const zoneOf = ({ metadata: { labels } }: Node): string =>
  `${labels?.['topology.kubernetes.io/region'] ?? ''}/${labels?.['topology.kubernetes.io/zone'] ?? ''}`

/** The nodes in an order in which zones take turns. */
export function inTurns(nodes: readonly NodeInfo[]): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const node of nodes) {
    const zone = zoneOf(node.node)
    const members = zones.get(zone)
    if (members) members.push(node)
    else zones.set(zone, [node])
  }
  const ordered: NodeInfo[] = []
  for (let turn = 0; ordered.length < nodes.length; turn++) {
    for (const members of zones.values()) if (turn < members.length) ordered.push(members[turn]!)
  }
  return ordered
}
