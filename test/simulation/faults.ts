import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Profile, WorldFaults } from './profile.ts'

type Chance = Exclude<keyof Profile, 'name' | 'election' | 'world' | 'userAction' | 'worldFault'>

/**
 * Nothing that was sent arrives later than this. A leader stops acting five seconds before others may take its lease: so what it sent
 * while it might has arrived by then.
 */
export const longestDelayMs = 2000

/** Decides what goes wrong. Once it is switched off nothing does any more. */
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

  /** How long a message is under way; mostly no time at all. */
  messageMs(): number {
    return this.happens('slowRequest') ? this.#shortMs() : 0
  }

  eventMs(): number {
    return this.happens('slowEvent') ? this.#shortMs() : 0
  }

  diskMs(): number {
    return this.happens('slowDisk') ? this.#random.between(1, 50) : 0
  }

  /** How long somebody waits for an answer that does not come. */
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

  /** One of the world's faults, by their weights; undefined if none is wanted in this step. */
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

  /** Mostly some milliseconds, sometimes a second, seldom as long as it may be. */
  #shortMs(): number {
    const share = this.#random.next()
    return this.#random.between(1, share < 0.7 ? 50 : share < 0.95 ? 1000 : longestDelayMs)
  }
}
