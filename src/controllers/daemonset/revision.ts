import type { ControllerRevision, DaemonSet, Pod } from '../../api/generated/types.ts'
import { holdsTemplate } from '../../api/kinds/workloads/controller-revision.ts'
import { type RevisionStep, reviseTo, revisionHashLabel } from '../kit/workload/index.ts'

/** The revision that the pods of a set are updated to. */
export interface Revision {
  /** The operation that makes it the newest in the history. */
  step: RevisionStep
  name: string
  /** The hash in the label of new pods. */
  hash: string
  /** Two revisions may have the same content. Pods of either are up to date. */
  hashes: ReadonlySet<string>
  has(pod: Pod): boolean
}

/** The revision hash of a pod or a revision. A revision without the label is identified by its name. */
export const hashOfPod = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel]
export const hashOfRevision = ({ metadata }: ControllerRevision): string =>
  metadata.labels?.[revisionHashLabel] ?? metadata.name!

/** Determines the update revision of a set. `history` is sorted. */
export function revisionOf(set: DaemonSet, history: readonly ControllerRevision[]): Revision {
  const { template } = set.spec
  const step = reviseTo(set.metadata.name!, history, template, set.status.collisionCount ?? 0)
  const [name, hash] =
    step.kind === 'Create' ? [step.name, step.hash] : [step.revision.metadata.name!, hashOfRevision(step.revision)]
  const hashes = new Set([hash, ...history.filter((r) => holdsTemplate(r, template)).map(hashOfRevision)])
  return { step, name, hash, hashes, has: (pod) => hashes.has(hashOfPod(pod) ?? '') }
}
