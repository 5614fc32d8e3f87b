import type { NodeInfo } from './node-info.ts'

const nowhere: ReadonlySet<string> = new Set()

/** The nodes by label. A label that was requested once is indexed until a node's labels change. */
export class NodeLabels {
  readonly #nodes: ReadonlyMap<string, NodeInfo>
  readonly #values = new Map<string, { values: ReadonlySet<string>; isEverywhere: boolean }>()
  #version = 0

  constructor(nodes: ReadonlyMap<string, NodeInfo>) {
    this.#nodes = nodes
  }

  /** Changes with the labels of any node. */
  get version(): number {
    return this.#version
  }

  /** A node was added, removed or relabelled. */
  changed(): void {
    this.#version++
    this.#values.clear()
  }

  valueOf(node: string, key: string): string | undefined {
    return this.#nodes.get(node)?.labels?.[key]
  }

  /** All values of a label. */
  values(key: string): ReadonlySet<string> {
    return this.#read(key).values
  }

  /** Reports whether every node has the label. */
  isEverywhere(key: string): boolean {
    return this.#read(key).isEverywhere
  }

  #read(key: string): { values: ReadonlySet<string>; isEverywhere: boolean } {
    let found = this.#values.get(key)
    if (!found) this.#values.set(key, (found = this.#collect(key)))
    return found
  }

  #collect(key: string): { values: ReadonlySet<string>; isEverywhere: boolean } {
    const values = new Set<string>()
    let isEverywhere = true
    for (const { isKnown, labels } of this.#nodes.values()) {
      if (!isKnown) continue
      const value = labels?.[key]
      if (value === undefined) isEverywhere = false
      else values.add(value)
    }
    return { values: values.size > 0 ? values : nowhere, isEverywhere }
  }
}

/** Counts by node, and by the value of any node label. They are updated incrementally. */
export class NodeCounts {
  readonly #labels: NodeLabels
  readonly #byNode = new Map<string, number>()
  /** By label, then by value. Only requested labels. */
  readonly #byLabel = new Map<string, Map<string, number>>()
  /** The version of the labels that these counts are based on. */
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

  /** The counts of all nodes other than zero. */
  byNode(): ReadonlyMap<string, number> {
    return this.#byNode
  }

  /** The counts of all values of the label. Values with a count of zero are omitted. */
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

/** Adds to a count, and removes it at zero. */
function addCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
