import type { Node } from '../../api/generated/types.ts'
import { nodes } from '../../client/index.ts'
import type { Caches } from '../kit/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import { isEvicting, readyOf } from './health.ts'

const exclusionLabel = 'node.kubernetes.io/exclude-disruption'
/** In a healthy zone, one node is evicted every ten seconds. */
const usualMs = 10_000
/** In a large unhealthy zone one every hundred seconds, in a small one none. */
const reducedMs = 100_000
const largeZone = 50
const unhealthyShare = 0.55

/** Nodes that are likely to fail together. */
export interface Zone {
  size: number
  notReady: number
  /** The time of the last eviction in the zone. */
  lastEmptiedMs: number
}

export interface Zones {
  byName: ReadonlyMap<string, Zone>
  /** If no node is ready, the cause is more likely our own connection: nothing is evicted. */
  areAllLost: boolean
}

export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return `${region} ${zone}`
}

/** The states of the zones. */
export function judgeZones(nodes: Iterable<Node>): Zones {
  const byName = new Map<string, Zone>()
  for (const node of nodes) {
    const name = zoneOf(node)
    const zone = byName.get(name) ?? { size: 0, notReady: 0, lastEmptiedMs: Number.NEGATIVE_INFINITY }
    byName.set(name, zone)
    const emptiedMs = millisecondsOf(node.spec?.taints?.find(isEvicting)?.timeAdded)
    if (emptiedMs > zone.lastEmptiedMs) zone.lastEmptiedMs = emptiedMs
    if (node.metadata.labels?.[exclusionLabel] !== undefined) continue
    zone.size++
    if (readyOf(node)?.status !== 'True') zone.notReady++
  }
  const counted = [...byName.values()].filter((zone) => zone.size > 0)
  return { byName, areAllLost: counted.length > 0 && counted.every((zone) => zone.notReady === zone.size) }
}

/**
 * The interval between evictions in a zone. Infinite for none. A zone that failed completely is evicted at the normal
 * rate, because other zones take its pods.
 */
export function pauseMs({ size, notReady }: Zone): number {
  const isPartlyLost = notReady < size && notReady > 2 && notReady / size >= unhealthyShare
  if (!isPartlyLost) return usualMs
  return size > largeZone ? reducedMs : Number.POSITIVE_INFINITY
}

/** Grants evictions, in memory of this process. Earlier evictions are known from the taints. */
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

  /** Recomputed only when a node has changed. */
  get zones(): Zones {
    const version = this.#caches.of(nodes).lastSyncResourceVersion
    if (!this.#zones || version !== this.#version) {
      this.#zones = judgeZones(this.#caches.list(nodes))
      this.#version = version
    }
    return this.#zones
  }

  /** Requests an eviction. Returns 0 if it is granted, otherwise the time until it may be. */
  take(zoneName: string, nowMs: number): number {
    const zone = this.zones.byName.get(zoneName)
    if (!zone) return 0
    const pause = pauseMs(zone)
    if (pause === Number.POSITIVE_INFINITY) return pause
    const waitMs =
      Math.max(zone.lastEmptiedMs, this.#grantedMs.get(zoneName) ?? Number.NEGATIVE_INFINITY) + pause - nowMs
    if (waitMs > 0) return waitMs
    this.#grantedMs.set(zoneName, nowMs)
    return 0
  }
}
