import { nodes } from '../../client/index.ts'
import type { Caches } from '../kit/index.ts'
import { type Zones, judgeZones, pauseMs } from './zones.ts'

/** Whose turn it is to be emptied, for as long as this process acts. What was before it is known from the taints. */
export class Turns {
  static readonly #byTerm = new WeakMap<Caches, Turns>()
  readonly #caches: Caches
  readonly #grantedMs = new Map<string, number>()
  #zones: Zones | undefined
  #version = ''

  private constructor(caches: Caches) {
    this.#caches = caches
  }

  static of(caches: Caches): Turns {
    const known = Turns.#byTerm.get(caches)
    if (known) return known
    const turns = new Turns(caches)
    Turns.#byTerm.set(caches, turns)
    return turns
  }

  /** Counted anew only when a node has changed. */
  get zones(): Zones {
    const version = this.#caches.of(nodes).lastSyncResourceVersion
    if (!this.#zones || version !== this.#version) {
      this.#zones = judgeZones(this.#caches.list(nodes))
      this.#version = version
    }
    return this.#zones
  }

  /** Asks for a turn: 0 if it is granted, and otherwise how long until it may be. */
  take(zoneName: string, nowMs: number): number {
    const zone = this.zones.byName.get(zoneName)
    if (!zone) return 0
    const pause = pauseMs(zone)
    if (pause === Number.POSITIVE_INFINITY) return pause
    const waitMs = Math.max(zone.lastEmptiedMs, this.#grantedMs.get(zoneName) ?? Number.NEGATIVE_INFINITY) + pause - nowMs
    if (waitMs > 0) return waitMs
    this.#grantedMs.set(zoneName, nowMs)
    return 0
  }
}
