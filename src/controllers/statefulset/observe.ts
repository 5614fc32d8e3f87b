import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import { type Claim, claim, compileLabelSelector, controllerrevisions, persistentvolumeclaims, pods as podType } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { inHistory } from '../kit/workload/index.ts'
import { claimNameAt, ordinalOf, startOrdinal } from './identity.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: StatefulSet
  pods: Claim<Pod>
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  /** Claims that are there, by name: those of all places, and what pods wait for. */
  claims: ReadonlyMap<string, PersistentVolumeClaim>
  nowMs: number
  /** Gates. */
  honoursMaxUnavailable: boolean
  hasConditions: boolean
}

export function observe({ caches, nowMs, gates }: ObserveContext, set: StatefulSet): Observed {
  const { namespace = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const candidates = [...caches.owned(podType, set), ...caches.orphans(podType, namespace)]
  const members = candidates.filter((pod) => ordinalOf(set, pod.metadata.name!) !== undefined)
  const pods = claim(set, matches, members)
  const revisions = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  return {
    set,
    pods,
    history: inHistory([...revisions.kept, ...revisions.adopt]),
    orphanRevisions: revisions.adopt,
    claims: claimsOf(caches, set, [...pods.kept, ...pods.adopt]),
    nowMs,
    honoursMaxUnavailable: gates.enabled('MaxUnavailableStatefulSet'),
    hasConditions: gates.enabled('StatefulSetConditions'),
  }
}

function claimsOf(caches: Caches, set: StatefulSet, pods: readonly Pod[]): Map<string, PersistentVolumeClaim> {
  const claims = new Map<string, PersistentVolumeClaim>()
  const look = (name: string) => {
    const found = caches.get(persistentvolumeclaims, set.metadata.namespace ?? '', name)
    if (found) claims.set(name, found)
  }
  for (const pod of pods) if (pod.status?.phase === 'Pending') claimNamesOf(pod).forEach(look)
  const templates = set.spec.volumeClaimTemplates ?? []
  if (templates.length === 0) return claims
  const start = startOrdinal(set)
  const ordinals = new Set(pods.map((pod) => ordinalOf(set, pod.metadata.name!)!))
  for (let i = 0; i < (set.spec.replicas ?? 1); i++) ordinals.add(start + i)
  for (const ordinal of ordinals) {
    for (const template of templates) look(claimNameAt(set, template, ordinal))
  }
  return claims
}
