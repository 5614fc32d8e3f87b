import type { AffinityTerm } from './affinity-terms.ts'
import { NodeCounts, type NodeLabels } from './node-counts.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

/** A term of existing pods, and their nodes. */
export interface HeldTerm {
  readonly term: AffinityTerm
  readonly weight: number
  /** The number of pods per node with the term. */
  readonly counts: NodeCounts
}

/** The terms of existing pods. All pods of a workload share their terms, so there are few of them. */
export class TermIndex {
  readonly #labels: NodeLabels
  readonly #held = new Map<string, HeldTerm>()

  constructor(labels: NodeLabels) {
    this.#labels = labels
  }

  all(): IterableIterator<HeldTerm> {
    return this.#held.values()
  }

  /** `by` more pods of the node have the term. */
  change(term: AffinityTerm, weight: number, node: string, by: 1 | -1): void {
    const key = `${weight} ${term.key}`
    let held = this.#held.get(key)
    if (!held) this.#held.set(key, (held = { term, weight, counts: new NodeCounts(this.#labels) }))
    held.counts.add(node, by)
    if (held.counts.isEmpty) this.#held.delete(key)
  }
}

/** The pods that are counted. */
export interface PodChoice {
  /** Equal for equivalent selections. */
  key: string
  /** The only namespace of such pods. Undefined for several. */
  namespace: string | undefined
  isCounted(pod: PodInfo): boolean
}

interface Counted extends PodChoice {
  counts: NodeCounts
  lastUsed: number
}

/**
 * The maximum number of selections that are kept current. The least recently used one is dropped, and counted again
 * when needed.
 */
const maxKept = 256

/**
 * Counts pods per selection and node. A selection is kept current as pods change, so that the thousandth pod of a
 * workload costs no more than the first.
 */
export class MatchingPods {
  readonly #nodes: ReadonlyMap<string, NodeInfo>
  readonly #labels: NodeLabels
  /** By namespace, '' for selections of several namespaces, then by key. */
  readonly #kept = new Map<string, Map<string, Counted>>()
  #size = 0
  #uses = 0

  constructor(nodes: ReadonlyMap<string, NodeInfo>, labels: NodeLabels) {
    this.#nodes = nodes
    this.#labels = labels
  }

  get(choice: PodChoice): NodeCounts {
    const group = this.#group(choice.namespace ?? '')
    let counted = group.get(choice.key)
    if (!counted) {
      group.set(choice.key, (counted = { ...choice, counts: this.#count(choice), lastUsed: 0 }))
      if (++this.#size > maxKept) this.#forgetOldest()
    }
    counted.lastUsed = ++this.#uses
    return counted.counts
  }

  /** A pod was added to a node, or removed. */
  change(pod: PodInfo, node: string, by: 1 | -1): void {
    if (this.#size === 0) return
    for (const namespace of [pod.namespace, '']) {
      for (const { isCounted, counts } of this.#kept.get(namespace)?.values() ?? [])
        if (isCounted(pod)) {
          counts.add(node, by)
        }
    }
  }

  /** The label of a namespace has changed: everything is counted again. */
  clear(): void {
    this.#kept.clear()
    this.#size = 0
  }

  #group(namespace: string): Map<string, Counted> {
    let group = this.#kept.get(namespace)
    if (!group) this.#kept.set(namespace, (group = new Map()))
    return group
  }

  #count({ isCounted }: PodChoice): NodeCounts {
    const counts = new NodeCounts(this.#labels)
    for (const { name, pods } of this.#nodes.values())
      for (const pod of pods.values())
        if (isCounted(pod)) {
          counts.add(name, 1)
        }
    return counts
  }

  #forgetOldest(): void {
    let oldest: { group: Map<string, Counted>; key: string; lastUsed: number } | undefined
    for (const group of this.#kept.values()) {
      for (const { key, lastUsed } of group.values()) {
        // The newest selection has not been used yet.
        if (lastUsed > 0 && (!oldest || lastUsed < oldest.lastUsed)) oldest = { group, key, lastUsed }
      }
    }
    if (oldest?.group.delete(oldest.key)) this.#size--
  }
}
