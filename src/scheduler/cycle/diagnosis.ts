import type { NodeInfo } from '../cluster/node-info.ts'
import type { Rejection } from '../plugins/plugin.ts'

/** Why no node is right for a pod. */
export interface Diagnosis {
  nodeCount: number
  /** What is against all nodes, before any was looked at. */
  general?: Rejection
  /** What is against each node that was looked at. */
  nodes: ReadonlyMap<NodeInfo, Rejection>
  /** What is against those that were not. */
  others?: Rejection
}

/** Nobody has been here yet: the cluster has no nodes at all. */
export const noNodesMessage = 'no nodes available to schedule pods'

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).` */
export function messageOf({ nodeCount, general, nodes, others }: Diagnosis): string {
  const start = `0/${nodeCount} nodes are available:`
  if (general) return `${start} ${general.reasons.join(', ')}.`
  const counts = new Map<string, number>()
  const add = (reasons: readonly string[], count: number) => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + count)
  }
  for (const { reasons } of nodes.values()) add(reasons, 1)
  if (others && nodes.size < nodeCount) add(others.reasons, nodeCount - nodes.size)
  const told = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return told.length === 0 ? start : `${start} ${told.join(', ')}.`
}

/** The names of the plugins that had something against nodes. */
export function rejectersOf({ general, nodes, others }: Diagnosis): Set<string> {
  const names = new Set<string>()
  for (const rejection of [general, others]) if (rejection) names.add(rejection.plugin)
  for (const { plugin } of nodes.values()) names.add(plugin)
  return names
}
