import { NodeCounts } from './node-counts.ts'
import type { NodeInfo } from './node-info.ts'
import type { NodeLabels } from './node-labels.ts'
import type { PodInfo } from './pod-info.ts'

/** Which pods are counted. */
export interface PodChoice {
  /** The same for choices that mean the same. */
  key: string
  /** The only namespace of such pods; undefined if they may be in several. */
  namespace: string | undefined
  isCounted(pod: PodInfo): boolean
}

interface Counted extends PodChoice {
  counts: NodeCounts
  lastUsed: number
}

/** So many choices are kept up to date; those not used for longest are forgotten, and counted anew when they are needed. */
const maxKept = 256

/**
 * Counts pods by what selects them, node by node. What was asked for once is kept up to date as pods come and go, so that the thousandth pod of a workload
 * costs no more than the first.
 */
export class MatchingPods {
  readonly #nodes: ReadonlyMap<string, NodeInfo>
  readonly #labels: NodeLabels
  /** By namespace, '' for those that are in several; then by key. */
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

  /** A pod has come to the node, or is gone from it. */
  change(pod: PodInfo, node: string, by: 1 | -1): void {
    if (this.#size === 0) return
    for (const namespace of [pod.namespace, '']) {
      for (const { isCounted, counts } of this.#kept.get(namespace)?.values() ?? []) if (isCounted(pod)) counts.add(node, by)
    }
  }

  /** What decides about pods has changed: all is counted anew. */
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
    for (const { name, pods } of this.#nodes.values()) for (const pod of pods.values()) if (isCounted(pod)) counts.add(name, 1)
    return counts
  }

  #forgetOldest(): void {
    let oldest: { group: Map<string, Counted>; key: string; lastUsed: number } | undefined
    for (const group of this.#kept.values()) {
      for (const { key, lastUsed } of group.values()) {
        // The one that was just made has not been used yet.
        if (lastUsed > 0 && (!oldest || lastUsed < oldest.lastUsed)) oldest = { group, key, lastUsed }
      }
    }
    if (oldest?.group.delete(oldest.key)) this.#size--
  }
}
