import type { Random } from '../../base/random.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { Rejection, ScorePlugin } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'
import type { Filters } from './filters.ts'

/** The reasons why no node is suitable for a pod. */
export interface Diagnosis {
  nodeCount: number
  /** A reason for all nodes, without checking any. */
  general?: Rejection
  /** The reason for each checked node. */
  nodes: ReadonlyMap<NodeInfo, Rejection>
  /** The reason for nodes that were not checked. */
  others?: Rejection
}

/** The cluster has no nodes. */
export const noNodesMessage = 'no nodes available to schedule pods'

/** A message such as `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).` */
export function messageOf({ nodeCount, general, nodes, others }: Diagnosis): string {
  const start = `0/${nodeCount} nodes are available:`
  if (general) return `${start} ${general.reasons.join(', ')}.`
  const counts = new Map<string, number>()
  const add = (reasons: readonly string[], count: number) => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + count)
  }
  for (const { reasons } of nodes.values()) add(reasons, 1)
  if (others && nodes.size < nodeCount) add(others.reasons, nodeCount - nodes.size)
  const told = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return told.length === 0 ? start : `${start} ${told.join(', ')}.`
}

/** The names of the plugins that rejected nodes. */
export function rejectersOf({ general, nodes, others }: Diagnosis): Set<string> {
  const names = new Set<string>()
  for (const rejection of [general, others]) if (rejection) names.add(rejection.plugin)
  for (const { plugin } of nodes.values()) names.add(plugin)
  return names
}

/** The weighted sum of the plugins' scores for each node. */
function scoreNodes(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  plugins: readonly ScorePlugin[],
  world: World,
): Float64Array {
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

/** The node with the highest score, chosen at random among equals. */
export function chooseNode(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  plugins: readonly ScorePlugin[],
  world: World,
  random: Random,
): NodeInfo {
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

/** The minimum number of suitable nodes to compare. */
const minCompared = 100
/** The minimum percentage of nodes to compare. */
const minPercentage = 5

/** The number of suitable nodes to find: all up to a hundred, half of slightly more, a twentieth of very many. */
export function enoughNodes(all: number, percentage: number): number {
  if (all < minCompared) return all
  const share = percentage > 0 ? percentage : Math.max(minPercentage, 50 - Math.trunc(all / 125))
  return Math.max(minCompared, Math.trunc((all * share) / 100))
}

export interface Found {
  fitting: NodeInfo[]
  rejections: Map<NodeInfo, Rejection>
}

/** Searches for suitable nodes. Each search continues after the last one, so that all nodes are considered equally. */
export class NodeSearch {
  readonly #percentage: number
  #start = 0

  /** The percentage of nodes to compare. 0 selects it by the size of the cluster. */
  constructor(percentage: number) {
    this.#percentage = percentage
  }

  find(filters: Filters, nodes: readonly NodeInfo[]): Found {
    const enough = enoughNodes(nodes.length, this.#percentage)
    const fitting: NodeInfo[] = []
    const rejections = new Map<NodeInfo, Rejection>()
    const { length } = nodes
    let looked = 0
    for (; looked < length && fitting.length < enough; looked++) {
      const node = nodes[(this.#start + looked) % length]!
      const rejection = filters.check(node)
      if (rejection) rejections.set(node, rejection)
      else fitting.push(node)
    }
    this.#start = length === 0 ? 0 : (this.#start + looked) % length
    return { fitting, rejections }
  }
}
