import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { holdsTemplate } from '../../api/kinds/workloads/controller-revision.ts'
import { claim, compileLabelSelector, controllerrevisions, nodes, pods as podType } from '../../client/index.ts'
import type { ObserveContext, RosterOf } from '../kit/index.ts'
import { type RevisionStep, findersOf, inHistory, reviseTo, revisionHashLabel } from '../kit/workload/index.ts'
import { fitOf, nodeOf } from './daemon-pod.ts'
import { type FailedPods, failuresOf } from './manage.ts'
import { type Basis, type NodePods, daemonsAt, nodeStateOf } from './node-state.ts'
import { NodeTable, nodeTableReader } from './node-table.ts'

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
  const { adopt, release } = claim(set, matches, [...misfits, ...caches.orphans(podType, namespace)])
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

/** The revision that the pods of a set are updated to. */
export interface Revision {
  /** The operation that makes it the newest in the history. */
  step: RevisionStep
  name: string
  /** The hash in the label of new pods. */
  hash: string
  /** Two revisions may have the same content. Pods of either are up to date. */
  hashes: ReadonlySet<string>
  has(pod: Pod): boolean
}

/** The revision hash of a pod or a revision. A revision without the label is identified by its name. */
export const hashOfPod = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel]
export const hashOfRevision = ({ metadata }: ControllerRevision): string =>
  metadata.labels?.[revisionHashLabel] ?? metadata.name!

/** Determines the update revision of a set. `history` is sorted. */
export function revisionOf(set: DaemonSet, history: readonly ControllerRevision[]): Revision {
  const { template } = set.spec
  const step = reviseTo(set.metadata.name!, history, template, set.status.collisionCount ?? 0)
  const [name, hash] =
    step.kind === 'Create' ? [step.name, step.hash] : [step.revision.metadata.name!, hashOfRevision(step.revision)]
  const hashes = new Set([hash, ...history.filter((r) => holdsTemplate(r, template)).map(hashOfRevision)])
  return { step, name, hash, hashes, has: (pod) => hashes.has(hashOfPod(pod) ?? '') }
}
