import type { Node, Pod } from '../../api/generated/types.ts'
import { compileRequiredNodes } from '../../api/kinds/placement/node-matching.ts'
import { qosClassOf } from '../../api/kinds/pods/qos.ts'
import { tolerates, untoleratedTaint } from '../../api/kinds/placement/tolerations.ts'
import type { Pressure } from '../eviction/signals.ts'
import { isCritical } from '../pods/critical.ts'
import type { Room } from './room.ts'

/** Why a node does not take a pod, in kubelet's words. */
export interface Refusal {
  reason: string
  message: string
  /** It goes by what is known of the node's labels and taints, which may have changed since. */
  goesByNode?: boolean
}

interface Circumstances {
  node: Node
  room: Room
  /** What the node is under. */
  pressures: readonly Pressure[]
}

const predicate = (reason: string, why: string): Refusal => ({
  reason,
  message: `Predicate ${reason} failed: ${why}`,
  goesByNode: reason !== 'NodePorts',
})

/** Why a pod that was bound to a node has no place there; undefined where it has. Pure. */
export function refusalOf(pod: Pod, { node, room, pressures }: Circumstances): Refusal | undefined {
  return byPressure(pod, pressures) ?? bySystem(pod, node) ?? byResources(pod, room) ?? byPlace(pod, node, room)
}

/** Under pressure only those come in that the node needs, or that have asked for the memory they take. */
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
  // What runs already when its node's labels change goes on; and so it does when the agent is started anew.
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
