import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, controllerrevisions, nodes, pods as podType } from '../../client/index.ts'
import type { ObserveContext, RosterOf } from '../kit/index.ts'
import { findersOf, inHistory } from '../kit/workload/index.ts'
import { fitOf, nodeOf } from './daemon-pod.ts'
import { type FailedPods, failuresOf } from './failures.ts'
import { type Basis, type NodePods, daemonsAt, nodeStateOf } from './node-state.ts'
import { NodeTable, nodeTableReader } from './node-table.ts'
import { type Revision, revisionOf } from './revision.ts'

/** The input of a reconcile. */
export interface Observed {
  set: DaemonSet
  /** The nodes with the set's own pods and the pods to adopt. */
  table: NodeTable
  /** The input for reading node states. */
  basis: Basis
  adopt: readonly Pod[]
  release: readonly Pod[]
  revision: Revision
  /** Sorted, including the revisions to adopt. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  failures: FailedPods
  /** The time at which the next pod becomes available, or is late, without an event. */
  changesAtMs: number | undefined
  nowMs: number
  /** A feature gate. */
  hasConditions: boolean
}

export function observe(ctx: ObserveContext, set: DaemonSet): Observed {
  const { caches, nowMs, gates, remembered } = ctx
  const { namespace = '', uid = '', generation } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const revisions = claim(set, matches, [
    ...caches.owned(controllerrevisions, set),
    ...caches.orphans(controllerrevisions, namespace),
  ])
  const history = inHistory([...revisions.kept, ...revisions.adopt])
  const revision = revisionOf(set, history)
  const basis: Basis = { set, matches, fit: fitOf(set), revision, finders: findersOf(caches, namespace) }
  const reader = nodeTableReader(basis, JSON.stringify([uid, generation, revision.name, ...revision.hashes]))
  const { tally: table, changesAtMs } = (ctx.roster as unknown as RosterOf<NodePods>)(uid, reader, nowMs)
  const misfits = [...table.misfits.values()].flatMap((state) => state.misfits)
  const { adopt, release } = claim(set, matches, [...misfits, ...caches.orphans(podType, namespace, set.spec.selector)])
  return {
    set,
    table: adopt.length > 0 ? withAdopted(ctx, basis, table, adopt) : table,
    basis,
    adopt,
    release,
    revision,
    history,
    orphanRevisions: revisions.adopt,
    failures: failuresOf(remembered as FailedPods | undefined, generation),
    changesAtMs,
    nowMs,
    hasConditions: gates.enabled('DaemonSetConditions'),
  }
}

/** The same nodes with pods that the set does not own yet. */
function withAdopted(
  { caches, nowMs }: ObserveContext,
  basis: Basis,
  table: NodeTable,
  adopt: readonly Pod[],
): NodeTable {
  const into = new NodeTable()
  const adoptedAt = new Map<string, Pod[]>()
  for (const pod of adopt) {
    const name = nodeOf(pod) ?? ''
    adoptedAt.set(name, [...(adoptedAt.get(name) ?? []), pod])
  }
  for (const state of table.all()) if (!adoptedAt.has(state.node)) into.add(state)
  for (const [name, adopted] of adoptedAt) {
    const pods = [...daemonsAt(caches, basis.set.metadata.uid ?? '', name), ...adopted]
    const state = nodeStateOf(basis, { metadata: { name }, node: caches.get(nodes, '', name), pods }, nowMs)
    if (state) into.add(state)
  }
  return into
}
