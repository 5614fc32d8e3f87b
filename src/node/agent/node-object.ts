import type { Node, NodeCondition, NodeStatus } from '../../api/generated/types.ts'
import type { Pressure } from '../eviction/signals.ts'
import type { Isolation } from '../runtime/runtime.ts'
import { timestamp } from '../../api/object.ts'

/** The figures from which a Node object is built. */
export interface NodeShape {
  labels: Readonly<Record<string, string>>
  taints: NonNullable<Node['spec']['taints']>
  capacity: Readonly<Record<string, string>>
  /** The resources that are available to pods. */
  allocatable: Readonly<Record<string, string>>
  addresses: NonNullable<NodeStatus['addresses']>
  podCidr: string | undefined
  nodeInfo: NodeStatus['nodeInfo']
  /** The port of the kubelet endpoint; 0 for none. */
  port: number
}

/** The labels of every node. */
export const wellKnownLabels = (
  name: string,
  { architecture, operatingSystem }: NodeStatus['nodeInfo'],
): Record<string, string> => ({
  'beta.kubernetes.io/arch': architecture,
  'beta.kubernetes.io/os': operatingSystem,
  'kubernetes.io/arch': architecture,
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': operatingSystem,
})

export interface NodeHealth {
  /** The reason why the node is not ready; undefined if it is ready. */
  problem: string | undefined
  pressures: readonly Pressure[]
  isolation?: Isolation | undefined
}

interface Words {
  reason: string
  message: string
}

/** The reasons and messages of each pressure condition. */
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

/** The message of a node whose pods are not isolated, for its status and its log. */
export const notIsolated = (why: string): string =>
  `pods are not isolated: they run as the user of the node and can read its files, its keys and the secrets of other pods (${why})`

const isolationReasons = { user: 'SeparateUsers', namespace: 'SeparateNamespaces', container: 'Containers' }

/** The node's conditions. Unchanged conditions keep the transition times of `old`. */
function nodeConditions(
  old: readonly NodeCondition[] | undefined,
  { problem, pressures, isolation }: NodeHealth,
  nowMs: number,
): NodeCondition[] {
  const now = timestamp(nowMs)
  const make = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const before = old?.find((c) => c.type === type)
    return {
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: now,
      lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
    }
  }
  // The condition is written if it is False, and then always: a patch keeps conditions that it does not have.
  const isolationConditions = () => {
    if (isolation?.kind === 'none') return [make('PodsIsolated', 'False', 'SharedUser', notIsolated(isolation.why))]
    if (!isolation || !old?.some(({ type }) => type === 'PodsIsolated')) return []
    return [make('PodsIsolated', 'True', isolationReasons[isolation.kind], 'pods are isolated from the node')]
  }
  return [
    ...Object.entries(pressureWords).map(([type, { enough, short }]) => {
      const isShort = (pressures as readonly string[]).includes(type)
      const { reason, message } = isShort ? short : enough
      return make(type, isShort ? 'True' : 'False', reason, message)
    }),
    ...isolationConditions(),
    problem === undefined
      ? make('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : make('Ready', 'False', 'KubeletNotReady', problem),
  ]
}

/** The complete status of a node. */
export function nodeStatus(
  shape: NodeShape,
  old: NodeStatus | undefined,
  health: NodeHealth,
  images: NodeStatus['images'],
  nowMs: number,
): NodeStatus {
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
