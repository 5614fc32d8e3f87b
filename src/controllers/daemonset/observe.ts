import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, controllerrevisions, nodes, pods as podType } from '../../client/index.ts'
import type { ObserveContext, RosterOf } from '../kit/index.ts'
import { findersOf, inHistory } from '../kit/workload/index.ts'
import { nodeOf } from './daemon-pod.ts'
import { type FailedPods, failuresOf } from './failed-pods.ts'
import { fitOf } from './fit.ts'
import { daemonsAt } from './node-rosters.ts'
import { type Basis, type NodePods, placeOf } from './place.ts'
import { Places, placesReader } from './places.ts'
import { type Revision, revisionOf } from './revision.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: DaemonSet
  /** Its nodes with its own pods, and those that it is about to adopt. */
  places: Places
  /** The facts that the places were read by. */
  basis: Basis
  adopt: readonly Pod[]
  release: readonly Pod[]
  revision: Revision
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  failures: FailedPods
  /** The time at which the next pod becomes available, or is late, by itself. */
  changesAtMs: number | undefined
  nowMs: number
  /** A gate. */
  hasConditions: boolean
}

export function observe(ctx: ObserveContext, set: DaemonSet): Observed {
  const { caches, nowMs, gates, remembered } = ctx
  const { namespace = '', uid = '', generation } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const revisions = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  const history = inHistory([...revisions.kept, ...revisions.adopt])
  const revision = revisionOf(set, history)
  const basis: Basis = { set, matches, fit: fitOf(set), revision, finders: findersOf(caches, namespace) }
  const reader = placesReader(basis, JSON.stringify([uid, generation, revision.name, ...revision.hashes]))
  const { tally: places, changesAtMs } = (ctx.roster as unknown as RosterOf<NodePods>)(uid, reader, nowMs)
  const misfits = [...places.misfits.values()].flatMap((place) => place.misfits)
  const { adopt, release } = claim(set, matches, [...misfits, ...caches.orphans(podType, namespace)])
  return {
    set,
    places: adopt.length > 0 ? withAdopted(ctx, basis, places, adopt) : places,
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

/** The same places with pods that the set does not own yet. */
function withAdopted({ caches, nowMs }: ObserveContext, basis: Basis, places: Places, adopt: readonly Pod[]): Places {
  const into = new Places()
  const adoptedAt = new Map<string, Pod[]>()
  for (const pod of adopt) {
    const name = nodeOf(pod) ?? ''
    adoptedAt.set(name, [...(adoptedAt.get(name) ?? []), pod])
  }
  for (const place of places.all()) if (!adoptedAt.has(place.node)) into.add(place)
  for (const [name, adopted] of adoptedAt) {
    const pods = [...daemonsAt(caches, basis.set.metadata.uid ?? '', name), ...adopted]
    const place = placeOf(basis, { metadata: { name }, node: caches.get(nodes, '', name), pods }, nowMs)
    if (place) into.add(place)
  }
  return into
}
