/**
 * A queue that serves flows in rotation, and the items of one flow in order of arrival. A new flow is served before the
 * known ones, once per round: a client that sends single requests does not wait for clients that always have more.
 */
export class FlowQueue<T> {
  /** Flows that have not been served since they arrived. */
  readonly #fresh = new Map<string, T[]>()
  /**
   * The other flows, in order of service. A flow without items stays until its turn, so that it does not count as new
   * again immediately.
   */
  readonly #known = new Map<string, T[]>()
  #count = 0

  get isEmpty(): boolean {
    return this.#count === 0
  }

  push(flow: string, item: T): void {
    this.#count++
    const items = this.#fresh.get(flow) ?? this.#known.get(flow)
    if (items) items.push(item)
    else this.#fresh.set(flow, [item])
  }

  /** Takes the next item and moves its flow to the end of the rotation. */
  take(): T | undefined {
    if (this.#count === 0) return undefined
    this.#count--
    for (const [flow, items] of this.#fresh) {
      this.#fresh.delete(flow)
      this.#known.set(flow, items)
      return items.shift()!
    }
    for (const [flow, items] of this.#known) {
      this.#known.delete(flow)
      if (items.length === 0) continue
      const first = items.shift()!
      if (items.length > 0) this.#known.set(flow, items)
      return first
    }
    throw new Error('a queue that is not empty has an item')
  }
}
