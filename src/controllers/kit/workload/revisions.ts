import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import { type Int64, addInt64, compareInt64 } from '../../../api/int64.ts'
import { holdsTemplate, templatePatch } from '../../../api/kinds/controller-revision.ts'
import { hashOf } from './hash.ts'

/** The label that says which revision a pod, or a DaemonSet's ControllerRevision, is of. */
export const revisionHashLabel = 'controller-revision-hash'
/** The label with the hash of what it holds that ControllerRevisions of StatefulSets and CloneSets have. */
export const contentHashLabel = 'controller.kubernetes.io/hash'

/** Revisions from the oldest to the newest. Of two with the same number the older object, then the lesser name, comes first. */
export function inHistory<R extends Pick<ControllerRevision, 'metadata' | 'revision'>>(revisions: readonly R[]): R[] {
  const createdAt = (r: R) => r.metadata.creationTimestamp ?? ''
  return revisions.toSorted((a, b) => compareInt64(a.revision, b.revision) || compare(createdAt(a), createdAt(b)) || compare(a.metadata.name ?? '', b.metadata.name ?? ''))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export { RevisionTakenError } from '../errors.ts'

/** What has to happen so that the present state of a workload has a revision, which is the newest one. */
export type RevisionStep =
  | { kind: 'Keep'; revision: ControllerRevision }
  /** The workload has gone back to an earlier state: that revision becomes the newest. */
  | { kind: 'Renumber'; revision: ControllerRevision; to: Int64 }
  | { kind: 'Create'; name: string; data: unknown; hash: string; number: Int64 }

/**
 * Decides which revision a template is. Revisions are told apart by what they hold, not by names. `history` is in
 * order.
 */
export function reviseTo(
  ownerName: string,
  history: readonly ControllerRevision[],
  template: PodTemplateSpec,
  collisionCount: number,
): RevisionStep {
  const newest = history.at(-1)
  const next = addInt64(newest?.revision ?? 0, 1)
  const same = history.findLast((r) => holdsTemplate(r, template))
  if (same) return same === newest ? { kind: 'Keep', revision: same } : { kind: 'Renumber', revision: same, to: next }
  const data = templatePatch(template)
  const hash = hashOf(data, collisionCount)
  return { kind: 'Create', name: revisionName(ownerName, hash), data, hash, number: next }
}

/** `web-5d8f7c9b`, cut so that it is a name. */
export const revisionName = (ownerName: string, hash: string): string => `${ownerName.slice(0, 223)}-${hash}`

/** The revisions that may go: those beyond the limit, oldest first, that are not in use. A negative limit keeps all. `history` is in order. */
export function surplusRevisions<R extends Pick<ControllerRevision, 'metadata'>>(history: readonly R[], inUse: ReadonlySet<string>, limit: number): R[] {
  if (limit < 0) return []
  const unused = history.filter((r) => !inUse.has(r.metadata.name ?? ''))
  return unused.slice(0, Math.max(0, unused.length - limit))
}
