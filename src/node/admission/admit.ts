import type { Node, Pod } from '../../api/generated/types.ts'
import { compileRequiredNodes } from '../../api/kinds/placement/node-matching.ts'
import { qosClassOf } from '../../api/kinds/pods/qos.ts'
import { tolerates, untoleratedTaint } from '../../api/kinds/placement/tolerations.ts'
import type { Pressure } from '../eviction/signals.ts'
import { isCritical } from '../pods/critical.ts'
import type { Room } from './room.ts'

/** The reason why a node rejects a pod, in kubelet's words. */
export interface Refusal {
  reason: string
  message: string
  /** True if the decision depends on the node's labels and taints, which may have changed since they were read. */
  goesByNode?: boolean
}

interface Circumstances {
  node: Node
  room: Room
  /** The pressures of the node. */
  pressures: readonly Pressure[]
}

const predicate = (reason: string, why: string): Refusal => ({
  reason,
  message: `Predicate ${reason} failed: ${why}`,
  goesByNode: reason !== 'NodePorts',
})

/** Returns the reason why the node must reject a bound pod, or undefined. Pure. */
export function refusalOf(pod: Pod, { node, room, pressures }: Circumstances): Refusal | undefined {
  return byPressure(pod, pressures) ?? bySystem(pod, node) ?? byResources(pod, room) ?? byPlace(pod, node, room)
}

/**
 * Under memory pressure the node rejects BestEffort pods without the toleration, and under other pressures all pods.
 * Critical pods are always admitted.
 */
function byPressure(pod: Pod, pressures: readonly Pressure[]): Refusal | undefined {
  if (pressures.length === 0 || isCritical(pod)) return undefined
  if (pressures.every((pressure) => pressure === 'MemoryPressure')) {
    const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }
    if (qosClassOf(pod) !== 'BestEffort' || pod.spec.tolerations?.some((toleration) => tolerates(toleration, taint)))
      return undefined
  }
  return { reason: 'Evicted', message: `The node had condition: [${pressures.join(' ')}]. ` }
}

function bySystem({ spec }: Pod, { status }: Node): Refusal | undefined {
  if (!spec.os || spec.os.name === status?.nodeInfo?.operatingSystem) return undefined
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
}

function byResources(pod: Pod, room: Room): Refusal | undefined {
  const short = room.shortage(pod)
  if (!short) return undefined
  const { resource, requested, used, capacity } = short
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  }
}

function byPlace(pod: Pod, node: Node, room: Room): Refusal | undefined {
  // A running pod is not rejected when the node's labels change, nor when the agent restarts.
  const isNew = pod.status?.startTime === undefined
  if (isNew && !compileRequiredNodes(pod.spec)(node))
    return predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (room.hasPortConflict(pod))
    return predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  if (isNew && untoleratedTaint(node.spec.taints, pod.spec.tolerations ?? [], ['NoExecute'])) {
    return predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate")
  }
  return undefined
}
