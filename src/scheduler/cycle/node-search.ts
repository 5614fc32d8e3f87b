import type { NodeInfo } from '../cluster/node-info.ts'
import type { Rejection } from '../plugins/plugin.ts'
import type { Filters } from './filters.ts'

/** So many nodes are always worth comparing. */
const minCompared = 100
/** The least share of all nodes that is compared, in percent. */
const minPercentage = 5

/** How many nodes that fit are enough to choose from: all of a hundred, half of a few more, a twentieth of very many. */
export function enoughNodes(all: number, percentage: number): number {
  if (all < minCompared) return all
  const share = percentage > 0 ? percentage : Math.max(minPercentage, 50 - Math.trunc(all / 125))
  return Math.max(minCompared, Math.trunc((all * share) / 100))
}

export interface Found {
  fitting: NodeInfo[]
  rejections: Map<NodeInfo, Rejection>
}

/** Looks for nodes that fit. Each search goes on where the last one ended, so that all nodes have their turn. */
export class NodeSearch {
  readonly #percentage: number
  #start = 0

  /** `percentage` of nodes to compare; 0: the larger the cluster, the smaller the share. */
  constructor(percentage: number) {
    this.#percentage = percentage
  }

  find(filters: Filters, nodes: readonly NodeInfo[]): Found {
    const enough = enoughNodes(nodes.length, this.#percentage)
    const fitting: NodeInfo[] = []
    const rejections = new Map<NodeInfo, Rejection>()
    const { length } = nodes
    let looked = 0
    for (; looked < length && fitting.length < enough; looked++) {
      const node = nodes[(this.#start + looked) % length]!
      const rejection = filters.check(node)
      if (rejection) rejections.set(node, rejection)
      else fitting.push(node)
    }
    this.#start = length === 0 ? 0 : (this.#start + looked) % length
    return { fitting, rejections }
  }
}
