import type { Node, Taint } from '../../api/generated/types.ts'
import { isSameTaint } from '../../api/kinds/taints.ts'
import { timestamp } from '../kit/workload/index.ts'
import { readyOf } from './health.ts'

export const notReady = 'node.kubernetes.io/not-ready'
export const unreachable = 'node.kubernetes.io/unreachable'
const unschedulable = 'node.kubernetes.io/unschedulable'

/** Which taint keeps new pods away for which state of which condition. */
const byCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
}

const kept = new Set([unschedulable, ...Object.values(byCondition).flatMap((keys) => Object.values(keys))])

/** The taints that keep new pods away from a node in its present state. */
function repellingTaints({ spec, status }: Node): Taint[] {
  const keys = (status?.conditions ?? []).flatMap(({ type, status: state }) => byCondition[type]?.[state] ?? [])
  return [...keys, ...(spec?.unschedulable ? [unschedulable] : [])].map((key) => ({ key, effect: 'NoSchedule' }))
}

/** Whether a taint is one of those by which pods are taken off nodes that are not ready. */
export const isEvicting = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && (key === notReady || key === unreachable)

/** The taint by which pods are to be taken off this node, if it is not ready. */
export function evictingTaint(node: Node): Taint | undefined {
  const state = readyOf(node)?.status
  if (state === 'False') return { key: notReady, effect: 'NoExecute' }
  return state === 'Unknown' ? { key: unreachable, effect: 'NoExecute' } : undefined
}

/** The node's taints as they should be; undefined if they are. Those that others have put there stay as they are. */
export function wantedTaints(node: Node, evicting: Taint | undefined, nowMs: number): Taint[] | undefined {
  const taints = node.spec?.taints ?? []
  const wanted = [...repellingTaints(node), ...(evicting ? [evicting] : [])]
  const isOurs = (taint: Taint) => isEvicting(taint) || (taint.effect === 'NoSchedule' && kept.has(taint.key))
  const staying = taints.filter((taint) => !isOurs(taint) || wanted.some((w) => isSameTaint(w, taint)))
  const missing = wanted.filter((taint) => !taints.some((t) => isSameTaint(t, taint)))
  if (missing.length === 0 && staying.length === taints.length) return undefined
  return [...staying, ...missing.map((taint) => ({ ...taint, timeAdded: timestamp(nowMs) }))]
}
