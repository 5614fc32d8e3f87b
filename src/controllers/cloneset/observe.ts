import type {
  CloneSet,
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  PodTemplateSpec,
} from '../../api/generated/types.ts'
import { templateOf } from '../../api/kinds/workloads/controller-revision.ts'
import {
  claim,
  compileLabelSelector,
  controllerrevisions,
  isControlledBy,
  persistentvolumeclaims,
  pods as podType,
} from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import {
  type RevisionStep,
  inHistory,
  isPodActive,
  nodeFinder,
  reviseTo,
  revisionHashLabel,
} from '../kit/workload/index.ts'
import { type Entry, basisOf, activeMemberOf } from './member.ts'
import { Members, membersReader } from './members.ts'

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
  const orphans = caches.orphans(podType, namespace).filter(isPodActive)
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

const templateHashLabel = 'pod-template-hash'

/** A revision, which may not be stored yet. */
export interface Revision {
  name: string
  /** The last part of the name, which identifies the revision. */
  hash: string
  template: PodTemplateSpec
}

export interface Revisions {
  step: RevisionStep
  /** The revision that pods are updated to. */
  update: Revision
  /** The previous revision of all pods, which the partition keeps. */
  current: Revision
  /** The revision with this hash, if it still exists. */
  byHash(hash: string): Revision | undefined
}

/** The update revision of a set, and the operation that stores it. `history` is sorted. */
export function reviseSet(set: CloneSet, history: readonly ControllerRevision[]): Pick<Revisions, 'step' | 'update'> {
  const step = reviseTo(set.metadata.name!, history, set.spec.template, set.status.collisionCount ?? 0)
  const name = step.kind === 'Create' ? step.name : step.revision.metadata.name!
  return { step, update: { name, hash: hashOfName(name), template: set.spec.template } }
}

/**
 * Determines the revisions of a set. `ofPods` are the hashes in the labels of its pods, used if the status does not
 * contain the current revision.
 */
export function revisionsOf(
  set: CloneSet,
  history: readonly ControllerRevision[],
  revised: Pick<Revisions, 'step' | 'update'>,
  ofPods: ReadonlyMap<string, unknown>,
): Revisions {
  const { step, update } = revised
  const hashIn = ({ metadata }: ControllerRevision): string => hashOfName(metadata.name!)
  // The pods may have been created without recording their revision. The newest revision of a pod is then current.
  const ofSomePod = (hash: string): boolean => hash !== update.hash && ofPods.has(hash)
  const isCurrent = ({ metadata }: ControllerRevision): boolean => metadata.name === set.status.currentRevision
  const stored = history.find(isCurrent) ?? history.findLast((r) => ofSomePod(hashIn(r)))
  const byHash = (hash: string): Revision | undefined => {
    if (hash === update.hash) return update
    const found = history.find((r) => hashIn(r) === hash)
    return found && restored(found)
  }
  return { step, update, current: stored ? restored(stored) : update, byHash }
}

const restored = (revision: ControllerRevision): Revision => {
  const name = revision.metadata.name!
  return { name, hash: hashOfName(name), template: templateOf(revision) }
}

/** The hash in a name: `5d8f7c9b` of `web-5d8f7c9b`. */
export const hashOfName = (name: string): string => name.slice(name.lastIndexOf('-') + 1)

const maxLabelLength = 63

/** The labels with a pod's revision. */
export const revisionLabels = ({ name, hash }: Pick<Revision, 'name' | 'hash'>): Record<string, string> => ({
  [revisionHashLabel]: name.length > maxLabelLength ? hash : name,
  [templateHashLabel]: hash,
})
