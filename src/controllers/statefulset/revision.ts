import type { ControllerRevision, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import { templateOf } from '../../api/kinds/controller-revision.ts'
import { type RevisionStep, reviseTo } from '../kit/workload/index.ts'

/** A revision as a plan needs it: it may not be stored yet. */
export interface Revision {
  name: string
  template: PodTemplateSpec
}

export interface Revisions {
  step: RevisionStep
  /** What all replicas are to become. */
  update: Revision
  /** What they were before, and those below the partition still are. */
  current: Revision
}

/** Tells the two revisions of a set. `history` is in order. */
export function revisionsOf(set: StatefulSet, history: readonly ControllerRevision[]): Revisions {
  const step = reviseTo(set.metadata.name!, history, set.spec.template, set.status.collisionCount ?? 0)
  const update = { name: step.kind === 'Create' ? step.name : step.revision.metadata.name!, template: set.spec.template }
  const stored = history.find((r) => r.metadata.name === set.status.currentRevision)
  return { step, update, current: stored ? { name: stored.metadata.name!, template: templateOf(stored) } : update }
}
