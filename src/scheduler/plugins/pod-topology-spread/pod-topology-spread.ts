import type { Node } from '../../../api/generated/types.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import type { FilterPlugin, NodeFilter, Rejection } from '../plugin.ts'
import type { World } from '../world.ts'
import { type Constraint, constraintsOf } from './constraint.ts'

export const name = 'PodTopologySpread'
const reason = "node(s) didn't match pod topology spread constraints"
const uneven: Rejection = { plugin: name, reasons: [reason], isFinal: false }
const unlabelled: Rejection = { plugin: name, reasons: [`${reason} (missing required label)`], isFinal: true }

/** The counted pods by value of the label. */
class Domains {
  readonly constraint: Constraint
  readonly #counts = new Map<string, number>()
  #fewest: number | undefined

  constructor(constraint: Constraint) {
    this.constraint = constraint
  }

  add(value: string, count: number): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + count)
    this.#fewest = undefined
  }

  /** The skew of a value with this number of additional pods. */
  skew(value: string, more: number): number {
    return (this.#counts.get(value) ?? 0) + more - this.#lowest()
  }

  #lowest(): number {
    // A value without an entry has no pods.
    if (this.#counts.size < this.constraint.minDomains) return 0
    if (this.#fewest === undefined) {
      this.#fewest = Infinity
      for (const count of this.#counts.values()) if (count < this.#fewest) this.#fewest = count
    }
    return this.#fewest
  }
}

const hasKeys = (constraints: readonly Constraint[], labels: Node['metadata']['labels']): boolean =>
  constraints.every(({ topologyKey }) => labels?.[topologyKey] !== undefined)

class SpreadFilter implements NodeFilter {
  readonly #pod: PodInfo
  readonly #constraints: readonly Constraint[]
  readonly #domains: readonly Domains[]
  /** Reports whether the pod itself counts, per constraint. */
  readonly #own: readonly number[]

  constructor(pod: PodInfo, constraints: readonly Constraint[], { cluster }: World) {
    this.#pod = pod
    this.#constraints = constraints
    this.#domains = constraints.map((constraint) => new Domains(constraint))
    this.#own = constraints.map(({ selects }) => (selects(pod.labels) ? 1 : 0))
    if (constraints.every(({ includes, topologyKey }) => !includes && cluster.labels.isEverywhere(topologyKey)))
      this.#takeAll(cluster)
    else this.#takeIncluded(cluster)
  }

  check({ labels }: NodeInfo): Rejection | undefined {
    for (let i = 0; i < this.#domains.length; i++) {
      const domains = this.#domains[i]!
      const { topologyKey, maxSkew } = domains.constraint
      const value = labels?.[topologyKey]
      if (value === undefined) return unlabelled
      if (domains.skew(value, this.#own[i]!) > maxSkew) return uneven
    }
    return undefined
  }

  /** All nodes count, so the counts by label are used. */
  #takeAll({ labels, matching }: Cluster): void {
    for (const domains of this.#domains) {
      const { topologyKey, counted } = domains.constraint
      const counts = matching.get(counted).byLabel(topologyKey)
      for (const value of labels.values(topologyKey)) domains.add(value, counts.get(value) ?? 0)
    }
  }

  #takeIncluded({ nodes, matching }: Cluster): void {
    const counts = this.#constraints.map(({ counted }) => matching.get(counted))
    for (const node of nodes) {
      if (!hasKeys(this.#constraints, node.labels)) continue
      for (const [i, { topologyKey, includes }] of this.#constraints.entries()) {
        if (!includes || includes(node)) this.#domains[i]!.add(node.labels![topologyKey]!, counts[i]!.of(node.name))
      }
    }
  }

  podAdded(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, 1)
  }

  podRemoved(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, -1)
  }

  #change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (pod.namespace !== this.#pod.namespace || !hasKeys(this.#constraints, node.labels)) return
    for (const domains of this.#domains) {
      const { topologyKey, counted, includes } = domains.constraint
      if (counted.isCounted(pod) && (!includes || includes(node))) domains.add(node.labels![topologyKey]!, by)
    }
  }
}

/** Reports whether a change of a pod can change the skew. */
const isCounted = (constraints: readonly Constraint[], pod: PodInfo, changed: PodInfo): boolean =>
  changed.namespace === pod.namespace && constraints.some(({ selects }) => selects(changed.labels))

/** Rejects nodes on which the pod would exceed the allowed skew. */
export const podTopologySpread: FilterPlugin = {
  name,
  filter(pod, world) {
    const constraints = constraintsOf(pod, 'DoNotSchedule')
    return constraints.length === 0 ? undefined : new SpreadFilter(pod, constraints, world)
  },
  hears: [
    'NodeAdd',
    'NodeUpdate',
    'NodeDelete',
    'AssignedPodAdd',
    'AssignedPodUpdate',
    'AssignedPodDelete',
    'TargetPodUpdate',
  ],
  helps(event, pod) {
    const constraints = constraintsOf(pod, 'DoNotSchedule')
    switch (event.kind) {
      case 'NodeAdd':
      case 'NodeDelete':
        return hasKeys(constraints, event.node.metadata.labels)
      case 'NodeUpdate':
        return (
          !deepEqual(event.before.metadata.labels, event.node.metadata.labels) ||
          !deepEqual(event.before.spec?.taints, event.node.spec?.taints)
        )
      case 'AssignedPodUpdate':
        return (
          isCounted(constraints, pod, event.pod) !== isCounted(constraints, pod, event.before) ||
          event.pod.isTerminating !== event.before.isTerminating
        )
      case 'AssignedPodAdd':
      case 'AssignedPodDelete':
        return isCounted(constraints, pod, event.pod)
      default:
        return true
    }
  },
}
