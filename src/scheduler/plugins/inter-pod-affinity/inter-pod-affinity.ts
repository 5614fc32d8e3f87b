import { deepEqual } from '../../../api/deep-equal.ts'
import type { AffinityTerm } from '../../cluster/affinity-terms.ts'
import type { PodChoice } from '../../cluster/matching-pods.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import type { FilterPlugin, NodeFilter, Rejection } from '../plugin.ts'
import type { World } from '../world.ts'
import { TopologyCounts } from './topology-counts.ts'

export const name = 'InterPodAffinity'
const notNear: Rejection = { plugin: name, reasons: ["node(s) didn't match pod affinity rules"], isFinal: true }
const tooNear: Rejection = { plugin: name, reasons: ["node(s) didn't match pod anti-affinity rules"], isFinal: false }
const unwanted: Rejection = {
  plugin: name,
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
  isFinal: false,
}

/** Reports whether a term matches a pod. */
export const isMeant = (term: AffinityTerm, pod: PodInfo, { namespaceLabels }: World): boolean =>
  term.selects(pod.labels, pod.namespace, namespaceLabels)

/** The pods that all terms match. */
export function podsOf(terms: readonly AffinityTerm[], world: World): PodChoice {
  const [first] = terms
  return {
    key: `any ${terms.map(({ key }) => key).join(' ')}`,
    namespace: first?.namespace,
    isCounted: (pod) => terms.every((term) => isMeant(term, pod, world)),
  }
}

class AffinityFilter implements NodeFilter {
  readonly #pod: PodInfo
  readonly #world: World
  /** The pods that all affinity terms of the pod match, by topology. */
  readonly #near = new TopologyCounts()
  /** The pods that the pod's anti-affinity matches, by topology. */
  readonly #far = new TopologyCounts()
  /** The pods whose anti-affinity matches the pod, by topology. */
  readonly #unwelcoming = new TopologyCounts()

  constructor(pod: PodInfo, unwelcoming: TopologyCounts, world: World) {
    const { cluster } = world
    const { affinity, antiAffinity } = pod.affinities
    this.#pod = pod
    this.#world = world
    this.#unwelcoming = unwelcoming
    if (affinity.length > 0) {
      const counts = cluster.matching.get(podsOf(affinity, world))
      for (const { topologyKey } of affinity) this.#near.addCounts(topologyKey, counts, 1)
    }
    for (const term of antiAffinity)
      this.#far.addCounts(term.topologyKey, cluster.matching.get(podsOf([term], world)), 1)
  }

  check({ labels }: NodeInfo): Rejection | undefined {
    const { affinity, antiAffinity } = this.#pod.affinities
    if (affinity.length > 0 && !this.#isNear(labels)) return notNear
    if (antiAffinity.some(({ topologyKey }) => this.#far.get(topologyKey, labels?.[topologyKey]) > 0)) return tooNear
    return this.#unwelcoming.hasAny(labels) ? unwanted : undefined
  }

  podAdded(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, 1)
  }

  podRemoved(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, -1)
  }

  #isNear(labels: NodeInfo['labels']): boolean {
    const { affinity } = this.#pod.affinities
    if (affinity.some(({ topologyKey }) => labels?.[topologyKey] === undefined)) return false
    if (affinity.every(({ topologyKey }) => this.#near.get(topologyKey, labels?.[topologyKey]) > 0)) return true
    // The first pod of a group with affinity to itself finds no other pod, and may run anywhere.
    return this.#near.isEmpty && affinity.every((term) => isMeant(term, this.#pod, this.#world))
  }

  #change(pod: PodInfo, { labels }: NodeInfo, by: 1 | -1): void {
    const { affinity, antiAffinity } = this.#pod.affinities
    if (affinity.length > 0 && affinity.every((term) => isMeant(term, pod, this.#world))) {
      for (const { topologyKey } of affinity) this.#near.add(topologyKey, labels?.[topologyKey], by)
    }
    for (const term of antiAffinity)
      if (isMeant(term, pod, this.#world)) {
        this.#far.add(term.topologyKey, labels?.[term.topologyKey], by)
      }
    for (const term of pod.affinities.antiAffinity) {
      if (isMeant(term, this.#pod, this.#world)) this.#unwelcoming.add(term.topologyKey, labels?.[term.topologyKey], by)
    }
  }
}

/** The topologies of pods whose anti-affinity matches this pod. */
function unwelcomingTo(pod: PodInfo, world: World): TopologyCounts {
  const counts = new TopologyCounts()
  for (const held of world.cluster.terms.antiAffinity.all()) {
    if (isMeant(held.term, pod, world)) counts.addCounts(held.term.topologyKey, held.counts, 1)
  }
  return counts
}

/** Enforces required affinity and anti-affinity between pods, including the anti-affinity of existing pods. */
export const interPodAffinity: FilterPlugin = {
  name,
  filter(pod, world) {
    const { affinity, antiAffinity } = pod.affinities
    const unwelcoming = unwelcomingTo(pod, world)
    if (affinity.length === 0 && antiAffinity.length === 0 && unwelcoming.isEmpty) return undefined
    return new AffinityFilter(pod, unwelcoming, world)
  },
  hears: ['NodeAdd', 'NodeUpdate', 'AssignedPodAdd', 'AssignedPodUpdate', 'AssignedPodDelete', 'TargetPodUpdate'],
  helps(event, pod, world) {
    const { affinity, antiAffinity } = pod.affinities
    switch (event.kind) {
      case 'NodeAdd':
        return affinity.every(({ topologyKey }) => event.node.metadata.labels?.[topologyKey] !== undefined)
      case 'NodeUpdate':
        return !deepEqual(event.before.metadata.labels, event.node.metadata.labels)
      case 'AssignedPodAdd':
        return affinity.some((term) => isMeant(term, event.pod, world))
      case 'AssignedPodUpdate':
        return !deepEqual(event.before.labels, event.pod.labels)
      case 'AssignedPodDelete':
        return (
          antiAffinity.some((term) => isMeant(term, event.pod, world)) ||
          event.pod.affinities.antiAffinity.some((term) => isMeant(term, pod, world))
        )
      default:
        return true
    }
  },
}
