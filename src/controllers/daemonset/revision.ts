import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { holdsTemplate } from '../../api/kinds/controller-revision.ts'
import { type RevisionStep, revisionHashLabel, reviseTo } from '../kit/workload/index.ts'

/** The revision that a set's pods are to be of. */
export interface Revision {
  /** What makes it the newest of the set's history. */
  step: RevisionStep
  name: string
  /** What new pods say they are of. */
  hash: string
  /** Two revisions may hold the same: pods of either are up to date. */
  hashes: ReadonlySet<string>
  has(pod: Pod): boolean
}

/** What a pod, or a revision, says it is of. A revision that says nothing is known by its name. */
export const hashOfPod = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel]
export const hashOfRevision = ({ metadata }: ControllerRevision): string => metadata.labels?.[revisionHashLabel] ?? metadata.name!

/** Tells the revision of a set. `history` is in order. */
export function revisionOf(set: DaemonSet, history: readonly ControllerRevision[]): Revision {
  const { template } = set.spec
  const step = reviseTo(set.metadata.name!, history, template, set.status.collisionCount ?? 0)
  const [name, hash] = step.kind === 'Create' ? [step.name, step.hash] : [step.revision.metadata.name!, hashOfRevision(step.revision)]
  const hashes = new Set([hash, ...history.filter((r) => holdsTemplate(r, template)).map(hashOfRevision)])
  return { step, name, hash, hashes, has: (pod) => hashes.has(hashOfPod(pod) ?? '') }
}
