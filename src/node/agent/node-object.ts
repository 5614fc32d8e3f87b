import type { Node, NodeCondition, NodeStatus } from '../../api/generated/types.ts'
import type { Pressure } from '../eviction/signals.ts'
import type { Isolation } from '../runtime/runtime.ts'
import { timestamp } from '../../api/kinds/pod-prepare.ts'

/** What a node is made of. */
export interface NodeShape {
  labels: Readonly<Record<string, string>>
  taints: NonNullable<Node['spec']['taints']>
  capacity: Readonly<Record<string, string>>
  /** What is left of it for pods. */
  allocatable: Readonly<Record<string, string>>
  addresses: NonNullable<NodeStatus['addresses']>
  podCidr: string | undefined
  nodeInfo: NodeStatus['nodeInfo']
  /** Where the agent serves logs and the like; 0: nowhere. */
  port: number
}

/** The labels that every node has. */
export const wellKnownLabels = (name: string, { architecture, operatingSystem }: NodeStatus['nodeInfo']): Record<string, string> => ({
  'beta.kubernetes.io/arch': architecture,
  'beta.kubernetes.io/os': operatingSystem,
  'kubernetes.io/arch': architecture,
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': operatingSystem,
})

export interface NodeHealth {
  /** Why the node is not ready; undefined when it is. */
  problem: string | undefined
  pressures: readonly Pressure[]
  isolation?: Isolation | undefined
}

interface Words {
  reason: string
  message: string
}

/** What is said of each, when there is enough and when there is not. */
const pressureWords: Record<Pressure, { enough: Words; short: Words }> = {
  MemoryPressure: {
    enough: { reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
    short: { reason: 'KubeletHasInsufficientMemory', message: 'kubelet has insufficient memory available' },
  },
  DiskPressure: {
    enough: { reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
    short: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' },
  },
  PIDPressure: {
    enough: { reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
    short: { reason: 'KubeletHasInsufficientPID', message: 'kubelet has insufficient PID available' },
  },
}

/** What a node says whose pods are not kept apart: in its status, and in its log when it starts. */
export const notIsolated = (why: string): string =>
  `pods are not isolated: they run as the user of the node and can read its files, its keys and the secrets of other pods (${why})`

/** The node's conditions. Times of transition are kept from `old` where nothing has turned. */
export function nodeConditions(old: readonly NodeCondition[] | undefined, { problem, pressures, isolation }: NodeHealth, nowMs: number): NodeCondition[] {
  const now = timestamp(nowMs)
  const make = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const before = old?.find((c) => c.type === type)
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now }
  }
  return [
    ...Object.entries(pressureWords).map(([type, { enough, short }]) => {
      const isShort = (pressures as readonly string[]).includes(type)
      const { reason, message } = isShort ? short : enough
      return make(type, isShort ? 'True' : 'False', reason, message)
    }),
    ...(isolation?.kind === 'none' ? [make('PodsIsolated', 'False', 'SharedUser', notIsolated(isolation.why))] : []),
    problem === undefined
      ? make('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : make('Ready', 'False', 'KubeletNotReady', problem),
  ]
}

/** All that a node says about itself. */
export function nodeStatus(shape: NodeShape, old: NodeStatus | undefined, health: NodeHealth, images: NodeStatus['images'], nowMs: number): NodeStatus {
  return {
    addresses: shape.addresses,
    allocatable: { ...shape.allocatable },
    capacity: { ...shape.capacity },
    conditions: nodeConditions(old?.conditions, health, nowMs),
    daemonEndpoints: { kubeletEndpoint: { Port: shape.port } },
    nodeInfo: shape.nodeInfo,
    ...(images?.length ? { images } : {}),
  }
}
