import type { Cluster } from '../../cluster/cluster.ts'
import type { NodeCounts } from '../../cluster/node-counts.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { NodeLabels } from '../../cluster/node-labels.ts'
import { type NodeScorer, type ScorePlugin, maxScore } from '../plugin.ts'
import type { World } from '../world.ts'
import { type Constraint, constraintsOf, defaultConstraints, hostnameKey } from './constraint.ts'
import { name } from './pod-topology-spread.ts'

interface Weighed {
  readonly key: string
  readonly isByHost: boolean
  /** Of all nodes. */
  readonly counts: NodeCounts
  /** Pods that count, by the value of the label. Not for host names: of them, each node's own count is taken. */
  readonly byValue: ReadonlyMap<string, number>
  /** Labels with few values would otherwise count for nothing beside those with many. */
  readonly weight: number
  /** What every node with the label gets: the more skew is allowed, the less the rest counts. */
  readonly base: number
}

const noCounts: ReadonlyMap<string, number> = new Map()

class SpreadScorer implements NodeScorer {
  readonly #keys: readonly string[]
  readonly #weighed: readonly Weighed[]
  readonly #needsAllKeys: boolean

  constructor(constraints: readonly Constraint[], needsAllKeys: boolean, nodes: readonly NodeInfo[], { cluster }: World) {
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

  /** Few is good. Nodes without the labels, at -1, are the worst. */
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

  #countByValue({ topologyKey, includes }: Constraint, counts: NodeCounts, cluster: Cluster): ReadonlyMap<string, number> {
    if (!includes && !this.#needsAllKeys) return counts.byLabel(topologyKey)
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
    return this.#keys.every((key) => labels?.[key] !== undefined)
  }
}

/** How many values a label has on these nodes, none being one of them. */
function countValues(key: string, nodes: readonly NodeInfo[], labels: NodeLabels): number {
  const most = labels.isEverywhere(key) ? labels.values(key).size : Infinity
  const values = new Set<string | undefined>()
  for (let i = 0; i < nodes.length && values.size < most; i++) values.add(nodes[i]!.labels?.[key])
  return values.size
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
