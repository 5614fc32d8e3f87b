import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { type Claim, claim, compileLabelSelector, controllerrevisions, nodes, pods as podType } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { inHistory } from '../kit/workload/index.ts'
import { type FailedPods, failuresOf } from './failed-pods.ts'
import { fitOf } from './fit.ts'
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
  return {
    set,
    pods,
    places: placesOf(caches.list(nodes), fitOf(set), [...pods.kept, ...pods.adopt]),
    revision: revisionOf(set, history),
    history,
    orphanRevisions: revisions.adopt,
    failures: failuresOf(remembered as FailedPods | undefined, generation),
    nowMs,
    hasConditions: gates.enabled('DaemonSetConditions'),
  }
}
