import type { ControllerRevision, DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import { type Claim, claim, compileLabelSelector, controllerrevisions, nodes, pods as podType } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { type Finders, findersOf, inHistory } from '../kit/workload/index.ts'
import { type FailedPods, failuresOf } from './failed-pods.ts'
import { type FitOf, fitOf } from './fit.ts'
import { type Place, placesOf } from './places.ts'
import { type Revision, revisionOf } from './revision.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: DaemonSet
  pods: Claim<Pod>
  places: readonly Place[]
  revision: Revision
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  failures: FailedPods
  /** The node that was added last, of those that are to run a pod. */
  newestNode: Node | undefined
  finders?: Finders
  nowMs: number
  /** A gate. */
  hasConditions: boolean
}

export function observe({ caches, nowMs, gates, remembered }: ObserveContext, set: DaemonSet): Observed {
  const { namespace = '', generation } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const pods = claim(set, matches, [...caches.owned(podType, set), ...caches.orphans(podType, namespace)])
  const revisions = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  const history = inHistory([...revisions.kept, ...revisions.adopt])
  const [all, fit] = [caches.list(nodes), fitOf(set)]
  return {
    set,
    pods,
    places: placesOf(all, fit, [...pods.kept, ...pods.adopt]),
    newestNode: newestOf(all, fit),
    finders: findersOf(caches, namespace),
    revision: revisionOf(set, history),
    history,
    orphanRevisions: revisions.adopt,
    failures: failuresOf(remembered as FailedPods | undefined, generation),
    nowMs,
    hasConditions: gates.enabled('DaemonSetConditions'),
  }
}

/** The node that was added last, of those that are to run a pod of the set. */
export function newestOf(all: readonly Node[], fit: FitOf): Node | undefined {
  let newest: Node | undefined
  const madeAt = (node: Node | undefined) => node?.metadata.creationTimestamp ?? ''
  for (const node of all) if (madeAt(node) > madeAt(newest) && fit(node) === 'run') newest = node
  return newest
}
