import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { TermIndex } from '../../cluster/matching-pods.ts'
import type { NodeCounts } from '../../cluster/node-counts.ts'
import { type ScorePlugin, maxScore } from '../plugin.ts'
import { isMeant, name, podsOf } from './inter-pod-affinity.ts'

/** Sums by node label and value: `topology.kubernetes.io/zone` → `a` → 3. */
export class TopologyCounts {
  readonly #byKey = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  get(key: string, value: string | undefined): number {
    return value === undefined ? 0 : (this.#byKey.get(key)?.get(value) ?? 0)
  }

  /** A sum of zero is removed. */
  add(key: string, value: string | undefined, by: number): void {
    if (value === undefined || by === 0) return
    let byValue = this.#byKey.get(key)
    if (!byValue) this.#byKey.set(key, (byValue = new Map()))
    const sum = (byValue.get(value) ?? 0) + by
    if (sum !== 0) byValue.set(value, sum)
    else if (byValue.delete(value) && byValue.size === 0) this.#byKey.delete(key)
  }

  /** Adds counts per node to the sums of the label. */
  addCounts(key: string, counts: NodeCounts, times: number): void {
    for (const [value, count] of counts.byLabel(key)) this.add(key, value, count * times)
  }

  /** The sum for all labels of a node. */
  total(labels: Labels): number {
    let sum = 0
    for (const key of this.#byKey.keys()) sum += this.get(key, labels?.[key])
    return sum
  }

  /** Reports whether any label of a node has a positive sum. */
  hasAny(labels: Labels): boolean {
    for (const key of this.#byKey.keys()) if (this.get(key, labels?.[key]) > 0) return true
    return false
  }
}

/** Prefers nodes near pods with a mutual preferred affinity, and away from pods with anti-affinity. */
export const preferredPods: ScorePlugin = {
  name,
  weight: 2,
  scorer(pod, world) {
    const { cluster } = world
    const sums = new TopologyCounts()
    const { preferredAffinity, preferredAntiAffinity } = pod.affinities
    const addOwn = (terms: typeof preferredAffinity, sign: 1 | -1) => {
      for (const { term, weight } of terms)
        sums.addCounts(term.topologyKey, cluster.matching.get(podsOf([term], world)), sign * weight)
    }
    const addOthers = (index: TermIndex, sign: 1 | -1) => {
      for (const { term, weight, counts } of index.all())
        if (isMeant(term, pod, world)) {
          sums.addCounts(term.topologyKey, counts, sign * weight)
        }
    }
    addOwn(preferredAffinity, 1)
    addOwn(preferredAntiAffinity, -1)
    // A required affinity of an existing pod counts as a preference with the lowest weight.
    addOthers(cluster.terms.affinity, 1)
    addOthers(cluster.terms.preferredAffinity, 1)
    addOthers(cluster.terms.preferredAntiAffinity, -1)
    if (sums.isEmpty) return undefined
    return {
      score: ({ labels }) => sums.total(labels),
      normalize(scores) {
        const lowest = scores.reduce((min, score) => Math.min(min, score), Infinity)
        const range = scores.reduce((max, score) => Math.max(max, score), -Infinity) - lowest
        for (let i = 0; i < scores.length; i++)
          scores[i] = range > 0 ? Math.trunc((maxScore * (scores[i]! - lowest)) / range) : 0
      },
    }
  },
}
