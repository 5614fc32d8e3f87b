import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Profile, WorldFaults } from './profile.ts'

type Chance = Exclude<keyof Profile, 'name' | 'election' | 'world' | 'userAction' | 'worldFault'>

/**
 * The maximum delay of a message. A leader stops writing five seconds before others may acquire its lease, so its
 * messages have arrived by then.
 */
export const longestDelayMs = 2000

/** Decides on faults. After it is switched off there are none. */
export class Faults {
  readonly profile: Profile
  readonly #random: SeededRandom
  isOn = true

  constructor(profile: Profile, random: SeededRandom) {
    this.profile = profile
    this.#random = random
  }

  happens(fault: Chance): boolean {
    const probability = this.profile[fault]
    return this.isOn && probability > 0 && this.#random.chance(probability)
  }

  /** The delay of a message, mostly 0. */
  messageMs(): number {
    return this.happens('slowRequest') ? this.#shortMs() : 0
  }

  eventMs(): number {
    return this.happens('slowEvent') ? this.#shortMs() : 0
  }

  diskMs(): number {
    return this.happens('slowDisk') ? this.#random.between(1, 50) : 0
  }

  /** The time for which a sender waits for a missing response. */
  timeoutMs(): number {
    return this.#random.between(1000, 20_000)
  }

  between(low: number, high: number): number {
    return this.#random.between(low, high)
  }

  isHeads(): boolean {
    return this.#random.chance(0.5)
  }

  pick<T>(from: readonly T[]): T {
    return this.#random.pick(from)
  }

  /** Chooses one of the world's faults by weight. Undefined if this step has none. */
  worldFault(): keyof WorldFaults | undefined {
    const { worldFault, world } = this.profile
    if (!this.isOn || !this.#random.chance(worldFault)) return undefined
    const faults = Object.entries(world) as [keyof WorldFaults, number][]
    let at = this.#random.next() * faults.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [fault, weight] of faults) if ((at -= weight) < 0) return fault
    return undefined
  }

  isUserAction(): boolean {
    return this.isOn && this.#random.chance(this.profile.userAction)
  }

  /** Mostly some milliseconds, sometimes a second, rarely the maximum. */
  #shortMs(): number {
    const share = this.#random.next()
    return this.#random.between(1, share < 0.7 ? 50 : share < 0.95 ? 1000 : longestDelayMs)
  }
}
