import type { AffinityTerm } from './affinity-term.ts'
import { NodeCounts } from './node-counts.ts'
import type { NodeLabels } from './node-labels.ts'

/** A term that pods of the cluster have, and on which nodes they are. */
export interface HeldTerm {
  readonly term: AffinityTerm
  readonly weight: number
  /** How many pods of each node have it. */
  readonly counts: NodeCounts
}

/** Terms of the pods that are there. All pods of a workload have the same ones, so that there are few, however many pods there are. */
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
