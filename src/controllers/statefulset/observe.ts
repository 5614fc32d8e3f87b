import type { ControllerRevision, Node, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { claim, compileLabelSelector, controllerrevisions, persistentvolumeclaims, pods as podType } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { KnownMembers, inHistory, nodeFinder } from '../kit/workload/index.ts'
import { claimNameAt, startOrdinal } from './identity.ts'
import { type Member, memberOf } from './member.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: StatefulSet
  /** Its own pods, and those that it is about to adopt. */
  members: readonly Member[]
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  /** Claims that are there, by name: those of all places, and what pods wait for. */
  claims: ReadonlyMap<string, PersistentVolumeClaim>
  /** Finds nodes, where they are cached. */
  nodeOf?: ((name: string) => Node | undefined) | undefined
  nowMs: number
  /** Gates. */
  honoursMaxUnavailable: boolean
  hasConditions: boolean
}

/** What the next look may use of this one. */
export interface Memory {
  minReadySeconds: number | undefined
  members: readonly Member[]
}

export const remember = ({ set, members }: Observed): Memory => ({ minReadySeconds: set.spec.minReadySeconds, members })

export function observe({ caches, nowMs, gates, remembered }: ObserveContext, set: StatefulSet): Observed {
  const { namespace = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const pods = podsOf(set, matches, caches, nowMs, knownOf(set, remembered as Memory | undefined))
  const revisions = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  return {
    set,
    ...pods,
    history: inHistory([...revisions.kept, ...revisions.adopt]),
    orphanRevisions: revisions.adopt,
    claims: claimsOf(caches, set, pods.members),
    nodeOf: nodeFinder(caches),
    nowMs,
    honoursMaxUnavailable: gates.enabled('MaxUnavailableStatefulSet'),
    hasConditions: gates.enabled('StatefulSetConditions'),
  }
}

const knownOf = ({ spec }: StatefulSet, memory: Memory | undefined): KnownMembers<Member> =>
  new KnownMembers(memory && memory.minReadySeconds === spec.minReadySeconds ? memory.members : [])

function podsOf(set: StatefulSet, matches: LabelMatcher, caches: Caches, nowMs: number, known: KnownMembers<Member>): Pick<Observed, 'members' | 'adopt' | 'release'> {
  const members: Member[] = []
  const others = new Map<Pod, Member>()
  for (const pod of caches.owned(podType, set)) {
    const member = known.next(pod) ?? memberOf(set, matches, pod, nowMs)
    if (member?.isSelected) members.push(member)
    else if (member) others.set(pod, member)
  }
  for (const pod of caches.orphans(podType, set.metadata.namespace ?? '')) {
    const member = memberOf(set, matches, pod, nowMs)
    if (member) others.set(pod, member)
  }
  const { adopt, release } = claim(set, matches, [...others.keys()])
  for (const pod of adopt) members.push(others.get(pod)!)
  return { members, adopt, release }
}

function claimsOf(caches: Caches, set: StatefulSet, members: readonly Member[]): Map<string, PersistentVolumeClaim> {
  const claims = new Map<string, PersistentVolumeClaim>()
  const look = (name: string) => {
    const found = caches.get(persistentvolumeclaims, set.metadata.namespace ?? '', name)
    if (found) claims.set(name, found)
  }
  for (const { pod, isPending } of members) if (isPending) claimNamesOf(pod).forEach(look)
  const templates = set.spec.volumeClaimTemplates ?? []
  if (templates.length === 0) return claims
  const start = startOrdinal(set)
  const ordinals = new Set(members.map(({ ordinal }) => ordinal))
  for (let i = 0; i < (set.spec.replicas ?? 1); i++) ordinals.add(start + i)
  for (const ordinal of ordinals) {
    for (const template of templates) look(claimNameAt(set, template, ordinal))
  }
  return claims
}
