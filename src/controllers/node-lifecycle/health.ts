import type { Lease, Node, NodeCondition, NodeStatus, Taint } from '../../api/generated/types.ts'
import { isSameTaint } from '../../api/kinds/placement/tolerations.ts'
import { findCondition, millisecondsOf, timestamp } from '../kit/workload/index.ts'

/** Labels with two names. The first one takes precedence. */
const doubled = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
] as const

/** Labels that are missing or wrong under their old name. */
export function labelsToAdd({ metadata: { labels } }: Node): Record<string, string> | undefined {
  const missing = doubled.filter(([name, oldName]) => labels?.[name] !== undefined && labels[oldName] !== labels[name])
  return missing.length > 0
    ? Object.fromEntries(missing.map(([name, oldName]) => [oldName, labels![name]!]))
    : undefined
}

/** A node without a heartbeat for this time is lost. */
const graceMs = 50_000
/** The same for a node that never reported. */
export const startupGraceMs = 60_000

/** The last heartbeat of a node by our own clock, because a node's clock may be wrong. */
export interface Health {
  heartbeat: string | undefined
  renewed: string | undefined
  heardMs: number
}

export const readyOf = (node: Node): NodeCondition | undefined =>
  findCondition(node.status?.conditions, 'Ready') as NodeCondition | undefined

/**
 * Records the current node. A renewed status or lease is a heartbeat, and so is the first observation of a ready node
 * by a process.
 */
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

/** The time at which a node without further heartbeats is lost. */
export const lostAtMs = (node: Node, { heardMs }: Health): number =>
  heardMs + (readyOf(node) ? graceMs : startupGraceMs)

/** The time at which a node was lost, according to its Ready condition. Undefined if it is not lost. */
export function lostSince(node: Node): string | undefined {
  const ready = readyOf(node)
  return ready?.status === 'Unknown' && ready.reason === silent.reason ? (ready.lastTransitionTime ?? '') : undefined
}

/** The conditions of a node, except the network, which another component reports. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']
const silent = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }

/** The status of a lost node, whose conditions are unknown. The same object if it is written already. */
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

const notReady = 'node.kubernetes.io/not-ready'
const unreachable = 'node.kubernetes.io/unreachable'
const unschedulable = 'node.kubernetes.io/unschedulable'

/** The taint for each state of each condition. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
}

const kept = new Set([unschedulable, ...Object.values(byCondition).flatMap((keys) => Object.values(keys))])

/** The NoSchedule taints for a node's conditions. */
function repellingTaints({ spec, status }: Node): Taint[] {
  const keys = (status?.conditions ?? []).flatMap(({ type, status: state }) => byCondition[type]?.[state] ?? [])
  return [...keys, ...(spec?.unschedulable ? [unschedulable] : [])].map((key) => ({ key, effect: 'NoSchedule' }))
}

/** Reports whether a taint is one of the NoExecute taints of this controller. */
export const isEvicting = ({ key, effect }: Taint): boolean =>
  effect === 'NoExecute' && (key === notReady || key === unreachable)

/** The NoExecute taint for this node, if it is not ready. */
export function evictingTaint(node: Node): Taint | undefined {
  const state = readyOf(node)?.status
  if (state === 'False') return { key: notReady, effect: 'NoExecute' }
  return state === 'Unknown' ? { key: unreachable, effect: 'NoExecute' } : undefined
}

/** The desired taints of a node. Undefined if they are set. Taints of other components are kept. */
export function wantedTaints(node: Node, evicting: Taint | undefined, nowMs: number): Taint[] | undefined {
  const taints = node.spec?.taints ?? []
  const wanted = [...repellingTaints(node), ...(evicting ? [evicting] : [])]
  const isOurs = (taint: Taint) => isEvicting(taint) || (taint.effect === 'NoSchedule' && kept.has(taint.key))
  const staying = taints.filter((taint) => !isOurs(taint) || wanted.some((w) => isSameTaint(w, taint)))
  const missing = wanted.filter((taint) => !taints.some((t) => isSameTaint(t, taint)))
  if (missing.length === 0 && staying.length === taints.length) return undefined
  return [...staying, ...missing.map((taint) => ({ ...taint, timeAdded: timestamp(nowMs) }))]
}
