import type { Node } from '../../api/generated/types.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import { readyOf } from './health.ts'
import { isEvicting } from './taints.ts'

const exclusionLabel = 'node.kubernetes.io/exclude-disruption'
/** Nodes of a healthy zone are emptied one every ten seconds. */
const usualMs = 10_000
/** Of a large zone in trouble one every hundred; of a small one none. */
const reducedMs = 100_000
const largeZone = 50
const unhealthyShare = 0.55

/** Nodes that are likely to fail together. */
export interface Zone {
  size: number
  notReady: number
  /** When the last of its nodes began to be emptied. */
  lastEmptiedMs: number
}

export interface Zones {
  byName: ReadonlyMap<string, Zone>
  /** No node is ready. That is more likely to be our own fault: nobody is sent away. */
  areAllLost: boolean
}

export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return `${region} ${zone}`
}

/** How the zones of these nodes are. */
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

/** How far apart nodes of a zone are emptied; infinity if they are not. A zone that is lost as a whole is emptied as usual: others take its pods. */
export function pauseMs({ size, notReady }: Zone): number {
  const isPartlyLost = notReady < size && notReady > 2 && notReady / size >= unhealthyShare
  if (!isPartlyLost) return usualMs
  return size > largeZone ? reducedMs : Number.POSITIVE_INFINITY
}
