import type { CloneSet, ControllerRevision, PodTemplateSpec } from '../../api/generated/types.ts'
import { templateOf } from '../../api/kinds/controller-revision.ts'
import { type RevisionStep, revisionHashLabel, reviseTo } from '../kit/workload/index.ts'

export const templateHashLabel = 'pod-template-hash'

/** A revision as a plan needs it: it may not be stored yet. */
export interface Revision {
  name: string
  /** What tells it from others: the last part of its name. */
  hash: string
  template: PodTemplateSpec
}

export interface Revisions {
  step: RevisionStep
  /** What pods are to become. */
  update: Revision
  /** What all pods were before, and those that the partition keeps still are. */
  current: Revision
  /** The revision with this hash, if it is still there. */
  byHash(hash: string): Revision | undefined
}

/** The revision of a set's template, and what has to be done so that it is there. `history` is in order. */
export function reviseSet(set: CloneSet, history: readonly ControllerRevision[]): Pick<Revisions, 'step' | 'update'> {
  const step = reviseTo(set.metadata.name!, history, set.spec.template, set.status.collisionCount ?? 0)
  const name = step.kind === 'Create' ? step.name : step.revision.metadata.name!
  return { step, update: { name, hash: hashOfName(name), template: set.spec.template } }
}

/**
 * Tells the revisions of a set. `ofPods` are the hashes that its pods say: they count where the status does not know
 * what the pods were.
 */
export function revisionsOf(
  set: CloneSet, history: readonly ControllerRevision[], revised: Pick<Revisions, 'step' | 'update'>,
  ofPods: ReadonlyMap<string, unknown>,
): Revisions {
  const { step, update } = revised
  const hashIn = ({ metadata }: ControllerRevision): string => hashOfName(metadata.name!)
  // Who made the pods may not have got to write down what they are: then it is the newest revision that a pod is of.
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

/** `5d8f7c9b` of `web-5d8f7c9b`. */
export const hashOfName = (name: string): string => name.slice(name.lastIndexOf('-') + 1)

const maxLabelLength = 63

/** The labels by which a pod says of which revision it is. */
export const revisionLabels = ({ name, hash }: Pick<Revision, 'name' | 'hash'>): Record<string, string> => ({
  [revisionHashLabel]: name.length > maxLabelLength ? hash : name,
  [templateHashLabel]: hash,
})
