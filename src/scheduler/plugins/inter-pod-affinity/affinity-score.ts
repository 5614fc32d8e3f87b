import type { TermIndex } from '../../cluster/matching-pods.ts'
import { type ScorePlugin, maxScore } from '../plugin.ts'
import { isMeant, name, podsOf } from './inter-pod-affinity.ts'
import { TopologyCounts } from './topology-counts.ts'

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
