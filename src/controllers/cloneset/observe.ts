import type { CloneSet, ControllerRevision, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import {
  claim, compileLabelSelector, controllerrevisions, isControlledBy, persistentvolumeclaims, pods as podType,
} from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { inHistory, isPodActive, nodeFinder } from '../kit/workload/index.ts'
import { type Entry, basisOf, seatOf } from './entry.ts'
import { Members, membersReader } from './members.ts'
import { type Revisions, reviseSet, revisionsOf } from './revision.ts'

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: CloneSet
  revisions: Revisions
  /** Its own pods, and those that it is about to adopt. */
  members: Members
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** In order, with those that are about to be adopted. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  /** Reads its own claims that are not going. Costs as much as there are: for steps in which pods come or go. */
  claims(): readonly PersistentVolumeClaim[]
  /** The pod that has this name and is no member: it has ended, is going, or is somebody else's. */
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
  const orphans = caches.orphans(podType, namespace).filter(isPodActive)
  const { adopt, release } = claim(set, matches, [...roster.tally.misfits.values(), ...orphans])
  const adopted = adopt.map((pod) => seatOf(basis, pod, nowMs))
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

/** Fills in what another API server leaves out: it knows CloneSets as custom resources, without defaults and with no status at first. */
function completed(set: CloneSet): CloneSet {
  const { spec, status } = set as Omit<CloneSet, 'status'> & Partial<Pick<CloneSet, 'status'>>
  if (status && spec.updateStrategy) return set
  return { ...set, spec: { ...spec, updateStrategy: spec.updateStrategy ?? {} }, status: status ?? ({} as CloneSet['status']) }
}

/** The pods of a roster together with those that the set does not own yet. */
function withAdopted(own: Iterable<Entry>, adopted: Iterable<Entry>): Members {
  const members = new Members()
  for (const entry of own) members.add(entry)
  for (const entry of adopted) members.add(entry)
  return members
}
