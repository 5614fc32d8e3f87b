import type { Node, Pod } from '../../api/generated/types.ts'
import { leases } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { podsOnNode } from '../kit/workload/index.ts'
import { type Health, evictingTaint, heard, isEvicting, lostSince, readyOf } from './health.ts'
import { Turns, zoneOf } from './zones.ts'

export const leaseNamespace = 'kube-node-lease'

/** The eviction of pods. `wait` is the time until the node may be tainted. */
export type Emptying = { kind: 'no' } | { kind: 'yes' } | { kind: 'wait'; ms: number }

export interface Observed {
  node: Node
  health: Health
  isFirstLook: boolean
  emptying: Emptying
  /** The state of a lost node. */
  pods: Pod[]
  /** Undefined for the first reconcile after the loss. */
  marked: Marked | undefined
  nowMs: number
}

/** The UIDs of pods that were marked as not ready since the loss. */
export interface Marked {
  /** The time of the loss according to the Ready condition. Another time is another loss. */
  since: string
  uids: ReadonlySet<string>
  /** True if all pods of the first reconcile after the loss were marked. */
  isComplete: boolean
}

/** The memory for the next reconcile of a node. */
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
  // An eviction continues when the node changes from not ready to unreachable.
  if (node.spec?.taints?.some(isEvicting)) return { kind: 'yes' }
  const ms = turns.take(zoneOf(node), nowMs)
  return ms === 0 ? { kind: 'yes' } : { kind: 'wait', ms }
}
