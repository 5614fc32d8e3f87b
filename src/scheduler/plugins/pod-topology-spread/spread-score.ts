import type { Cluster } from '../../cluster/cluster.ts'
import type { NodeCounts } from '../../cluster/node-counts.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import { type NodeScorer, type ScorePlugin, maxScore } from '../plugin.ts'
import type { World } from '../world.ts'
import { type Constraint, constraintsOf, defaultConstraints, hostnameKey } from './constraint.ts'
import { name } from './pod-topology-spread.ts'

interface Weighed extends Constraint {
  counts: NodeCounts
  /** Pods that count, by the value of the label. Not for host names: of them, each node's own count is taken. */
  byValue: ReadonlyMap<string, number>
  /** Labels with few values would otherwise count for nothing beside those with many. */
  weight: number
}

const noCounts: ReadonlyMap<string, number> = new Map()

class SpreadScorer implements NodeScorer {
  readonly #constraints: readonly Weighed[]
  readonly #needsAllKeys: boolean

  constructor(constraints: readonly Constraint[], needsAllKeys: boolean, nodes: readonly NodeInfo[], { cluster }: World) {
    this.#needsAllKeys = needsAllKeys
    this.#constraints = constraints.map((constraint) => ({ ...constraint, counts: cluster.matching.get(constraint.counted), byValue: noCounts, weight: 0 }))
    const scored = needsAllKeys ? nodes.filter((node) => this.#hasKeys(node)) : nodes
    for (const constraint of this.#constraints) {
      const { topologyKey } = constraint
      if (topologyKey !== hostnameKey) constraint.byValue = this.#countByValue(constraint, cluster)
      const size = topologyKey === hostnameKey ? scored.length : new Set(scored.map(({ labels }) => labels?.[topologyKey])).size
      constraint.weight = Math.log(size + 2)
    }
  }

  score(node: NodeInfo): number {
    if (this.#needsAllKeys && !this.#hasKeys(node)) return -1
    let sum = 0
    for (let i = 0; i < this.#constraints.length; i++) {
      const { topologyKey, maxSkew, byValue, counts, weight } = this.#constraints[i]!
      const value = node.labels?.[topologyKey]
      if (value === undefined) continue
      const count = topologyKey === hostnameKey ? counts.of(node.name) : (byValue.get(value) ?? 0)
      sum += count * weight + (maxSkew - 1)
    }
    return Math.round(sum)
  }

  /** Few is good. Nodes without the labels, at -1, are the worst. */
  normalize(scores: number[]): void {
    let fewest = Infinity
    let most = 0
    for (const score of scores) {
      if (score < 0) continue
      if (score < fewest) fewest = score
      if (score > most) most = score
    }
    for (let i = 0; i < scores.length; i++) {
      const score = scores[i]!
      if (score < 0) scores[i] = 0
      else scores[i] = most === 0 ? maxScore : Math.trunc((maxScore * (most + fewest - score)) / most)
    }
  }

  #countByValue({ topologyKey, includes, counts }: Weighed, cluster: Cluster): ReadonlyMap<string, number> {
    const isAll = !includes && (!this.#needsAllKeys || this.#constraints.every((other) => cluster.labels.isEverywhere(other.topologyKey)))
    if (isAll) return counts.byLabel(topologyKey)
    const byValue = new Map<string, number>()
    for (const [name, count] of counts.byNode()) {
      const node = cluster.node(name)
      const value = node?.labels?.[topologyKey]
      if (!node || value === undefined || (this.#needsAllKeys && !this.#hasKeys(node)) || (includes && !includes(node))) continue
      byValue.set(value, (byValue.get(value) ?? 0) + count)
    }
    return byValue
  }

  #hasKeys({ labels }: NodeInfo): boolean {
    return this.#constraints.every(({ topologyKey }) => labels?.[topologyKey] !== undefined)
  }
}

/** Prefers nodes on which there are fewer pods like this one. */
export const evenSpread: ScorePlugin = {
  name,
  weight: 2,
  scorer(pod, world, nodes) {
    const isSaid = Boolean(pod.pod.spec.topologySpreadConstraints?.length)
    const constraints = isSaid ? constraintsOf(pod, 'ScheduleAnyway') : defaultConstraints(pod, world.siblingSelectors(pod.pod))
    return constraints.length === 0 ? undefined : new SpreadScorer(constraints, isSaid, nodes, world)
  },
}
