import type { CloneSet, ControllerRevision, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import {
  claim,
  compileLabelSelector,
  controllerrevisions,
  isControlledBy,
  persistentvolumeclaims,
  pods as podType,
} from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { inHistory, isPodActive, nodeFinder } from '../kit/workload/index.ts'
import { type Entry, basisOf, activeMemberOf } from './member.ts'
import { Members, membersReader } from './members.ts'
import { type Revisions, reviseSet, revisionsOf } from './revisions.ts'

/** The input of a reconcile. */
export interface Observed {
  set: CloneSet
  revisions: Revisions
  /** The set's own pods, and the pods to adopt. */
  members: Members
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** Sorted, including the revisions to adopt. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  /**
   * Reads the set's claims that are not being deleted. The cost is proportional to their number: call it in steps that
   * create or delete pods.
   */
  claims(): readonly PersistentVolumeClaim[]
  /** The pod with this name that is no member: it has finished, is terminating, or belongs to another owner. */
  strangerOf(name: string): Pod | undefined
  nowMs: number
}

export function observe(ctx: ObserveContext, stored: CloneSet): Observed {
  const { caches, nowMs } = ctx
  const set = completed(stored)
  const { namespace = '', uid = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const someRevisions = [...caches.owned(controllerrevisions, set), ...caches.orphans(controllerrevisions, namespace)]
  const ofRevision = claim(set, matches, someRevisions)
  const history = inHistory([...ofRevision.kept, ...ofRevision.adopt])
  const revised = reviseSet(set, history)
  const claimOf = (name: string) => caches.get(persistentvolumeclaims, namespace, name)
  const basis = basisOf(set, matches, revised.update.hash, { claimOf, nodeOf: nodeFinder(caches) })
  const roster = ctx.roster(uid, membersReader(basis), nowMs)
  const orphans = caches.orphans(podType, namespace, set.spec.selector).filter(isPodActive)
  const { adopt, release } = claim(set, matches, [...roster.tally.misfits.values(), ...orphans])
  const adopted = adopt.map((pod) => activeMemberOf(basis, pod, nowMs))
  const members = adopt.length > 0 ? withAdopted(roster.members.values(), adopted) : roster.tally
  return {
    set,
    revisions: revisionsOf(set, history, revised, members.ofHash),
    members,
    adopt,
    release,
    history,
    orphanRevisions: ofRevision.adopt,
    claims: () => caches.owned(persistentvolumeclaims, set).filter(({ metadata }) => !metadata.deletionTimestamp),
    strangerOf: (name) => {
      const pod = caches.get(podType, namespace, name)
      return pod && !(isControlledBy(pod, set) && isPodActive(pod)) ? pod : undefined
    },
    nowMs,
  }
}

/**
 * Adds defaults that other API servers omit: they store CloneSets as custom resources, without defaults and initially
 * without a status.
 */
function completed(set: CloneSet): CloneSet {
  const { spec, status } = set as Omit<CloneSet, 'status'> & Partial<Pick<CloneSet, 'status'>>
  if (status && spec.updateStrategy) return set
  return {
    ...set,
    spec: { ...spec, updateStrategy: spec.updateStrategy ?? {} },
    status: status ?? ({} as CloneSet['status']),
  }
}

/** The pods of a roster together with the pods to adopt. */
function withAdopted(own: Iterable<Entry>, adopted: Iterable<Entry>): Members {
  const members = new Members()
  for (const entry of own) members.add(entry)
  for (const entry of adopted) members.add(entry)
  return members
}
