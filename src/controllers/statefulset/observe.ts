import type { ControllerRevision, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, controllerrevisions, persistentvolumeclaims, pods as podType } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { type Finders, inHistory, nodeFinder } from '../kit/workload/index.ts'
import { type Basis, type ClaimOf, type Member, memberOf } from './member.ts'
import { type Places, emptyPlaces, placesReader } from './places.ts'
import { type Revisions, revisionsOf } from './revision.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: StatefulSet
  revisions: Revisions
  /** Its own pods, and those that it is about to adopt. */
  places: Places
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  claimOf: ClaimOf
  /** Finds nodes, where they are cached. */
  nodeOf?: Finders['nodeOf']
  /** The time at which the next pod becomes available, or is late, by itself. */
  changesAtMs: number | undefined
  nowMs: number
  /** Gates. */
  honoursMaxUnavailable: boolean
  hasConditions: boolean
}

export function observe(ctx: ObserveContext, set: StatefulSet): Observed {
  const { caches, nowMs, gates } = ctx
  const { namespace = '', uid = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const ofRevision = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  const history = inHistory([...ofRevision.kept, ...ofRevision.adopt])
  const revisions = revisionsOf(set, history)
  const claimOf: ClaimOf = (name) => caches.get(persistentvolumeclaims, namespace, name)
  const basis: Basis = { set, matches, update: revisions.update.name, claimOf, nodeOf: nodeFinder(caches) }
  const { tally: places, changesAtMs } = ctx.roster(uid, placesReader(basis, revisions), nowMs)
  const { adopt, release } = claim(set, matches, [...places.misfits.values(), ...caches.orphans(podType, namespace).filter((pod) => memberOf(basis, pod, nowMs))])
  return {
    set,
    revisions,
    places: adopt.length > 0 ? withAdopted(places, adopt.map((pod) => memberOf(basis, pod, nowMs)!), emptyPlaces(set, revisions)) : places,
    adopt,
    release,
    history,
    orphanRevisions: ofRevision.adopt,
    claimOf,
    nodeOf: basis.nodeOf,
    changesAtMs,
    nowMs,
    honoursMaxUnavailable: gates.enabled('MaxUnavailableStatefulSet'),
    hasConditions: gates.enabled('StatefulSetConditions'),
  }
}

/** The same places with pods that the set does not own yet. */
function withAdopted(places: Places, adopted: readonly Member[], into: Places): Places {
  for (const member of [...places.all(), ...adopted]) into.add(member)
  return into
}
