import type { CloneSet, ControllerRevision, PodTemplateSpec } from '../../api/generated/types.ts'
import { templateOf } from '../../api/kinds/workloads/controller-revision.ts'
import { type RevisionStep, reviseTo, revisionHashLabel } from '../kit/workload/index.ts'

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
  /** Revision to which pods are updated. */
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
