import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Target } from '../routes/routes.ts'

const keyOf = ({ address, port }: Target): string => `${address} ${port}`

/** The maximum number of clients to remember for session affinity. The oldest is dropped first. */
const mostClients = 10_000

/** Selects an endpoint for each connection of one listener. */
export class Balancer {
  readonly #clock: Clock
  readonly #random: Random
  #targets: readonly Target[] = []
  #affinityMs: number | undefined
  /** The endpoint of each client, the newest client last. */
  readonly #clients = new Map<string, { key: string; untilMs: number }>()

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  update(targets: readonly Target[], affinityMs: number | undefined): void {
    this.#targets = targets
    this.#affinityMs = affinityMs
    if (affinityMs === undefined) this.#clients.clear()
  }

  has(target: Target): boolean {
    return this.#targets.some((one) => keyOf(one) === keyOf(target))
  }

  /** All endpoints in the order of attempts: the client's own endpoint first, the others in random order. */
  order(client: string): Target[] {
    const order = shuffled(this.#targets, this.#random)
    const held = this.#clients.get(client)
    if (!held || held.untilMs <= this.#clock.now()) return order
    return order.sort((a, b) => Number(keyOf(b) === held.key) - Number(keyOf(a) === held.key))
  }

  /** Records the endpoint that accepted the client's connection. */
  connected(client: string, target: Target): void {
    if (this.#affinityMs === undefined) return
    this.#clients.delete(client)
    this.#clients.set(client, { key: keyOf(target), untilMs: this.#clock.now() + this.#affinityMs })
    if (this.#clients.size > mostClients) this.#clients.delete(this.#clients.keys().next().value!)
  }
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const list = [...all]
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1))
    ;[list[i], list[j]] = [list[j]!, list[i]!]
  }
  return list
}
