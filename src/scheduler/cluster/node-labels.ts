import type { NodeInfo } from './node-info.ts'

const nowhere: ReadonlySet<string> = new Set()

/** The labels of nodes, seen from the side of the labels. What was asked for once is kept until a node's labels change. */
export class NodeLabels {
  readonly #nodes: ReadonlyMap<string, NodeInfo>
  readonly #values = new Map<string, { values: ReadonlySet<string>; isEverywhere: boolean }>()
  #version = 0

  constructor(nodes: ReadonlyMap<string, NodeInfo>) {
    this.#nodes = nodes
  }

  /** Another one once the labels of any node have changed. */
  get version(): number {
    return this.#version
  }

  /** A node has come, gone or got other labels. */
  changed(): void {
    this.#version++
    this.#values.clear()
  }

  valueOf(node: string, key: string): string | undefined {
    return this.#nodes.get(node)?.labels?.[key]
  }

  /** All values that a label has on nodes. */
  values(key: string): ReadonlySet<string> {
    return this.#look(key).values
  }

  /** Whether every node has the label. */
  isEverywhere(key: string): boolean {
    return this.#look(key).isEverywhere
  }

  #look(key: string): { values: ReadonlySet<string>; isEverywhere: boolean } {
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
