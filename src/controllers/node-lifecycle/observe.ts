import type { Node, Pod } from '../../api/generated/types.ts'
import { leases } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { podsOnNode } from '../kit/workload/index.ts'
import { type Health, heard, readyOf } from './health.ts'
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
  nowMs: number
}

export function observe({ caches, nowMs, remembered }: ObserveContext, node: Node): Observed {
  const before = remembered as Health | undefined
  const name = node.metadata.name ?? ''
  return {
    node,
    health: heard(node, caches.get(leases, leaseNamespace, name), before, nowMs),
    isFirstLook: before === undefined,
    emptying: emptyingOf(Turns.of(caches), node, nowMs),
    pods: readyOf(node)?.status === 'Unknown' ? podsOnNode(caches, name) : [],
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
