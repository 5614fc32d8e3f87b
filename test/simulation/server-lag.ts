import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Arrival } from '../lagging-store.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

/**
 * What a server hears of the store arrives no later than this. A write waits at its server until that has caught up:
 * together with the time that it is under way, and with a pause of the server, this must be less than the five seconds
 * by which a leader stops before others may take its lease.
 */
const longestLagMs = 1400

/**
 * How late one server is told of what the others have written: for a while not at all, then by some of a second or
 * more.
 */
export class ServerLag {
  readonly #timeline: Timeline
  readonly #random: SeededRandom
  /** Whether anything goes wrong now. */
  readonly #isOn: () => boolean
  #lagMs = 0
  #untilMs = 0

  constructor(timeline: Timeline, random: SeededRandom, isOn: () => boolean) {
    this.#timeline = timeline
    this.#random = random
    this.#isOn = isOn
  }

  /** How events arrive at one life of the server, in their order. */
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
