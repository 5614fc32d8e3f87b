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

/** Tells the revisions of a set. `history` is in order; `members` are asked where the status does not know what they were. */
export function revisionsOf(set: CloneSet, history: readonly ControllerRevision[], members: readonly { hash: string }[]): Revisions {
  const step = reviseTo(set.metadata.name!, history, set.spec.template, set.status.collisionCount ?? 0)
  const name = step.kind === 'Create' ? step.name : step.revision.metadata.name!
  const update: Revision = { name, hash: hashOfName(name), template: set.spec.template }
  const stored = history.find((r) => r.metadata.name === set.status.currentRevision) ?? newestOf(history, members, update.hash)
  const byHash = (hash: string): Revision | undefined => {
    if (hash === update.hash) return update
    const found = history.find((r) => hashOfName(r.metadata.name!) === hash)
    return found && restored(found)
  }
  return { step, update, current: stored ? restored(stored) : update, byHash }
}

/** The newest revision, other than the new one, that a pod is of: who made the pods did not get to write down what they are. */
function newestOf(history: readonly ControllerRevision[], members: readonly { hash: string }[], updateHash: string): ControllerRevision | undefined {
  const hashes = new Set(members.map(({ hash }) => hash))
  hashes.delete(updateHash)
  return hashes.size === 0 ? undefined : history.findLast((r) => hashes.has(hashOfName(r.metadata.name!)))
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
