import type { Lease, Node, NodeCondition, NodeStatus } from '../../api/generated/types.ts'
import { findCondition, millisecondsOf, timestamp } from '../kit/workload/index.ts'

/** A node that has been silent for longer than this is lost. */
export const graceMs = 50_000
/** The same for a node that never said anything. */
export const startupGraceMs = 60_000

/** What was last heard of a node, and when, by our own clock: a node's clock may be wrong. */
export interface Health {
  heartbeat: string | undefined
  renewed: string | undefined
  heardMs: number
}

export const readyOf = (node: Node): NodeCondition | undefined => findCondition(node.status?.conditions, 'Ready') as NodeCondition | undefined

/** Takes in how a node looks now. A status or a lease that was renewed is a sign of life; so is the first look of a process at a node that has one. */
export function heard(node: Node, lease: Lease | undefined, before: Health | undefined, nowMs: number): Health {
  const ready = readyOf(node)
  const heartbeat = ready ? (ready.lastHeartbeatTime ?? '') : undefined
  const renewed = lease?.spec?.renewTime
  const isFirst = before === undefined
  const isAlive = isFirst ? ready !== undefined : heartbeat !== undefined && heartbeat !== before.heartbeat
  const isRenewed = renewed !== undefined && (before?.renewed === undefined || renewed > before.renewed)
  const createdMs = millisecondsOf(node.metadata.creationTimestamp)
  const sinceMs = isFirst ? (Number.isNaN(createdMs) ? nowMs : createdMs) : before.heardMs
  return { heartbeat, renewed, heardMs: isAlive || isRenewed ? nowMs : sinceMs }
}

/** When a node is lost if nothing is heard of it. */
export const lostAtMs = (node: Node, { heardMs }: Health): number => heardMs + (readyOf(node) ? graceMs : startupGraceMs)

/** When a node that was heard of before was lost, as its Ready condition says it; undefined if it is not lost. */
export function lostSince(node: Node): string | undefined {
  const ready = readyOf(node)
  return ready?.status === 'Unknown' && ready.reason === silent.reason ? (ready.lastTransitionTime ?? '') : undefined
}

/** What a node says of itself. The network is another's business. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']
const silent = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }

/** The status of a node that is lost: nothing is known of it. The same object if it says so already. */
export function lostStatus(node: Node, nowMs: number): NodeStatus {
  if (readyOf(node)?.status === 'Unknown') return node.status
  const conditions = (node.status?.conditions ?? []).map((condition): NodeCondition =>
    reported.includes(condition.type) && condition.status !== 'Unknown'
      ? { ...condition, ...silent, lastTransitionTime: timestamp(nowMs) }
      : condition,
  )
  for (const type of reported.filter((t) => !findCondition(conditions, t))) {
    conditions.push({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata.creationTimestamp,
      lastTransitionTime: timestamp(nowMs),
    })
  }
  return { ...node.status, conditions }
}
