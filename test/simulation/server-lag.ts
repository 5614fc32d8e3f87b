import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Arrival } from '../lagging-store.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

/**
 * The maximum lag of a server behind the store. A write also waits until its server has caught up: together with its
 * delay in transit and a pause of the server, this must be less than the five seconds between a leader's last write and
 * the end of its lease.
 */
const longestLagMs = 1400

/** The lag of one server behind the writes of the others: none for a while, then a fraction of a second or more. */
export class ServerLag {
  readonly #timeline: Timeline
  readonly #random: SeededRandom
  /** True while faults are injected. */
  readonly #isOn: () => boolean
  #lagMs = 0
  #untilMs = 0

  constructor(timeline: Timeline, random: SeededRandom, isOn: () => boolean) {
    this.#timeline = timeline
    this.#random = random
    this.#isOn = isOn
  }

  /** Delivers events to one life of the server in order. */
  arrivalAt(process: Process): Arrival {
    const waiting: (() => void)[] = []
    return (deliver) => {
      const lagMs = this.#current()
      if (lagMs === 0 && waiting.length === 0 && process.isRunning) return deliver()
      waiting.push(deliver)
      process.receive(lagMs, () => waiting.shift()!())
    }
  }

  #current(): number {
    if (!this.#isOn()) return 0
    const { nowMs } = this.#timeline
    if (nowMs >= this.#untilMs) {
      this.#untilMs = nowMs + this.#random.between(500, 20_000)
      this.#lagMs = this.#random.chance(0.4) ? 0 : this.#random.between(1, this.#random.chance(0.7) ? 200 : longestLagMs)
    }
    return this.#lagMs
  }
}
