import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { ApiNode, Connection } from './api-node.ts'
import type { Process } from './process.ts'

/** The probability that a request goes to another server than the previous one, as with a load balancer. */
const moves = 0.05

/** The API servers of a world. A client mostly uses the same server while that is up. */
export class Servers {
  readonly nodes: readonly ApiNode[]
  readonly #random: SeededRandom
  readonly #chosen = new WeakMap<Process, number>()
  #clients = 0

  constructor(nodes: readonly ApiNode[], random: SeededRandom) {
    this.nodes = nodes
    this.#random = random
  }

  /** Undefined while no server is up. */
  connect(client: Process): Connection | undefined {
    const { nodes } = this
    if (nodes.length === 1) return nodes[0]!.connect()
    let chosen = this.#chosen.get(client) ?? this.#clients++ % nodes.length
    if (this.#random.chance(moves)) chosen = (chosen + 1) % nodes.length
    for (let i = 0; i < nodes.length; i++) {
      const at = (chosen + i) % nodes.length
      const connection = nodes[at]!.connect()
      if (!connection) continue
      this.#chosen.set(client, at)
      return connection
    }
    return undefined
  }
}
