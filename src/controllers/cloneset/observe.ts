import type { CloneSet, ControllerRevision, Node, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { claim, compileLabelSelector, controllerrevisions, isControlledBy, persistentvolumeclaims, pods as podType } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { KnownMembers, inHistory, isPodActive, isPodTerminating, nodeFinder } from '../kit/workload/index.ts'
import { idOfClaim, newClaims, podPrefix } from './identity.ts'
import { type Member, memberOf } from './member.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: CloneSet
  /** Its own pods, and those that it is about to adopt, that neither have ended nor are going. */
  members: readonly Member[]
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** Its own pods that have ended or are going, and what else has the name of one that its claims are for: these names are taken. */
  inactive: readonly Pod[]
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  /** Its own claims that are not going. */
  claims: readonly PersistentVolumeClaim[]
  /** Names of pods that are on no node, and whose own claims are gone or going: they will never get to one. */
  forsaken: ReadonlySet<string>
  /** Claims that pods wait for, by name. */
  awaited: ReadonlyMap<string, PersistentVolumeClaim>
  /** Its own pods that are going. */
  terminating: readonly Pod[]
  /** Finds nodes, where they are cached. */
  nodeOf?: ((name: string) => Node | undefined) | undefined
  nowMs: number
}

/** What the next look may use of this one. */
export interface Memory {
  minReadySeconds: number | undefined
  members: readonly Member[]
}

export const remember = ({ set, members }: Observed): Memory => ({ minReadySeconds: set.spec.minReadySeconds, members })

export function observe({ caches, nowMs, remembered }: ObserveContext, set: CloneSet): Observed {
  const { namespace = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const pods = podsOf(set, matches, caches, nowMs, knownOf(set, remembered as Memory | undefined))
  const revisions = claim(set, matches, [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)])
  const claims = caches.owned(persistentvolumeclaims, set).filter(({ metadata }) => !metadata.deletionTimestamp)
  const awaited = awaitedBy(caches, namespace, pods.members)
  return {
    set,
    ...pods,
    inactive: [...pods.inactive, ...namesakes(caches, set, claims)],
    history: inHistory([...revisions.kept, ...revisions.adopt]),
    orphanRevisions: revisions.adopt,
    claims,
    forsaken: forsakenOf(set, pods.members, awaited),
    awaited,
    terminating: pods.inactive.filter(isPodTerminating),
    nodeOf: nodeFinder(caches),
    nowMs,
  }
}

const knownOf = ({ spec }: CloneSet, memory: Memory | undefined): KnownMembers<Member> =>
  new KnownMembers(memory && memory.minReadySeconds === spec.minReadySeconds ? memory.members : [])

function podsOf(set: CloneSet, matches: LabelMatcher, caches: Caches, nowMs: number, known: KnownMembers<Member>): Pick<Observed, 'members' | 'adopt' | 'release' | 'inactive'> {
  const members: Member[] = []
  const inactive: Pod[] = []
  const others: Pod[] = []
  for (const pod of caches.owned(podType, set)) {
    // What was a member and is the same object is a member: selectors never change.
    const member = known.next(pod)
    if (member) members.push(member)
    else if (!isPodActive(pod)) inactive.push(pod)
    else if (matches(pod.metadata.labels)) members.push(memberOf(set, pod, nowMs))
    else others.push(pod)
  }
  for (const pod of caches.orphans(podType, set.metadata.namespace ?? '')) if (isPodActive(pod)) others.push(pod)
  const { adopt, release } = claim(set, matches, others)
  for (const pod of adopt) members.push(memberOf(set, pod, nowMs))
  return { members, adopt, release, inactive }
}

/** Pods that are none of the set's any more, or never were, and have the names that pods with these claims would have. */
function namesakes(caches: Caches, set: CloneSet, claims: readonly PersistentVolumeClaim[]): Pod[] {
  const found = claims.flatMap((claim) => caches.get(podType, set.metadata.namespace ?? '', podPrefix(set) + idOfClaim(claim)) ?? [])
  return found.filter((pod) => !isControlledBy(pod, set))
}

function forsakenOf(set: CloneSet, members: readonly Member[], awaited: Observed['awaited']): Set<string> {
  const forsaken = new Set<string>()
  if (!set.spec.volumeClaimTemplates?.length) return forsaken
  for (const { pod, id } of members) {
    if (pod.spec.nodeName || pod.status?.phase !== 'Pending') continue
    const names = new Set(claimNamesOf(pod))
    const isLost = ({ metadata: { name } }: { metadata: { name?: string } }) => names.has(name!) && (awaited.get(name!)?.metadata ?? goneMetadata).deletionTimestamp !== undefined
    if (newClaims(set, id).some(isLost)) forsaken.add(pod.metadata.name!)
  }
  return forsaken
}

/** What is not there counts as going. */
const goneMetadata = { deletionTimestamp: '' }

function awaitedBy(caches: Caches, namespace: string, members: readonly Member[]): Map<string, PersistentVolumeClaim> {
  const claims = new Map<string, PersistentVolumeClaim>()
  for (const { pod } of members) {
    if (pod.status?.phase !== 'Pending') continue
    for (const name of claimNamesOf(pod)) {
      const found = caches.get(persistentvolumeclaims, namespace, name)
      if (found) claims.set(name, found)
    }
  }
  return claims
}
