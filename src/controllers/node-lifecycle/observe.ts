import type { Node, Pod } from '../../api/generated/types.ts'
import { leases } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { podsOnNode } from '../kit/workload/index.ts'
import { type Health, heard, lostSince, readyOf } from './health.ts'
import { evictingTaint, isEvicting } from './taints.ts'
import { Turns } from './turns.ts'
import { zoneOf } from './zones.ts'

export const leaseNamespace = 'kube-node-lease'

/** Whether pods are to be taken off: `wait` says how long until it may be this node's turn. */
export type Emptying = { kind: 'no' } | { kind: 'yes' } | { kind: 'wait'; ms: number }

export interface Observed {
  node: Node
  health: Health
  isFirstLook: boolean
  emptying: Emptying
  /** On a node that is lost. */
  pods: Pod[]
  /** Undefined at the first look at the loss. */
  marked: Marked | undefined
  nowMs: number
}

/** The pods that were marked as not ready since a node was lost, by uid. */
export interface Marked {
  /** When it was lost, as its Ready condition says it: another time is another loss. */
  since: string
  uids: ReadonlySet<string>
  /** Whether all who were to be marked at the first look are. */
  isComplete: boolean
}

/** What the next look at a node is to know of this one. */
export interface Memory {
  health: Health
  marked: Marked | undefined
}

export function observe({ caches, nowMs, remembered }: ObserveContext, node: Node): Observed {
  const { health: before, marked } = (remembered ?? {}) as Partial<Memory>
  const name = node.metadata.name ?? ''
  return {
    node,
    health: heard(node, caches.get(leases, leaseNamespace, name), before, nowMs),
    isFirstLook: before === undefined,
    emptying: emptyingOf(Turns.of(caches), node, nowMs),
    pods: readyOf(node)?.status === 'Unknown' ? podsOnNode(caches, name) : [],
    marked: marked?.since === lostSince(node) ? marked : undefined,
    nowMs,
  }
}

function emptyingOf(turns: Turns, node: Node, nowMs: number): Emptying {
  if (!evictingTaint(node) || turns.zones.areAllLost) return { kind: 'no' }
  // One that has begun goes on, also when it turns from not ready to unreachable.
  if (node.spec?.taints?.some(isEvicting)) return { kind: 'yes' }
  const ms = turns.take(zoneOf(node), nowMs)
  return ms === 0 ? { kind: 'yes' } : { kind: 'wait', ms }
}
