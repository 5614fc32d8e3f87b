import type { NodeLabels } from './node-labels.ts'

/** Counts by node, and from there by any label of nodes. Kept up to date by what changes, not by counting anew. */
export class NodeCounts {
  readonly #labels: NodeLabels
  readonly #byNode = new Map<string, number>()
  /** By label, then by its value; only for labels that were asked for. */
  readonly #byLabel = new Map<string, Map<string, number>>()
  /** Of the labels that these counts go by. */
  #version = 0

  constructor(labels: NodeLabels) {
    this.#labels = labels
    this.#version = labels.version
  }

  get isEmpty(): boolean {
    return this.#byNode.size === 0
  }

  /** The count of a node. */
  of(node: string): number {
    return this.#byNode.get(node) ?? 0
  }

  /** The counts of all nodes that have any. */
  byNode(): ReadonlyMap<string, number> {
    return this.#byNode
  }

  /** The counts of all nodes that have the label, by its value. Values without any are not in it. */
  byLabel(key: string): ReadonlyMap<string, number> {
    this.#forgetOldLabels()
    let counts = this.#byLabel.get(key)
    if (!counts) {
      this.#byLabel.set(key, (counts = new Map()))
      for (const [node, count] of this.#byNode) this.#addTo(counts, key, node, count)
    }
    return counts
  }

  add(node: string, by: number): void {
    addCount(this.#byNode, node, by)
    this.#forgetOldLabels()
    for (const [key, counts] of this.#byLabel) this.#addTo(counts, key, node, by)
  }

  #addTo(counts: Map<string, number>, key: string, node: string, by: number): void {
    const value = this.#labels.valueOf(node, key)
    if (value !== undefined) addCount(counts, value, by)
  }

  #forgetOldLabels(): void {
    if (this.#version === this.#labels.version) return
    this.#version = this.#labels.version
    this.#byLabel.clear()
  }
}

/** Adds to a count; what comes to nothing is not kept. */
function addCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
