import type { Cluster } from '../../cluster/cluster.ts'
import type { NodeCounts, NodeLabels } from '../../cluster/node-counts.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import { type NodeScorer, type ScorePlugin, maxScore } from '../plugin.ts'
import type { World } from '../world.ts'
import { type Constraint, constraintsOf, defaultConstraints, hostnameKey } from './constraint.ts'
import { name } from './pod-topology-spread.ts'

interface Weighed {
  readonly key: string
  readonly isByHost: boolean
  /** True if all nodes count. */
  readonly counts: NodeCounts
  /** The counted pods by value of the label. Host names use the count of each node instead. */
  readonly byValue: ReadonlyMap<string, number>
  /** Raises the weight of labels with few values. */
  readonly weight: number
  /** The base score of every node with the label. A larger allowed skew lowers the weight of the rest. */
  readonly base: number
}

const noCounts: ReadonlyMap<string, number> = new Map()

class SpreadScorer implements NodeScorer {
  readonly #keys: readonly string[]
  readonly #weighed: readonly Weighed[]
  readonly #needsAllKeys: boolean

  constructor(
    constraints: readonly Constraint[],
    needsAllKeys: boolean,
    nodes: readonly NodeInfo[],
    { cluster }: World,
  ) {
    this.#keys = constraints.map(({ topologyKey }) => topologyKey)
    this.#needsAllKeys = needsAllKeys && !this.#keys.every((key) => cluster.labels.isEverywhere(key))
    const scored = this.#needsAllKeys ? nodes.filter((node) => this.#hasKeys(node)) : nodes
    this.#weighed = constraints.map((constraint) => {
      const { topologyKey: key, maxSkew, counted } = constraint
      const isByHost = key === hostnameKey
      const counts = cluster.matching.get(counted)
      const byValue = isByHost ? noCounts : this.#countByValue(constraint, counts, cluster)
      const size = isByHost ? scored.length : countValues(key, scored, cluster.labels)
      return { key, isByHost, counts, byValue, weight: Math.log(size + 2), base: maxSkew - 1 }
    })
  }

  score(node: NodeInfo): number {
    if (this.#needsAllKeys && !this.#hasKeys(node)) return -1
    const weighed = this.#weighed
    let sum = 0
    for (let i = 0; i < weighed.length; i++) {
      const one = weighed[i]!
      const value = node.labels?.[one.key]
      if (value === undefined) continue
      const count = one.isByHost ? one.counts.of(node.name) : (one.byValue.get(value) ?? 0)
      sum += count * one.weight + one.base
    }
    return Math.round(sum)
  }

  /** Fewer pods are better. Nodes without the labels have the score -1, the worst. */
  normalize(scores: Float64Array): void {
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

  #countByValue(
    { topologyKey, includes }: Constraint,
    counts: NodeCounts,
    cluster: Cluster,
  ): ReadonlyMap<string, number> {
    if (!includes && !this.#needsAllKeys) return counts.byLabel(topologyKey)
    const byValue = new Map<string, number>()
    for (const [name, count] of counts.byNode()) {
      const node = cluster.node(name)
      const value = node?.labels?.[topologyKey]
      if (!node || value === undefined || (this.#needsAllKeys && !this.#hasKeys(node)) || (includes && !includes(node)))
        continue
      byValue.set(value, (byValue.get(value) ?? 0) + count)
    }
    return byValue
  }

  #hasKeys({ labels }: NodeInfo): boolean {
    return this.#keys.every((key) => labels?.[key] !== undefined)
  }
}

/** The number of values of a label on these nodes, including none. */
function countValues(key: string, nodes: readonly NodeInfo[], labels: NodeLabels): number {
  const most = labels.isEverywhere(key) ? labels.values(key).size : Infinity
  const values = new Set<string | undefined>()
  for (let i = 0; i < nodes.length && values.size < most; i++) values.add(nodes[i]!.labels?.[key])
  return values.size
}

/** Prefers nodes with fewer similar pods. */
export const evenSpread: ScorePlugin = {
  name,
  weight: 2,
  scorer(pod, world, nodes) {
    const isSaid = Boolean(pod.pod.spec.topologySpreadConstraints?.length)
    const constraints = isSaid
      ? constraintsOf(pod, 'ScheduleAnyway')
      : defaultConstraints(pod, world.siblingSelectors(pod.pod))
    return constraints.length === 0 ? undefined : new SpreadScorer(constraints, isSaid, nodes, world)
  },
}
