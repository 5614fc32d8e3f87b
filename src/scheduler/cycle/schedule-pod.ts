import type { Random } from '../../base/random.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import { type FilterPlugin, type Rejection, type ScorePlugin, isRejection } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'
import type { Nominations } from '../queue/nominations.ts'
import { type Diagnosis, type NodeSearch, chooseNode } from './node-search.ts'
import { Filters } from './filters.ts'

export interface Cycle {
  world: World
  filters: readonly FilterPlugin[]
  scores: readonly ScorePlugin[]
  nominations: Nominations
  search: NodeSearch
  random: Random
}

/** The result of a cycle. With `filters`, preemption may be tried. */
export type Decision =
  | { kind: 'node'; node: NodeInfo; filters: Filters }
  | { kind: 'nowhere'; diagnosis: Diagnosis; filters: Filters | undefined }
  | { kind: 'no nodes' }

/** Selects a node for a pod, without changing any state. */
export function schedulePod(pod: PodInfo, cycle: Cycle): Decision {
  const { world, nominations, search } = cycle
  const { nodes } = world.cluster
  if (nodes.length === 0) return { kind: 'no nodes' }
  const filters = Filters.of(pod, cycle.filters, world, nominations)
  if (isGeneral(filters)) {
    return {
      kind: 'nowhere',
      diagnosis: {
        nodeCount: nodes.length,
        general: filters,
        nodes: new Map(),
      },
      filters: undefined,
    }
  }
  const nominated = world.cluster.node(nominations.nodeOf(pod.uid) ?? pod.pod.status?.nominatedNodeName ?? '')
  // Room was made for the pod on this node, which is therefore preferred.
  if (nominated && !filters.check(nominated)) return { kind: 'node', node: nominated, filters }
  const { onlyNodes } = filters
  const asked = onlyNodes ? [...onlyNodes].flatMap((name) => world.cluster.node(name) ?? []) : nodes
  const { fitting, rejections } = search.find(filters, asked)
  if (fitting.length > 0) {
    return { kind: 'node', node: chooseNode(pod, fitting, cycle.scores, world, cycle.random), filters }
  }
  const diagnosis: Diagnosis = {
    nodeCount: nodes.length,
    nodes: rejections,
    ...(onlyNodes ? { others: notNamed } : {}),
  }
  return { kind: 'nowhere', diagnosis, filters }
}

/** Pods that require specific nodes name them by affinity. */
const notNamed: Rejection = {
  plugin: 'NodeAffinity',
  reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
  isFinal: true,
}

const isGeneral = (filters: Filters | Rejection): filters is Rejection =>
  !(filters instanceof Filters) && isRejection(filters)
